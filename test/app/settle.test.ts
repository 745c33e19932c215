import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import { test } from 'node:test';
import { createFileStore } from '../../src/adapters/fs/file-store.ts';
import { compactFile } from '../../src/app/compact-file.ts';
import type { FileStore, PendingFile } from '../../src/ports/files.ts';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, createWorkbench, policyOf, reportOf, rerun } from '../support/workbench.ts';
import type { Workbench } from '../support/workbench.ts';

const original = chatTranscript(30);

/** The real file store; `change` is told of each file that is begun. */
function storeWith(change: (pending: PendingFile) => Partial<PendingFile>): FileStore {
  const real = createFileStore();
  return {
    ...real,
    create: async (path, like) => {
      const created = await real.create(path, like);
      return created.ok ? { ok: true, value: { ...created.value, ...change(created.value) } } : created;
    },
  };
}

/** Compacts a file in place and dies between the rename and the word to the archive. */
async function dieAfterRename(bench: Workbench, name: string): Promise<void> {
  const archive = bench.archive();
  const killed = (): never => {
    throw new Error('killed');
  };
  const dying = createWorkbench(
    { openArchive: async () => ({ ok: true, value: { ...archive, markApplied: killed } }) },
    bench.folder,
  );
  bench.write(name, original);
  await assert.rejects(dying.compact(name), /killed/);
  assert.notEqual(bench.read(name).toString(), original);
}

test('killed after the rename: a run that does not find the file forgets nothing, wherever the file was moved', async (t) => {
  const bench = benchFor(t);
  await dieAfterRename(bench, 'talk.jsonl');
  renameSync(bench.path('talk.jsonl'), bench.path('moved.jsonl'));
  bench.write('other.jsonl', chatTranscript(30, 500));
  reportOf(await bench.compact('other.jsonl'));
  assert.deepEqual((await bench.verify('moved.jsonl')).problems, []);
  assert.equal((await bench.restore('moved.jsonl')).toString(), original);
});

test('killed after the rename: a file that stands as it was to be written counts, even if its process id is taken again', async (t) => {
  const bench = benchFor(t);
  await dieAfterRename(bench, 'talk.jsonl');
  const { runtime } = bench.deps;
  const later = rerun(t, bench, { runtime: { ...runtime, processId: -1, isProcessAlive: () => true } });
  assert.deepEqual((await later.verify('talk.jsonl')).problems, []);
});

test('paths are stored from the root, so that a run in another folder finds the files', async (t) => {
  const bench = benchFor(t);
  const path = relative('.', bench.write('talk.jsonl', original));
  assert.equal(isAbsolute(path), false);
  const request = { output: { kind: 'in-place' }, policy: policyOf(), provider: 'extractive', modelName: 'x' } as const;
  reportOf(await compactFile(bench.deps, { input: { path, name: path, format: null }, ...request }));
  const stored = bench.archive().loadCompaction(1);
  assert.deepEqual([stored?.sourcePath, stored?.outputPath], [bench.path('talk.jsonl'), bench.path('talk.jsonl')]);
});

test('an error that comes after the rename does not cost the file its archive', async (t) => {
  const files = storeWith((pending) => ({
    commit: async () => {
      await pending.commit();
      return { ok: false, error: { kind: 'io', path: 'the folder', code: 'EIO' } };
    },
  }));
  const bench = benchFor(t, { files });
  bench.write('talk.jsonl', original);
  assert.equal((await bench.compact('talk.jsonl')).ok, false);
  assert.notEqual(bench.read('talk.jsonl').toString(), original);
  const later = rerun(t, bench);
  assert.equal((await later.restore('talk.jsonl')).toString(), original);
});

test('a run whose prepared rows another run took for a dead one’s stores them once more', async (t) => {
  const bench = benchFor(t);
  const other = rerun(t, bench);
  const files = storeWith((pending) => ({
    flush: async () => {
      // The same process id: what this run prepared looks like what a dead one left.
      reportOf(await other.compact('other.jsonl'));
      assert.deepEqual(other.archive().listPrepared(), []);
      return pending.flush();
    },
  }));
  const running = rerun(t, bench, { files });
  bench.write('other.jsonl', chatTranscript(30, 500));
  bench.write('talk.jsonl', original);
  assert.equal(reportOf(await running.compact('talk.jsonl')).result, 'compacted');
  assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
  assert.equal((await bench.restore('talk.jsonl')).toString(), original);
});
