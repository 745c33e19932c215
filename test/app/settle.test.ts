import assert from 'node:assert/strict';
import type { Archive } from '../../src/ports/archive.ts';
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import { test, type TestContext } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { compactFile } from '../../src/app/compact/compact-file.ts';
import { err, ok } from '../../src/core/result.ts';
import { compactionDraft, lineDraft, sha256 } from '../adapters/archive/drafts.ts';
import { stored } from '../contract/archive/engine.ts';
import { chatTranscript } from '../support/chat.ts';
import { storeWith } from '../support/files.ts';
import {
  benchFor,
  benchWith,
  createWorkbench,
  policyOf,
  reportOf,
  rerun,
  type Workbench,
} from '../support/workbench.ts';

const original = chatTranscript(30);

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

test('killed after the rename: a complete output counts, even while another run is working on it', async (t) => {
  const bench = benchFor(t);
  await dieAfterRename(bench, 'talk.jsonl');
  const lock = await bench.deps.files.lock(bench.path('talk.jsonl'));
  assert.ok(lock.ok);
  assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
  lock.value.release();
});

test('what a run is at work on is left to it by other runs', async (t) => {
  const bench = benchFor(t);
  const other = rerun(t, bench);
  const seen: ReturnType<Archive['listPrepared']>[] = [];
  const files = storeWith((pending) => ({
    sync: () => {
      seen.push(other.archive().listPrepared());
      return pending.sync();
    },
    takePlace: async (...place) => {
      reportOf(await other.compact('other.jsonl'));
      seen.push(other.archive().listPrepared());
      return pending.takePlace(...place);
    },
  }));
  bench.write('other.jsonl', chatTranscript(30, 500));
  bench.write('talk.jsonl', original);
  reportOf(await rerun(t, bench, { files }).compact('talk.jsonl'));
  assert.deepEqual(
    (await Promise.all(seen)).map((listed) => listed.length),
    [1, 1],
  );
  assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
});

test('paths are stored from the root, so that a run in another folder finds the files', async (t) => {
  const bench = benchFor(t);
  const path = relative('.', bench.write('talk.jsonl', original));
  assert.equal(isAbsolute(path), false);
  const model = { summarizer: bench.deps, provider: 'extractive', modelName: 'x' };
  const request = { output: { kind: 'in-place' }, policy: policyOf(), ...model } as const;
  reportOf(await compactFile(bench.deps, { input: { path, name: path, format: null }, ...request }));
  const stored = await bench.archive().loadCompaction(1);
  assert.deepEqual([stored?.sourcePath, stored?.outputPath], [bench.path('talk.jsonl'), bench.path('talk.jsonl')]);
});

test('an error that comes after the rename does not cost the file its archive', async (t) => {
  const files = storeWith((pending) => ({
    syncFolder: async () => {
      await pending.syncFolder();
      return { ok: false, error: { kind: 'io', path: 'the folder', code: 'EIO' } };
    },
  }));
  const bench = benchWith(t, 'talk.jsonl', original, { files });
  assert.equal((await bench.compact('talk.jsonl')).ok, false);
  assert.notEqual(bench.read('talk.jsonl').toString(), original);
  const later = rerun(t, bench);
  assert.equal((await later.restore('talk.jsonl')).toString(), original);
});

for (const [kind, expected] of [
  ['no-space', 'compacted'],
  ['busy', 'compacted'],
  ['not-ours', 'archive'],
] as const) {
  test(`if the archive fails (${kind}) once the file was replaced, the run says so, and nothing is lost`, async (t) => {
    const bench = benchWith(t, 'talk.jsonl', original);
    const failure = { kind, path: bench.archivePath, reason: 'planted' };
    const archive = {
      ...bench.archive(),
      markApplied: async (): Promise<never> => {
        throw Object.assign(new Error(kind), { failure });
      },
    };
    const done = await rerun(t, bench, { openArchive: async () => ok(archive) }).compact('talk.jsonl');
    assert.equal(done.ok ? done.value.result : done.error.kind, expected);
    if (done.ok)
      assert.match(done.value.notes.join(), /the next command that opens it records that the file was replaced/);
    else assert.deepEqual(done.error, { kind: 'archive', failure, replaced: 'talk.jsonl' });
    assert.notEqual(bench.read('talk.jsonl').toString(), original);
    assert.equal((await bench.restore('talk.jsonl')).toString(), original);
  });
}

test('nor does one where there is no room to unpack what got its name', async (t) => {
  const { files: real } = benchFor(t).deps;
  const state = { isNamed: false };
  const failing = storeWith((_pending, path) => ({
    syncFolder: async () => {
      state.isNamed = true;
      return err({ kind: 'io', path, code: 'EIO' });
    },
  }));
  const noRoom = (path: string) => err({ kind: 'no-room', path, folder: '/tmp', code: 'ENOSPC' } as const);
  const files = { ...failing, open: async (path: string) => (state.isNamed ? noRoom(path) : real.open(path)) };
  const bench = benchWith(t, 'talk.jsonl.zst', zstdCompressSync(original), { files });
  assert.equal((await bench.compact('talk.jsonl.zst')).ok, false);
  const later = rerun(t, bench);
  assert.equal((await later.restore('talk.jsonl.zst')).toString(), original);
});

test('a run whose prepared rows another run took for a dead one’s stores them once more', async (t) => {
  const bench = benchFor(t);
  const { files: real } = bench.deps;
  // A file system without locks: what this run prepared looks like what a dead one left.
  const other = rerun(t, bench, {
    files: {
      ...real,
      lock: async (path) => (path.endsWith('talk.jsonl') ? err({ kind: 'io', path, code: 'ENOLCK' }) : real.lock(path)),
    },
  });
  const files = storeWith((pending) => ({
    takePlace: async (...place) => {
      reportOf(await other.compact('other.jsonl'));
      assert.deepEqual(await other.archive().listPrepared(), []);
      return pending.takePlace(...place);
    },
  }));
  const running = rerun(t, bench, { files });
  bench.write('other.jsonl', chatTranscript(30, 500));
  bench.write('talk.jsonl', original);
  assert.equal(reportOf(await running.compact('talk.jsonl')).result, 'compacted');
  assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
  assert.equal((await bench.restore('talk.jsonl')).toString(), original);
});

/** Opens the archive of a bench as another machine would: nothing in it was begun there. */
function elsewhere(t: TestContext, bench: Workbench): Workbench {
  const archive = bench.archive();
  const listPrepared: Archive['listPrepared'] = async () =>
    (await archive.listPrepared()).map((one) => ({ ...one, isLocal: false }));
  return rerun(t, bench, { openArchive: async () => ({ ok: true, value: { ...archive, listPrepared } }) });
}

test('what another machine prepared is left to it, even if the same path has the same content here', async (t) => {
  const bench = benchFor(t);
  const path = bench.write('talk.jsonl', original);
  bench.write('other.jsonl', chatTranscript(30, 500));
  const source = { sha256: sha256(original), sizeBytes: Buffer.byteLength(original), lineCount: 1, hasBom: false };
  const draft = compactionDraft(1, { sourcePath: path, outputPath: path, source });
  const id = await stored(bench.archive(), draft, [lineDraft(1)]);
  const statusOf = async (): Promise<unknown> => (await bench.archive().loadCompaction(id))?.status;
  reportOf(await elsewhere(t, bench).compact('other.jsonl'));
  assert.equal(await statusOf(), 'prepared');
  reportOf(await rerun(t, bench).compact('other.jsonl'));
  assert.equal(await statusOf(), undefined);
});

test('what another machine prepared is applied where its output is', async (t) => {
  const bench = benchFor(t);
  await dieAfterRename(bench, 'talk.jsonl');
  assert.deepEqual((await elsewhere(t, bench).verify('talk.jsonl')).problems, []);
});

test('without shared locks, the machine that comes second leaves the other one’s file, which has its archive', async (t) => {
  const bench = benchFor(t);
  const other = elsewhere(t, bench);
  const seen: string[] = [];
  const files = storeWith((pending) => ({
    takePlace: async (...place) => {
      // The other machine does not see this lock.
      for (const name of readdirSync(bench.folder)) if (name.endsWith('.lock')) rmSync(bench.path(name));
      reportOf(await other.compact('talk.jsonl', { compaction: { keepRecent: 3, keepRecentTokens: 0 } }));
      seen.push(bench.read('talk.jsonl').toString());
      assert.equal((await other.restore('talk.jsonl')).toString(), original);
      return pending.takePlace(...place);
    },
  }));
  bench.write('talk.jsonl', original);
  reportOf(await rerun(t, bench, { files }).compact('talk.jsonl'));
  assert.equal(seen[0], bench.read('talk.jsonl').toString());
  assert.deepEqual((await other.verify('talk.jsonl')).problems, []);
  assert.equal((await other.restore('talk.jsonl')).toString(), original);
  assert.deepEqual(await bench.archive().listPrepared(), []);
});
