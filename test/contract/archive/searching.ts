import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { readQuestion } from '../../../src/core/search/question.ts';
import type { BatchQuery, FoundMessage, SearchFilter } from '../../../src/ports/archive-lookup.ts';
import { indexAll } from '../../support/indexing.ts';
import { oddTexts } from '../../support/messages.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import {
  batchDraft,
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  rejectedFailure,
  sha256,
  utf8,
} from '../../adapters/archive/drafts.ts';
import { type Engine, applied, stored } from './engine.ts';
import { spaceOutQuery } from '../../../src/core/search/words.ts';

const ANY: SearchFilter = { conversationId: null, role: null, since: null, until: null, source: null };

function batchQuery(text: string, changes: Partial<BatchQuery> = {}): BatchQuery {
  return { terms: text.split(' '), filter: ANY, order: 'best', limit: 10, ...changes };
}

type Asked = { readonly filter?: Partial<SearchFilter>; readonly limit?: number };

async function newest(
  archive: Archive,
  text: string,
  { filter, limit = 10 }: Asked = {},
): Promise<readonly FoundMessage[]> {
  await indexAll(archive);
  return await archive.messages.listNewest(readQuestion(text, []).words, { filter: { ...ANY, ...filter }, limit });
}

/** Numbers of the lines that have the only word of a text and can be found. */
async function hits(archive: Archive, text: string, filter: Partial<SearchFilter> = {}): Promise<readonly number[]> {
  const [word] = readQuestion(text, []).words;
  assert.ok(word !== undefined);
  const asked = { ...ANY, ...filter };
  await indexAll(archive);
  const [ids = []] = await archive.messages.listHits([word], asked);
  const found = await archive.messages.loadCandidates(ids, asked);
  return found.map(({ lineId }) => lineId);
}

/** Says each text, one a line, in one conversation. */
async function said(archive: Archive, texts: readonly string[], conversationId = 'harbor'): Promise<number> {
  return applied(
    archive,
    compactionDraft(texts.length, {
      cycles: [cycleDraft({ conversationId, newBatches: [batchDraft({ content: 'x' })] })],
    }),
    texts.map((text, at) =>
      lineDraft(at + 1, {
        bytes: utf8(`${text}\n`),
        message: messageDraft({ id: `${conversationId}-${at + 1}`, index: at + 1, text }),
      }),
    ),
  );
}

async function idsOf(archive: Archive, text: string, asked: Asked = {}): Promise<readonly string[]> {
  return (await newest(archive, text, asked)).map(({ message }) => message.id);
}

export function searchContract(engine: Engine): void {
  test('a message is found with all that is known of it', async (t) => {
    const archive = await engine.open(t);
    const at = new Date('2026-03-01T08:00:00.123Z');
    const message = messageDraft({ id: 'x\ud800', role: 'tool', name: 'grep', at, index: 7, text: 'hull' });
    await applied(archive, compactionDraft(1), [lineDraft(1, { bytes: utf8('hull\n'), message })]);
    const [found] = await newest(archive, 'hull');
    assert.deepEqual(found, {
      compactionId: 1,
      format: 'chat',
      sourcePath: '/logs/harbor.jsonl',
      archivedAt: new Date('2026-03-02T12:00:00.000Z'),
      lineId: 1,
      line: 1,
      sizeBytes: 5,
      sha256: sha256('hull\n').slice(0, 32),
      outcome: 'summarized',
      conversationId: 'harbor',
      batchLabel: 'compaction-batch-harbor-2026-03-01T09:30:00.000Z',
      message: { id: 'x\ud800', role: 'tool', name: 'grep', at, index: 7 },
    });
  });

  test('only what was applied is found', async (t) => {
    const archive = await engine.open(t);
    await stored(archive, compactionDraft(1), [lineDraft(1, { message: messageDraft({ text: 'hull' }) })]);
    const found = async (): Promise<readonly number[]> => [
      (await hits(archive, 'hull')).length,
      (await newest(archive, 'hull')).length,
      (await archive.searchBatches(batchQuery('boat'))).length,
    ];
    assert.deepEqual(await found(), [0, 0, 0]);
    await archive.markApplied(1);
    assert.deepEqual(await found(), [1, 1, 1]);
  });

  test('a line that was archived twice for one conversation is one hit, and for two it is two', async (t) => {
    const archive = await engine.open(t);
    await said(archive, ['the hull']);
    await said(archive, ['the hull']);
    assert.deepEqual(await idsOf(archive, 'hull'), ['harbor-1']);
    await said(archive, ['the hull'], 'river');
    assert.deepEqual(await idsOf(archive, 'hull'), ['river-1', 'harbor-1']);
  });

  test('repeated lines do not use up the limit', async (t) => {
    const archive = await engine.open(t);
    for (let copy = 0; copy < 5; copy += 1) await said(archive, ['hull']);
    await said(archive, ['a hull with a mast']);
    assert.equal((await idsOf(archive, 'hull', { limit: 2 })).length, 2);
  });

  test('what was archived last comes first', async (t) => {
    const archive = await engine.open(t);
    await said(archive, ['hull hull', 'hull', 'mast']);
    await said(archive, ['some other hull'], 'river');
    assert.deepEqual(await idsOf(archive, 'hull'), ['river-1', 'harbor-2', 'harbor-1']);
  });

  test('messages with a word are told in order, whatever its form', async (t) => {
    const archive = await engine.open(t);
    await said(archive, ['they wrote it down', 'a mast', 'writing goes on', 'who writes?', 'it was written']);
    assert.deepEqual(await hits(archive, 'write'), [1, 3, 4, 5]);
    const [word] = readQuestion('written', []).words;
    const [mast] = readQuestion('mast', []).words;
    assert.ok(word !== undefined && mast !== undefined);
    const { messages } = archive;
    assert.deepEqual(
      [
        await messages.countHits([word, mast], 10),
        await messages.countHits([mast, word], 2),
        await messages.listHits([mast, word], ANY),
        await messages.listHitsAmong(word, [2, 3, 5]),
      ],
      [
        [4, 1],
        [1, 2],
        [[2], [1, 3, 4, 5]],
        [3, 5],
      ],
    );
  });

  test('a candidate comes with its neighbors of the same conversation, whatever lines stand in between', async (t) => {
    const archive = await engine.open(t);
    const say = (line: number, text: string, cycle: number): ReturnType<typeof lineDraft> =>
      lineDraft(line, { cycle, message: messageDraft({ id: `m${line}`, text }) });
    const cycles = ['harbor', 'river'].map((conversationId) => cycleDraft({ conversationId }));
    await applied(archive, compactionDraft(6, { cycles }), [
      say(1, 'one?', 0),
      say(2, 'not ours', 1),
      say(3, 'two', 0),
      lineDraft(4),
      say(5, 'yesterday: three', 0),
      say(6, 'four', 0),
    ]);
    const [candidate] = await archive.messages.loadCandidates([5], ANY);
    assert.deepEqual(
      candidate?.near.map(({ lineId, steps, traits }) => [lineId, steps, traits.isQuestion]),
      [
        [3, -1, false],
        [1, -2, true],
        [6, 1, false],
      ],
    );
    assert.deepEqual(candidate?.traits, { isQuestion: false, mentionsTime: true });
  });

  test('everybody who spoke is listed once, and no tool', async (t) => {
    const archive = await engine.open(t);
    const names = ['ada', 'x\ud800', null, 'ada'];
    const lines = names.map((name, at) => lineDraft(at + 1, { message: messageDraft({ name }) }));
    const tool = lineDraft(5, { message: messageDraft({ name: 'grep', role: 'tool' }) });
    await applied(archive, compactionDraft(5), [...lines, tool]);
    assert.deepEqual((await archive.messages.listSpeakers()).toSorted(), ['ada', 'x\ud800']);
  });

  for (const [filter, found] of [
    [{ role: 'tool' }, [2]],
    [{ since: new Date('2026-03-02T00:00:00Z') }, [2, 3]],
    [{ until: new Date('2026-03-02T00:00:00Z') }, [1]],
    [{ source: '/logs/harbor.jsonl' }, [1, 2, 3, 4]],
    [{ source: 'harbor.jsonl' }, [1, 2, 3, 4]],
    [{ source: 'bor.jsonl' }, []],
    [{ conversationId: 'harbor', role: 'user' }, [1, 3, 4]],
    [{ conversationId: 'river' }, [5]],
  ] as const satisfies readonly (readonly [Partial<SearchFilter>, readonly number[]])[]) {
    test(`a search can be held to ${JSON.stringify(filter)}`, async (t) => {
      const archive = await engine.open(t);
      const days = ['2026-03-01', '2026-03-02', '2026-03-03', null];
      const lines = days.map((day, at) => {
        const time = day === null ? null : new Date(`${day}T00:00:00Z`);
        const message = messageDraft({ role: at === 1 ? 'tool' : 'user', at: time, text: 'hull' });
        return lineDraft(at + 1, { message });
      });
      await applied(archive, compactionDraft(4), lines);
      const other = compactionDraft(1, {
        cycles: [cycleDraft({ conversationId: 'river' })],
        sourcePath: '/logs/river.jsonl',
      });
      await applied(archive, other, [
        lineDraft(1, { message: messageDraft({ at: null, text: 'hull', role: 'assistant' }) }),
      ]);
      assert.deepEqual(await hits(archive, 'hull', filter), found);
      const ids = (await newest(archive, 'hull', { filter })).map(({ lineId }) => lineId);
      assert.deepEqual(ids.toReversed(), found);
    });
  }

  test('messages are listed by their time', async (t) => {
    const archive = await engine.open(t);
    await said(archive, ['one', 'two', 'three']); // at 08:00
    const list = (since: string, until: string, limit = 9): Promise<readonly number[]> =>
      archive.messages.listFrom({ since: new Date(since), until: new Date(until) }, limit);
    assert.deepEqual(new Set(await list('2026-03-01', '2026-03-02')), new Set([1, 2, 3]));
    assert.equal((await list('2026-03-01', '2026-03-02', 2)).length, 2);
    assert.deepEqual([await list('2026-03-02', '2026-03-03'), await list('2026-02-02', '2026-03-01')], [[], []]);
  });

  test('batches can be held to a time and a source', async (t) => {
    const archive = await engine.open(t);
    await said(archive, ['hull']); // a batch from 08:00 to 09:30
    const count = async (filter: Partial<SearchFilter>): Promise<number> =>
      (await archive.searchBatches(batchQuery('x', { filter: { ...ANY, ...filter } }))).length;
    const at = (clock: string): Date => new Date(`2026-03-01T${clock}Z`);
    assert.deepEqual(
      [
        await count({ since: at('09:00') }),
        await count({ since: at('09:31') }),
        await count({ until: at('08:01') }),
        await count({ until: at('08:00') }),
      ],
      [1, 0, 1, 0],
    );
    assert.deepEqual([await count({ source: 'logs/harbor.jsonl' }), await count({ source: 'river.jsonl' })], [1, 0]);
  });

  test('a word in a script without spaces is found, and a character of it', async (t) => {
    const archive = await engine.open(t);
    await said(archive, ['東京都に行きました', '京都の猫', 'ไปตลาดกับแม่', '학교에서 만나요']);
    const found = async (text: string): Promise<readonly string[]> => idsOf(archive, text);
    assert.deepEqual(await Promise.all(['京都', '東京', '猫', '行き', 'ตลาด', '학교'].map(found)), [
      ['harbor-2', 'harbor-1'],
      ['harbor-1'],
      ['harbor-2'],
      ['harbor-1'],
      ['harbor-3'],
      ['harbor-4'],
    ]);
    const about = batchDraft({ content: '東京都の船' });
    await applied(archive, compactionDraft(1, { cycles: [cycleDraft({ newBatches: [about] })] }), [lineDraft(1)]);
    assert.deepEqual(
      (await archive.searchBatches(batchQuery(spaceOutQuery('東京').trim()))).map(({ content }) => content),
      ['東京都の船'],
    );
  });

  test('batches that a later cycle merged are replaced by what they were merged into', async (t) => {
    const archive = await engine.open(t);
    const newBatches = [batchDraft({ content: 'the keel held' }), batchDraft({ content: 'the mast broke' })];
    await applied(
      archive,
      compactionDraft(1, {
        cycles: [
          cycleDraft({
            newBatches,
            live: [
              { kind: 'new', position: 0 },
              { kind: 'new', position: 1 },
            ],
          }),
        ],
      }),
      [lineDraft(1)],
    );
    const merged = batchDraft({
      content: 'keel and mast',
      depth: 1,
      sources: [
        { kind: 'stored', id: 1 },
        { kind: 'stored', id: 2 },
      ],
    });
    const second = cycleDraft({
      cycle: 2,
      parentCycleId: 1,
      clipSha256: sha256('second'),
      newBatches: [merged],
      live: [{ kind: 'new', position: 0 }],
    });
    const id = await stored(archive, compactionDraft(1, { cycles: [second] }), [lineDraft(1)]);
    const found = async (): Promise<readonly string[]> =>
      (await archive.searchBatches(batchQuery('keel mast'))).map(({ content }) => content).toSorted();
    assert.deepEqual(await found(), ['the keel held', 'the mast broke']);
    await archive.markApplied(id);
    assert.deepEqual(await found(), ['keel and mast']);
  });

  test('a fork that still shows a merged batch keeps it to be found, in its own conversation too', async (t) => {
    const archive = await engine.open(t);
    await applied(
      archive,
      compactionDraft(1, { cycles: [cycleDraft({ newBatches: [batchDraft({ content: 'the keel held' })] })] }),
      [lineDraft(1)],
    );
    const merged = batchDraft({ content: 'all of it', depth: 1, sources: [{ kind: 'stored', id: 1 }] });
    const next = (changes: object): ReturnType<typeof cycleDraft> =>
      cycleDraft({ cycle: 2, parentCycleId: 1, ...changes });
    const main = next({ clipSha256: sha256('main'), newBatches: [merged] });
    const fork = next({
      clipSha256: sha256('fork'),
      conversationId: 'fork',
      newBatches: [],
      live: [{ kind: 'stored', id: 1 }],
    });
    await applied(archive, compactionDraft(1, { cycles: [main] }), [lineDraft(1)]);
    assert.deepEqual(
      (await archive.searchBatches(batchQuery('keel'))).map(({ isLive }) => isLive),
      [false],
    );
    await applied(archive, compactionDraft(1, { cycles: [fork] }), [lineDraft(1, { batch: null, outcome: 'other' })]);
    for (const conversationId of [null, 'harbor', 'fork']) {
      const found = await archive.searchBatches(batchQuery('keel', { filter: { ...ANY, conversationId } }));
      assert.deepEqual(
        found.map(({ content, isLive }) => [content, isLive]),
        [['the keel held', true]],
      );
    }
  });

  test('a line that a clip-archive kept word for word bears the label of the batch that took it up later', async (t) => {
    const archive = await engine.open(t);
    const message = messageDraft({ text: 'hull' });
    await applied(archive, compactionDraft(1), [lineDraft(1, { outcome: 'quoted', batch: null, message })]);
    assert.equal((await newest(archive, 'hull'))[0]?.batchLabel, null);
    const later = batchDraft({ endTime: new Date('2026-03-05T00:00:00.000Z') });
    const cycles = [cycleDraft({ cycle: 2, parentCycleId: 1, clipSha256: sha256('second'), newBatches: [later] })];
    await applied(archive, compactionDraft(0, { cycles, carried: [{ lineId: 1, cycle: 0, batch: 0 }] }), []);
    assert.equal((await newest(archive, 'hull'))[0]?.batchLabel, 'compaction-batch-harbor-2026-03-05T00:00:00.000Z');
  });

  test('what another process has stored meanwhile is found', async (t) => {
    const archive = await engine.open(t);
    assert.deepEqual(await idsOf(archive, 'hull'), []);
    const other = await engine.openAgain(t, archive);
    await said(other, ['hull']);
    await other.close();
    assert.deepEqual(await idsOf(archive, 'hull'), ['harbor-1']);
  });

  test('any terms at all are legal', async (t) => {
    const archive = await engine.open(t);
    await said(archive, ['hull "mast" NEAR keel\0']);
    const odd = fc.oneof(
      oddTexts,
      fc.constantFrom('"', '""', 'NEAR(a b)', 'a AND', '*', '^x', 'text:x', '\0', '\ud800', '\u0301', '𞤀'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(odd, { minLength: 1, maxLength: 5 }), async (terms) => {
        const sought = { forms: terms, isBeginning: terms.length === 1 };
        await archive.messages.listHits([sought], { ...ANY, source: terms[0] ?? null });
        await archive.messages.countHits([sought], 3);
        await archive.messages.listHitsAmong(sought, [1]);
        await archive.messages.listNewest([sought], { filter: ANY, limit: 3 });
        await archive.searchBatches(
          batchQuery('', { terms, order: 'newest', filter: { ...ANY, conversationId: terms[0] ?? '' } }),
        );
      }),
      { numRuns: 3 * engine.propertyRuns },
    );
    assert.deepEqual(await idsOf(archive, '"mast" NEAR ('), ['harbor-1']);
    assert.deepEqual([await idsOf(archive, ''), await archive.searchBatches(batchQuery('', { terms: [] }))], [[], []]);
  });

  test('an index that leads to a line that is no message is damage', async (t) => {
    const archive = await engine.open(t);
    await said(archive, ['hull']);
    await indexAll(archive);
    await engine.execute(archive, 'UPDATE lines SET role = NULL');
    assert.equal((await rejectedFailure(() => idsOf(archive, 'hull'))).kind, 'damaged');
  });
}
