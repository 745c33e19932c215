import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, readdirSync } from 'node:fs';
import { suite, test, type TestContext } from 'node:test';
import { err } from '../../src/core/result.ts';
import type { FileStore } from '../../src/ports/files.ts';
import { chatTranscript } from '../support/chat.ts';
import { storeWith } from '../support/files.ts';
import { benchFor, reportOf, rerun, type Workbench } from '../support/workbench.ts';

const original = chatTranscript(30);
const LATE = '{"role":"user","content":"a line that came late"}\n';

/** A run in a process of its own: a line comes after the last look, and it is killed at one of the steps after that. */
function killRun(bench: Workbench, step: 'renamed' | 'folder-synced'): void {
  const code = `
    import { appendFileSync } from 'node:fs';
    import { createWorkbench } from ${JSON.stringify(new URL('../support/workbench.ts', import.meta.url).href)};
    const bench = createWorkbench({
      reached: (step) => {
        if (step === 'looked') appendFileSync(bench.path('talk.jsonl'), ${JSON.stringify(LATE)});
        if (step !== ${JSON.stringify(step)}) return;
        process.kill(process.pid, 'SIGKILL');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      },
    }, ${JSON.stringify(bench.folder)});
    console.log(await bench.compact('talk.jsonl'));`;
  const ended = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  assert.equal(ended.signal, 'SIGKILL', ended.stdout + ended.stderr);
}

const names = (bench: Workbench): readonly string[] =>
  readdirSync(bench.folder).filter((name) => !name.startsWith('archive.db'));

const count = (bench: Workbench): number => bench.read('talk.jsonl').toString().split(LATE).length - 1;

suite('a line that comes between the last look and the rename survives a kill', () => {
  const nexts: readonly (readonly [string, (bench: Workbench) => Promise<unknown>])[] = [
    ['compacts it', async (bench) => reportOf(await bench.compact('talk.jsonl'))],
    [
      'compacts another file',
      async (bench) => {
        bench.write('other.jsonl', chatTranscript(30, 500));
        reportOf(await bench.compact('other.jsonl'));
      },
    ],
    ['restores it', async (bench) => assert.equal((await bench.restore('talk.jsonl')).toString(), original + LATE)],
  ];
  for (const step of ['renamed', 'folder-synced'] as const) {
    for (const [what, next] of nexts) {
      test(`after '${step}', and the next run ${what}`, async (t) => {
        const bench = benchFor(t);
        bench.write('talk.jsonl', original);
        killRun(bench, step);
        await next(bench);
        assert.equal(count(bench), 1);
        assert.deepEqual(
          names(bench).filter((name) => name.startsWith('.')),
          [],
        );
        assert.equal((await bench.restore('talk.jsonl')).toString(), original + LATE);
        assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
      });
    }
  }
});

/** A bench on which a line comes after the last look. */
function benchWith(t: TestContext, files: FileStore): Workbench {
  const setup = benchFor(t);
  setup.write('talk.jsonl', original);
  return rerun(t, setup, {
    files,
    reached: (step) => {
      if (step === 'looked') appendFileSync(setup.path('talk.jsonl'), LATE);
    },
  });
}

test('if appending it fails, the failure says where it is kept, and the file has it once', async (t) => {
  const state = { isNamed: false };
  const files = storeWith((pending, path) => ({
    rename: async () => {
      state.isNamed = true;
      return pending.rename();
    },
    write: (bytes) => (state.isNamed ? err({ kind: 'no-space', path }) : pending.write(bytes)),
  }));
  const bench = benchWith(t, files);
  const done = await bench.compact('talk.jsonl');
  assert.ok(!done.ok && done.error.kind === 'file' && done.error.failure.kind === 'unfinished', JSON.stringify(done));
  const { keptAs, because } = done.error.failure;
  assert.match(keptAs ?? '', /\/\.compact-[0-9a-f]{12}-\d+-\d+-\d+\.old$/);
  assert.deepEqual(because, { kind: 'no-space', path: bench.path('talk.jsonl') });
  assert.deepEqual([count(bench), names(bench)], [1, ['talk.jsonl']]);
  assert.equal((await rerun(t, bench).restore('talk.jsonl')).toString(), original + LATE);
});

test('half a line that a run was killed over is made whole before the file is read again', async (t) => {
  const bench = benchFor(t);
  bench.write('talk.jsonl', original);
  killRun(bench, 'renamed');
  appendFileSync(bench.path('talk.jsonl'), LATE.slice(0, 20));
  assert.equal(reportOf(await bench.compact('talk.jsonl')).result, 'compacted');
  assert.equal(count(bench), 1);
  assert.equal((await bench.restore('talk.jsonl')).toString(), original + LATE);
});

test('where a file can have no second name the line is brought over all the same', async (t) => {
  const files = storeWith(() => ({ keepBackup: () => ({ ok: true, value: { kind: 'no-links' } }) }));
  const bench = benchWith(t, files);
  reportOf(await bench.compact('talk.jsonl'));
  assert.deepEqual([count(bench), names(bench)], [1, ['talk.jsonl']]);
});

test('a file that another one replaced after the last look is not replaced', async (t) => {
  const files = storeWith(() => ({ keepBackup: () => ({ ok: true, value: { kind: 'another-file' } }) }));
  const setup = benchFor(t);
  setup.write('talk.jsonl', original);
  const done = await rerun(t, setup, { files }).compact('talk.jsonl');
  assert.equal(done.ok ? '' : done.error.kind, 'source-changed');
  assert.equal(setup.read('talk.jsonl').toString(), original);
});
