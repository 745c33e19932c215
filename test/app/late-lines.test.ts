import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, closeSync, openSync, readdirSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { suite, test, type TestContext } from 'node:test';
import type { Step } from '../../src/ports/runtime.ts';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, reportOf, rerun, type Workbench } from '../support/workbench.ts';

const original = chatTranscript(30);
const LATE = '{"role":"user","content":"a line that came late"}\n';
const FILE = 'talk.jsonl';

/** A run in a process of its own: a line comes to the open old file while nothing has its name, and the run is killed at one of the steps. */
function killRun(bench: Workbench, step: 'moved' | 'renamed'): void {
  const code = `
    import { openSync, writeSync } from 'node:fs';
    import { createWorkbench } from ${JSON.stringify(new URL('../support/workbench.ts', import.meta.url).href)};
    let old;
    const bench = createWorkbench({
      reached: (step) => {
        if (step === 'looked') old = openSync(bench.path(${JSON.stringify(FILE)}), 'a');
        if (step === 'moved') writeSync(old, ${JSON.stringify(LATE)});
        if (step !== ${JSON.stringify(step)}) return;
        process.kill(process.pid, 'SIGKILL');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      },
    }, ${JSON.stringify(bench.folder)});
    console.log(await bench.compact(${JSON.stringify(FILE)}));`;
  const ended = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  assert.equal(ended.signal, 'SIGKILL', ended.stdout + ended.stderr);
}

const hidden = (bench: Workbench): readonly string[] =>
  readdirSync(bench.folder).filter((name) => name.startsWith('.compact-'));

/** The whole conversation, from a file that is compacted or not. */
async function wholeOf(bench: Workbench): Promise<string> {
  const text = bench.read(FILE).toString();
  return text.includes('[Context Summary') ? (await bench.restore(FILE)).toString() : text;
}

suite('a line that comes while the file is replaced survives a kill', () => {
  const nexts: readonly (readonly [string, (bench: Workbench) => Promise<unknown>])[] = [
    ['compacts it', async (bench) => reportOf(await bench.compact(FILE))],
    [
      'compacts another file',
      async (bench) => {
        bench.write('other.jsonl', chatTranscript(30, 500));
        reportOf(await bench.compact('other.jsonl'));
      },
    ],
    ['restores it', async (bench) => assert.rejects(bench.restore(FILE), /not-compacted/)],
  ];
  for (const step of ['moved', 'renamed'] as const) {
    for (const [what, next] of nexts) {
      test(`after '${step}', and the next run ${what}`, async (t) => {
        const bench = benchFor(t);
        bench.write(FILE, original);
        killRun(bench, step);
        await next(bench);
        assert.deepEqual(hidden(bench), []);
        assert.equal(await wholeOf(bench), original + LATE);
        reportOf(await bench.compact(FILE));
        assert.deepEqual((await bench.verify(FILE)).problems, []);
        assert.equal(await wholeOf(bench), original + LATE);
      });
    }
  }
});

/** A bench on which something happens to the file right after the first time that a step was taken. */
function benchAt(t: TestContext, step: Step, happen: (path: string) => void): Workbench {
  const setup = benchFor(t);
  setup.write(FILE, original);
  let isFirst = true;
  return rerun(t, setup, {
    reached: (reached) => {
      if (reached !== step || !isFirst) return;
      isFirst = false;
      happen(setup.path(FILE));
    },
  });
}

suite('after the last look', () => {
  test('lines that are appended to the old file, and then to the new one, stand in their order', async (t) => {
    const setup = benchFor(t);
    setup.write(FILE, original);
    const opened = openSync(setup.path(FILE), 'a');
    let isFirst = true;
    const bench = rerun(t, setup, {
      reached: (step) => {
        if (step !== 'renamed' || !isFirst) return;
        isFirst = false;
        writeSync(opened, LATE);
        closeSync(opened);
        appendFileSync(setup.path(FILE), LATE.replace('late', 'later'));
      },
    });
    assert.equal(reportOf(await bench.compact(FILE)).result, 'compacted');
    assert.equal(await wholeOf(bench), original + LATE + LATE.replace('late', 'later'));
  });

  const changes: readonly (readonly [string, (path: string) => string])[] = [
    ['two other bytes', (path) => write(path, original.replace('parser', 'PARSEr'))],
    ['fewer lines', (path) => write(path, original.slice(0, original.indexOf('\n', 2000) + 1))],
    [
      'a file that another program puts in its place',
      (path) => {
        const text = write(`${path}.new`, original + LATE);
        renameSync(`${path}.new`, path);
        return text;
      },
    ],
  ];
  for (const [what, change] of changes) {
    for (const step of ['looked', 'moved'] as const) {
      test(`${what} (after '${step}') are not lost`, async (t) => {
        let text = '';
        const bench = benchAt(t, step, (path) => (text = change(path)));
        const done = await bench.compact(FILE);
        assert.ok(done.ok);
        const whole = await wholeOf(bench);
        // Whatever comes to the free name is joined to what stood there.
        assert.ok(whole === text || whole === original + text, whole.slice(0, 200));
        assert.deepEqual(hidden(bench), []);
      });
    }
  }
});

function write(path: string, text: string): string {
  writeFileSync(path, text);
  return text;
}
