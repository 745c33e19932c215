import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunMark } from '../../../src/ports/archive.ts';
import { compactionDraft, cycleDraft, lineDraft, sha256 } from '../../adapters/archive/drafts.ts';
import { type Engine, applied, stored } from './engine.ts';
import { runMark } from '../../support/run-mark.ts';

const MORNING = runMark('morning', new Date('2026-03-02T08:00:00.000Z'));
const BY = { user: 'ana', host: 'ci', version: '2.0.0' };
const EVENING = { ...runMark('evening', new Date('2026-03-02T20:00:00.000Z')), by: BY, command: null };

export function runContract(engine: Engine): void {
  test('the files of a run are listed together with who began it and how, the newest run first', async (t) => {
    const archive = await engine.open(t);
    const store = async (run: RunMark | null, sourcePath: string): Promise<number> =>
      await applied(archive, compactionDraft(1, { run, sourcePath, outputPath: null }), [lineDraft(1)]);
    await store(MORNING, '/logs/a');
    await store(null, 'conversation:c1');
    await store(EVENING, '/logs/b');
    await store(MORNING, '/logs/c');
    const listed = await archive.runs.list();
    assert.deepEqual(
      listed.map(({ files, ...run }) => ({ ...run, sources: files.map((file) => file.sourcePath) })),
      [
        { id: 2, ...EVENING, undoneAt: null, sources: ['/logs/b'] },
        { id: 1, ...MORNING, undoneAt: null, sources: ['/logs/a', '/logs/c'] },
      ],
    );
  });

  test('a run without an applied compaction is not listed, and a discarded one takes its record along', async (t) => {
    const archive = await engine.open(t);
    const id = await stored(archive, compactionDraft(1, { run: MORNING }), [lineDraft(1)]);
    assert.deepEqual(await archive.runs.list(), []);
    await archive.discard(id);
    await applied(archive, compactionDraft(1, { run: MORNING, sourcePath: '/logs/again' }), [lineDraft(1)]);
    assert.deepEqual(
      (await archive.runs.list()).flatMap(({ files }) => files.map(({ sourcePath }) => sourcePath)),
      ['/logs/again'],
    );
  });

  test('a stored compaction that is used again belongs to both runs', async (t) => {
    const archive = await engine.open(t);
    const compactionId = await applied(archive, compactionDraft(1, { run: MORNING }), [lineDraft(1)]);
    const copy = { compactionId, sourcePath: '/copies/a', outputPath: '/copies/a' };
    const fileId = (await archive.runs.record(EVENING, copy)) ?? 0;
    const [evening, morning] = await archive.runs.list();
    assert.deepEqual(evening?.files, [
      { ...copy, id: fileId, title: null, sizeBytes: { before: 100, after: 50 }, undoneAt: null },
    ]);
    assert.equal(morning?.files.length, 1);
    await archive.runs.forget(fileId);
    assert.deepEqual(await archive.runs.list(), [morning]);
  });

  test('what was undone is remembered, for a file and for a run', async (t) => {
    const archive = await engine.open(t);
    await applied(archive, compactionDraft(1, { run: MORNING }), [lineDraft(1)]);
    const [run] = await archive.runs.list();
    const [file] = run?.files ?? [];
    assert.ok(run !== undefined && file !== undefined);
    const at = new Date('2026-03-03T09:00:00.000Z');
    await archive.runs.markFileUndone(file.id, at);
    await archive.runs.markUndone(run.id, at);
    assert.deepEqual(await archive.runs.list(), [{ ...run, undoneAt: at, files: [{ ...file, undoneAt: at }] }]);
  });

  test('a title is stored when it is new, and rows have the last one of their conversation', async (t) => {
    const archive = await engine.open(t);
    const store = async (cycle: number, title: string | null, conversationId = 'harbor'): Promise<number> => {
      const parentCycleId = cycle === 1 ? null : cycle - 1;
      const clipSha256 = sha256(`${conversationId} ${cycle}`);
      const cycles = [cycleDraft({ conversationId, cycle, parentCycleId, clipSha256, title })];
      const sourcePath = `/logs/${conversationId}-${cycle}`;
      return applied(archive, compactionDraft(1, { run: MORNING, sourcePath, cycles }), [lineDraft(1)]);
    };
    const ids = [
      await store(1, 'Find a boat'),
      await store(2, 'Find a boat'),
      await store(3, null),
      await store(4, 'Find a \ud83d'),
    ];
    await store(1, null, 'quay');
    const loaded = await Promise.all(ids.map((id) => archive.loadCompaction(id)));
    assert.deepEqual(
      loaded.map((one) => one?.cycles[0]?.title),
      ['Find a boat', null, null, 'Find a \ud83d'],
    );
    const titles = ['Find a boat', 'Find a boat', 'Find a boat', 'Find a \ud83d', null];
    assert.deepEqual((await archive.listCompactions()).map(({ title }) => title).toReversed(), titles);
    assert.deepEqual(
      (await archive.runs.list()).flatMap(({ files }) => files.map(({ title }) => title)),
      titles,
    );
  });
}
