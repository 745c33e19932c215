import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageIdColumn } from '../../../src/adapters/archive/rows.ts';
import type { BatchName, LineName } from '../../../src/ports/archive-lookup.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import {
  batchDraft,
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  sha256,
  utf8,
} from '../../adapters/archive/drafts.ts';
import { type Engine, applied, problemsOf, stored } from './engine.ts';

/** A compaction of one line and one batch that ends on a day of March 2026. */
async function compacted(archive: Archive, day: number, conversationId = 'harbor'): Promise<number> {
  const endTime = new Date(Date.UTC(2026, 2, day));
  const cycles = [cycleDraft({ conversationId, newBatches: [batchDraft({ endTime })] })];
  const message = messageDraft({ id: `said-${day}` });
  return applied(archive, compactionDraft(1, { cycles }), [lineDraft(1, { bytes: utf8(`${day}\n`), message })]);
}

const label = (day: string, conversationId = 'harbor'): string =>
  `compaction-batch-${conversationId}-2026-03-${day}T00:00:00.000Z`;

async function labels(archive: Archive, name: BatchName): Promise<readonly string[]> {
  return (await archive.findBatches(name, 10)).map((batch) => batch.label);
}

async function lineIds(archive: Archive, name: LineName): Promise<readonly number[]> {
  return (await archive.findLines(name, 10)).map(({ lineId }) => lineId);
}

/** Names in forms that an engine stores in its own way. */
export function formContract(engine: Engine): void {
  test('ids and labels in any form come back as they were, and no two are taken for one', async (t) => {
    const archive = await engine.open(t);
    const uuid = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';
    const stored = messageIdColumn(uuid);
    const forms = [
      uuid,
      uuid.toUpperCase(),
      `{${uuid}}`,
      `${uuid}\n`,
      uuid.replaceAll('-', ''),
      stored,
      stored.slice(1),
    ];
    const ids = [
      ...forms,
      `\u0002${stored}`,
      '\u0002',
      '',
      'a',
      'a\0b',
      'a\0c',
      '\0',
      '\ud800\0',
      '\u00100000',
      'line:1 ',
    ];
    const lines = ids.map((id, at) => lineDraft(at + 1, { message: messageDraft({ id }) }));
    await applied(archive, compactionDraft(ids.length), lines);
    const found = await Promise.all(ids.map((messageId) => archive.findLines({ kind: 'message', messageId }, 9)));
    assert.deepEqual(
      found.map((all) => all.map(({ line, message }) => [line, message?.id])),
      ids.map((id, at) => [[at + 1, id]]),
    );
    const conversations = ['', '=', '-', 'a', 'a-a', 'a\0b', 'a\0c', '\ud800\0b', '\ud800\0c', '%', '\u00100000', uuid];
    for (const id of conversations) await compacted(archive, 1, id);
    for (const id of conversations) await compacted(archive, 1, id);
    const typed = conversations.map((id) => label('01', id.toWellFormed().replaceAll('\0', '\ufffd')));
    const twins = typed.slice(5, 7).flatMap((name) => [name, `${name}-2`]);
    assert.deepEqual(await labels(archive, { kind: 'prefix', prefix: 'compaction-batch-a\ufffd' }), twins);
    for (const [at, id] of conversations.entries())
      for (const end of ['', '-2']) {
        const named = await archive.findBatches({ kind: 'label', label: `${typed[at]}${end}` }, 9);
        assert.deepEqual(
          named.map((batch) => [batch.label, batch.conversationId]),
          [[`${typed[at]}${end}`, id]],
        );
      }
    assert.deepEqual(
      (await problemsOf(archive)).filter((problem) => problem.startsWith('the labels')),
      [],
    );
  });
}

export function nameContract(engine: Engine): void {
  test('a batch is found by its label, by its number and by the beginning of its label', async (t) => {
    const archive = await engine.open(t);
    for (const day of [1, 2, 12]) await compacted(archive, day);
    assert.deepEqual(await labels(archive, { kind: 'label', label: label('02') }), [label('02')]);
    assert.deepEqual(await labels(archive, { kind: 'label', label: label('0') }), []);
    assert.deepEqual(await labels(archive, { kind: 'id', id: 3 }), [label('12')]);
    assert.deepEqual(await labels(archive, { kind: 'prefix', prefix: 'compaction-batch-harbor-2026-03-0' }), [
      label('01'),
      label('02'),
    ]);
    assert.equal((await archive.findBatches({ kind: 'prefix', prefix: '' }, 2)).length, 2);
  });

  test('what is only prepared has no name yet', async (t) => {
    const archive = await engine.open(t);
    await stored(archive, compactionDraft(1), [lineDraft(1, { message: messageDraft() })]);
    assert.deepEqual(
      [
        await archive.findBatches({ kind: 'prefix', prefix: '' }, 9),
        await archive.findLines({ kind: 'message', messageId: 'm1' }, 9),
        await archive.findLines({ kind: 'id', id: 1 }, 9),
        await archive.nearLabels('compaction', 9),
        await archive.listCompactions(),
      ],
      [[], [], [], [], []],
    );
  });

  test('a message is found by its number, by its own id, and where it has none by its line', async (t) => {
    const archive = await engine.open(t);
    await applied(archive, compactionDraft(3), [
      lineDraft(1, { message: messageDraft({ id: 'x\ud800' }) }),
      lineDraft(2, { message: messageDraft({ id: 'line:2' }) }),
      lineDraft(3),
    ]);
    assert.deepEqual(await lineIds(archive, { kind: 'id', id: 2 }), [2]);
    assert.deepEqual(await lineIds(archive, { kind: 'message', messageId: 'x\ud800' }), [1]);
    assert.deepEqual(await lineIds(archive, { kind: 'message', messageId: 'line:2' }), [2]);
    assert.deepEqual(await lineIds(archive, { kind: 'message', messageId: 'line:3' }), []);
  });

  test('the same line archived again is no second message of that id', async (t) => {
    const archive = await engine.open(t);
    await compacted(archive, 1);
    await compacted(archive, 1);
    await compacted(archive, 1, 'river');
    assert.deepEqual(await lineIds(archive, { kind: 'message', messageId: 'said-1' }), [1, 3]);
  });

  test('the labels nearest to a text are those that begin most like it', async (t) => {
    const archive = await engine.open(t);
    for (const day of [1, 11, 12, 21]) await compacted(archive, day);
    await compacted(archive, 1, 'zoo');
    assert.deepEqual((await archive.nearLabels('compaction-batch-harbor-2026-03-1', 2)).toSorted(), [
      label('11'),
      label('12'),
    ]);
    assert.equal((await archive.nearLabels('', 3)).length, 3);
  });

  test('a merged batch tells what it was made from, and each of those what replaced it', async (t) => {
    const archive = await engine.open(t);
    await compacted(archive, 1);
    await compacted(archive, 2);
    const endTime = new Date('2026-03-09T00:00:00.000Z');
    const merged = batchDraft({ depth: 1, endTime, sources: [1, 2].map((id) => ({ kind: 'stored', id }) as const) });
    await applied(archive, compactionDraft(1, { cycles: [cycleDraft({ parentCycleId: 2, newBatches: [merged] })] }), [
      lineDraft(1),
    ]);
    assert.deepEqual(
      (await archive.loadSources(3)).map((batch) => [batch.label, batch.isLive]),
      [
        [label('01'), true],
        [label('02'), false],
      ],
    );
    assert.deepEqual(
      (await archive.loadReplacements(2)).map((batch) => batch.label),
      [label('09')],
    );
    assert.deepEqual([await archive.loadSources(1), await archive.loadReplacements(3)], [[], []]);
  });

  test('compactions are listed newest first, with what they archived', async (t) => {
    const archive = await engine.open(t);
    await compacted(archive, 1);
    const kept = [{ firstLine: 2, lineCount: 1, sizeBytes: 9, lineSha256: [sha256('k').slice(0, 32)] }];
    const cycles = [cycleDraft({ conversationId: 'a', cycle: 3 }), cycleDraft({ conversationId: 'b' })];
    await applied(archive, compactionDraft(2, { cycles, kept, outputPath: null, sourcePath: '/x\ud800' }), [
      lineDraft(1),
    ]);
    const [newest, oldest] = await archive.listCompactions();
    assert.deepEqual(newest, {
      compactionId: 2,
      format: 'chat',
      sourcePath: '/x\ud800',
      archivedAt: new Date('2026-03-02T12:00:00.000Z'),
      outputPath: null,
      sourceSha256: sha256('source'),
      settingsSha256: sha256('{}'),
      sizeBytes: { before: 100, after: 50 },
      title: null,
      lines: { archived: 1, total: 2 },
      conversations: [
        { id: 'a', cycle: 3 },
        { id: 'b', cycle: 1 },
      ],
    });
    assert.equal(oldest?.compactionId, 1);
  });

  test('figures count what is applied, and what is only prepared apart', async (t) => {
    const archive = await engine.open(t);
    const captured = { files: 0, bytes: { original: 0, compressed: 0 } };
    const {
      bytes: { file: _empty, ...none },
      index: { bytes: _none, unindexed },
      ...before
    } = await archive.measure();
    const nothing = { compactions: 0, prepared: 0, conversations: 0, batches: 0, lines: 0, messages: 0 };
    assert.deepEqual(before, { ...nothing, captured, oldest: null, newest: null, formats: [] });
    assert.deepEqual(
      [none, unindexed],
      [
        { original: 0, compressed: 0 },
        { messages: 0, bytes: 0 },
      ],
    );
    await applied(archive, compactionDraft(2), [
      lineDraft(1, { bytes: utf8('1234567\n'), message: messageDraft() }),
      lineDraft(2, { bytes: utf8('ab') }),
    ]);
    await applied(archive, compactionDraft(1, { format: 'other', createdAt: new Date('2026-03-03T12:00:00.000Z') }), [
      lineDraft(1, { bytes: utf8('abc\n') }),
    ]);
    await stored(archive, compactionDraft(1), [lineDraft(1)]);
    const { bytes, index, ...figures } = await archive.measure();
    assert.ok(index.bytes > 0); // summaries are indexed at once
    assert.deepEqual(index.unindexed, { messages: 1, bytes: 8 });
    assert.ok(bytes.file > bytes.compressed && bytes.compressed > 0);
    assert.equal(bytes.original, 14);
    assert.deepEqual(figures, {
      compactions: 2,
      conversations: 1,
      batches: 2,
      lines: 3,
      messages: 1,
      oldest: new Date('2026-03-02T12:00:00.000Z'),
      newest: new Date('2026-03-03T12:00:00.000Z'),
      captured,
      prepared: 1,
      formats: [
        { format: 'chat', compactions: 1, lines: 2, bytes: 10 },
        { format: 'other', compactions: 1, lines: 1, bytes: 4 },
      ],
    });
  });
}
