import assert from 'node:assert/strict';
import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createFileStore } from '../../src/adapters/fs/file-store.ts';
import type { OutputTarget } from '../../src/app/contract/requests.ts';
import { restoreFile } from '../../src/app/restore/restore-file.ts';
import type { Step } from '../../src/ports/runtime.ts';
import { change, spoilText } from '../support/full-archive.ts';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, benchWith, type BenchSettings, reportOf, rerun, type Workbench } from '../support/workbench.ts';

const original = chatTranscript(30);
const LATE = '{"role":"user","content":"a line that came late"}\n';

const toFile = (bench: Workbench, name: string): BenchSettings & { output: OutputTarget } => ({
  output: { kind: 'file', path: bench.path(name) },
});

/** Does something once, right after a step. */
function happening(step: Step): { reached: (taken: Step) => void; at: (what: () => void) => void } {
  const state: { what: (() => void) | null } = { what: null };
  return {
    at: (what) => {
      state.what = what;
    },
    reached: (taken) => {
      if (taken !== step || state.what === null) return;
      const { what } = state;
      state.what = null;
      what();
    },
  };
}

/** A run that ends where it stands after a step; nothing that it would have tidied up is tidied up. */
async function killAfter(t: TestContext, bench: Workbench, step: Step, settings: BenchSettings = {}): Promise<void> {
  const kept = { ...bench.archive(), discard: async () => undefined, markApplied: async () => undefined };
  const killed = rerun(t, bench, {
    openArchive: async () => ({ ok: true, value: kept }),
    reached: (taken) => {
      if (taken === step) throw new Error('killed');
    },
  });
  await assert.rejects(killed.compact('talk.jsonl', settings), /killed/);
}

for (const [what, sql] of [
  ['lines', 'UPDATE packs SET data = zeroblob(length(data))'],
  ['own line', spoilText('inserted_lines', 1)],
  ['place of an own line', 'UPDATE inserted_lines SET text_offset = 1, text_size = text_size - 1'],
  ['end of an own line', 'UPDATE inserted_lines SET text_size = text_size + 1'],
] as const) {
  test(`the only copy is not replaced by what a damaged archive (${what}) cannot give back`, async (t) => {
    const bench = benchWith(t, 'talk.jsonl', original);
    reportOf(await bench.compact('talk.jsonl'));
    bench.write('talk.jsonl', original);
    change(bench.archivePath, sql);
    const done = await bench.compact('talk.jsonl');
    const isAsItWas = bench.read('talk.jsonl').toString() === original;
    assert.ok(isAsItWas || (await bench.restore('talk.jsonl')).toString() === original, JSON.stringify(done));
  });
}

test('lines that come to an output of ours while it is made again are not lost', async (t) => {
  const { reached, at } = happening('prepared');
  const bench = benchWith(t, 'talk.jsonl', original, { reached });
  reportOf(await bench.compact('talk.jsonl', toFile(bench, 'out.jsonl')));
  appendFileSync(bench.path('talk.jsonl'), chatTranscript(3, 100));
  at(() => appendFileSync(bench.path('out.jsonl'), LATE));
  await bench.compact('talk.jsonl', toFile(bench, 'out.jsonl'));
  assert.ok(bench.read('out.jsonl').includes(LATE));
});

test('an output is not replaced when its source has become another conversation', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original);
  reportOf(await bench.compact('talk.jsonl', toFile(bench, 'out.jsonl')));
  const before = bench.read('out.jsonl');
  bench.write('talk.jsonl', chatTranscript(30, 500));
  const done = await bench.compact('talk.jsonl', toFile(bench, 'out.jsonl'));
  assert.equal(done.ok ? '' : done.error.kind, 'output-exists');
  assert.deepEqual(bench.read('out.jsonl'), before);
});

test('standard output gets nothing of a source that is rewritten while it is read', async (t) => {
  const { reached, at } = happening('planned');
  const bench = benchWith(t, 'talk.jsonl', original, { reached });
  const other = original.replace('port', 'PORT');
  at(() => writeFileSync(bench.path('talk.jsonl'), other));
  reportOf(await bench.compact('talk.jsonl', { output: { kind: 'stdout' } }));
  bench.write('out.jsonl', bench.stdout());
  assert.equal((await bench.restore('out.jsonl')).toString(), other);
});

test('killed after the rename to an output, which is then moved: its archive is kept', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original);
  await killAfter(t, bench, 'renamed', toFile(bench, 'out.jsonl'));
  renameSync(bench.path('out.jsonl'), bench.path('moved.jsonl'));
  bench.write('other.jsonl', chatTranscript(30, 500));
  reportOf(await bench.compact('other.jsonl'));
  rmSync(bench.path('talk.jsonl'));
  assert.equal((await bench.restore('moved.jsonl')).toString(), original);
});

test('a run that only settles what another left does not keep that file’s own run from it', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original);
  bench.write('other.jsonl', chatTranscript(30, 500));
  await killAfter(t, bench, 'prepared');
  const files = createFileStore();
  const settling = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const slow = rerun(t, bench, {
    files: {
      ...files,
      open: async (path) => {
        if (path.endsWith('talk.jsonl')) {
          settling.resolve();
          await goOn.promise;
        }
        return files.open(path);
      },
    },
  });
  const other = slow.compact('other.jsonl');
  await settling.promise;
  const talk = bench.compact('talk.jsonl');
  for (let turns = 0; turns < 50; turns += 1) await turn();
  goOn.resolve();
  assert.equal(reportOf(await other).result, 'compacted');
  assert.equal(reportOf(await talk).result, 'compacted');
});

test('half a line that was archived and whose other half comes later is whole when it is restored', async (t) => {
  const { reached, at } = happening('prepared');
  const bench = benchFor(t, { reached });
  const torn = `${original}${LATE.slice(0, 20)}`;
  bench.write('talk.jsonl', torn);
  at(() => appendFileSync(bench.path('talk.jsonl'), LATE.slice(20)));
  reportOf(await bench.compact('talk.jsonl', { keepInvalid: true, compaction: { keepRecent: 0 } }));
  assert.equal((await bench.restore('talk.jsonl')).toString(), original + LATE);
});

test('what is appended while a file without a last line ending is restored begins a line of its own', async (t) => {
  const { reached, at } = happening('synced');
  const bench = benchFor(t, { reached });
  const open = original.slice(0, -1);
  bench.write('talk.jsonl', open);
  reportOf(await bench.compact('talk.jsonl', { compaction: { keepRecent: 0 } }));
  at(() => appendFileSync(bench.path('talk.jsonl'), LATE));
  const input = { path: bench.path('talk.jsonl'), name: 'talk.jsonl', format: null };
  const done = await restoreFile(bench.deps, { input, output: { kind: 'in-place' }, all: true });
  assert.equal(done.ok && done.value.bytes, open.length + 1 + LATE.length);
  assert.equal(bench.read('talk.jsonl').toString(), `${open}\n${LATE}`);
});
