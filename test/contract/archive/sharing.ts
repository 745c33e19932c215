import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CachedSummary, Archive } from '../../../src/ports/archive.ts';
import { collect } from '../../support/collect.ts';
import {
  batchDraft,
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  sha256,
} from '../../adapters/archive/drafts.ts';
import { applied, type Engine, linesOf, stored } from './engine.ts';

const SUMMARY: CachedSummary = {
  provider: 'anthropic',
  model: 'm\ud800',
  text: 'a summary\0',
  usage: { input_tokens: 10, cached_input_tokens: 3, output_tokens: 5 },
  createdAt: new Date('2026-03-02T12:00:00.000Z'),
};

export function shareContract(engine: Engine): void {
  test('a summary that was paid for is given back as it was, the latest if it was paid for again', async (t) => {
    const { summaries } = await engine.open(t);
    assert.equal(await summaries.find(sha256('request')), null);
    await summaries.keep(sha256('request'), { ...SUMMARY, text: 'another' });
    await summaries.keep(sha256('request'), SUMMARY);
    assert.deepEqual(await summaries.find(sha256('request')), SUMMARY);
    const others = ['request', 'other'].map((text) => ({ request: sha256(text), summary: { ...SUMMARY, text } }));
    await summaries.keepAll([...others, ...others]);
    assert.deepEqual(await summaries.find(sha256('request')), { ...SUMMARY, text: 'request' });
    assert.equal((await summaries.find(sha256('other')))?.text, 'other');
    const usage = { input_tokens: 1, output_tokens: 2 };
    for (const given of [usage, { ...usage, cached_input_tokens: undefined }]) {
      await summaries.keep(sha256('request'), { ...SUMMARY, usage: given });
      const found = await summaries.find(sha256('request'));
      assert.deepEqual(found?.usage, { ...usage, cached_input_tokens: 0 });
    }
  });

  test('an abandoned compaction leaves nothing, and its writer is over', async (t) => {
    const archive = await engine.open(t);
    const writer = await archive.begin({ batchCounts: [1] });
    await writer.append([lineDraft(1, { message: messageDraft({ text: 'hull' }) })]);
    await writer.abandon();
    await writer.abandon();
    await assert.rejects(writer.commit(compactionDraft(1)));
    assert.deepEqual(await archive.listPrepared(), []);
    assert.deepEqual(await archive.messages.countHits([{ forms: ['hull'], isBeginning: false }], 9), [0]);
    await stored(archive, compactionDraft(1), [lineDraft(1)]);
  });

  test('a compaction that lacks a line of its source is refused, and nothing of it is stored', async (t) => {
    const archive = await engine.open(t);
    await assert.rejects(stored(archive, compactionDraft(3), [lineDraft(1), lineDraft(3)]), {
      message: 'source line 2 expected, but line 3 is archived next',
    });
    assert.deepEqual([await archive.listPrepared(), await linesOf(archive, 1)], [[], []]);
  });

  test('labels that would collide are numbered, within a compaction and across them', async (t) => {
    const archive = await engine.open(t);
    const cycles = [cycleDraft({ newBatches: [batchDraft(), batchDraft()] })];
    for (let times = 0; times < 2; times += 1) await applied(archive, compactionDraft(1, { cycles }), [lineDraft(1)]);
    const stem = 'compaction-batch-harbor-2026-03-01T09:30:00.000Z';
    const batches = await archive.findBatches({ kind: 'prefix', prefix: stem }, 9);
    assert.deepEqual(
      batches.map(({ label }) => label),
      [stem, `${stem}-2`, `${stem}-3`, `${stem}-4`],
    );
  });

  test('what is stored makes the archive larger', async (t) => {
    const archive = await engine.open(t);
    const before = await archive.usedBytes();
    const text = (at: number): string => sha256(String(at)).repeat(50);
    const lines = Array.from({ length: 400 }, (_, at) =>
      lineDraft(at + 1, { bytes: Buffer.from(text(at)), message: messageDraft({ text: text(at) }) }),
    );
    await stored(archive, compactionDraft(400), lines);
    assert.ok((await archive.usedBytes()) > before);
  });

  test('two programs store at the same time, and each compaction is whole', async (t) => {
    const archive = await engine.open(t);
    const other = await engine.openAgain(t, archive);
    const store = async (target: Archive, count: number): Promise<number> =>
      await applied(
        target,
        compactionDraft(count),
        Array.from({ length: count }, (_, at) =>
          lineDraft(at + 1, { message: messageDraft({ text: `hull ${count}` }) }),
        ),
      );
    const counts = [30, 40, 50, 60];
    const ids = await Promise.all(counts.map((count, at) => store(at % 2 === 0 ? archive : other, count)));
    assert.equal(new Set(ids).size, 4);
    for (const [at, id] of ids.entries()) assert.equal((await linesOf(archive, id)).length, counts[at]);
    const labels = (await archive.findBatches({ kind: 'prefix', prefix: '' }, 9)).map(({ label }) => label);
    assert.equal(new Set(labels).size, 4);
  });
}

/** For engines whose connections in one process do not take turns. */
export function stateContract(engine: Engine): void {
  test('calls on one state of the archive do not see what another program stores meanwhile', async (t) => {
    const archive = await engine.open(t);
    const other = await engine.openAgain(t, archive);
    await applied(archive, compactionDraft(1), [lineDraft(1)]);
    await archive.inOneState(async (state) => {
      assert.equal((await state.listCompactions()).length, 1);
      await applied(other, compactionDraft(1), [lineDraft(1)]);
      assert.equal((await state.listCompactions()).length, 1);
    });
    assert.equal((await archive.listCompactions()).length, 2);
  });

  test('a check sees one state of the archive, whatever another program takes back meanwhile', async (t) => {
    const archive = await engine.open(t);
    const other = await engine.openAgain(t, archive);
    const id = await stored(
      archive,
      compactionDraft(3),
      [1, 2, 3].map((line) => lineDraft(line)),
    );
    const undisturbed = (await collect(archive.check())).filter(({ kind }) => kind === 'damage');
    const found: unknown[] = [];
    for await (const step of archive.check()) {
      if (step.kind === 'prepared') await other.discard(id);
      if (step.kind === 'damage') found.push(step);
    }
    assert.deepEqual(found, undisturbed);
    assert.deepEqual(await archive.listPrepared(), []);
  });
}
