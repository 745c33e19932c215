import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunMark } from '../../../src/ports/archive.ts';
import { applied, compactionDraft, lineDraft, tempArchive } from './drafts.ts';

const MORNING: RunMark = { token: 'morning', begunAt: new Date('2026-03-02T08:00:00.000Z') };
const EVENING: RunMark = { token: 'evening', begunAt: new Date('2026-03-02T20:00:00.000Z') };

test('the files of a run are listed together, the newest run first', (t) => {
  const archive = tempArchive(t);
  const store = (run: RunMark | null, sourcePath: string): number =>
    applied(archive, compactionDraft(1, { run, sourcePath, outputPath: null }), [lineDraft(1)]);
  store(MORNING, '/logs/a');
  store(null, 'conversation:c1');
  store(EVENING, '/logs/b');
  store(MORNING, '/logs/c');
  const listed = archive.runs.list();
  assert.deepEqual(
    listed.map(({ begunAt, undoneAt, files }) => ({
      begunAt,
      undoneAt,
      sources: files.map((file) => file.sourcePath),
    })),
    [
      { begunAt: EVENING.begunAt, undoneAt: null, sources: ['/logs/b'] },
      { begunAt: MORNING.begunAt, undoneAt: null, sources: ['/logs/a', '/logs/c'] },
    ],
  );
});

test('a run without an applied compaction is not listed, and a discarded one takes its record along', (t) => {
  const archive = tempArchive(t);
  const id = archive.store(compactionDraft(1, { run: MORNING }), [lineDraft(1)]);
  assert.deepEqual(archive.runs.list(), []);
  archive.discard(id);
  applied(archive, compactionDraft(1, { run: MORNING, sourcePath: '/logs/again' }), [lineDraft(1)]);
  assert.deepEqual(
    archive.runs.list().flatMap(({ files }) => files.map(({ sourcePath }) => sourcePath)),
    ['/logs/again'],
  );
});

test('a stored compaction that is used again belongs to both runs', (t) => {
  const archive = tempArchive(t);
  const compactionId = applied(archive, compactionDraft(1, { run: MORNING }), [lineDraft(1)]);
  const copy = { compactionId, sourcePath: '/copies/a', outputPath: '/copies/a' };
  const fileId = archive.runs.record(EVENING, copy);
  const [evening, morning] = archive.runs.list();
  assert.deepEqual(evening?.files, [{ ...copy, id: fileId, sizeBytes: { before: 100, after: 50 }, undoneAt: null }]);
  assert.equal(morning?.files.length, 1);
  archive.runs.forget(fileId);
  assert.deepEqual(archive.runs.list(), [morning]);
});

test('what was undone is remembered, for a file and for a run', (t) => {
  const archive = tempArchive(t);
  applied(archive, compactionDraft(1, { run: MORNING }), [lineDraft(1)]);
  const [run] = archive.runs.list();
  const [file] = run?.files ?? [];
  assert.ok(run !== undefined && file !== undefined);
  const at = new Date('2026-03-03T09:00:00.000Z');
  archive.runs.markFileUndone(file.id, at);
  archive.runs.markUndone(run.id, at);
  assert.deepEqual(archive.runs.list(), [{ ...run, undoneAt: at, files: [{ ...file, undoneAt: at }] }]);
});
