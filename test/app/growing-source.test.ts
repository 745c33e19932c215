import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import type { Step } from '../../src/ports/runtime.ts';
import { chatTranscript } from '../support/chat.ts';
import { answer, scriptedModel } from '../support/models.ts';
import { benchFor, benchWith, reportOf, rerun, type Workbench } from '../support/workbench.ts';

const original = chatTranscript(30);
const LINE = '{"role":"user","content":"meanwhile"}\n';

/** A bench on which something happens right after the n-th time that a step was taken. */
function benchAt(
  t: Parameters<typeof benchFor>[0],
  happening: { readonly step: Step; readonly times?: number; readonly happen: (bench: Workbench) => void },
): { readonly bench: Workbench; readonly steps: readonly Step[] } {
  const setup = benchFor(t);
  const steps: Step[] = [];
  const { step, times = 1, happen } = happening;
  const bench = rerun(t, setup, {
    reached: (reached) => {
      steps.push(reached);
      if (reached === step && steps.filter((one) => one === step).length <= times) happen(bench);
    },
  });
  bench.write('talk.jsonl', original);
  return { bench, steps };
}

const append = (bench: Workbench): void => appendFileSync(bench.path('talk.jsonl'), LINE);

test('a run is a row of steps, each taken once and in their order', async (t) => {
  const { bench, steps } = benchAt(t, { step: 'applied', happen: () => undefined });
  reportOf(await bench.compact('talk.jsonl', { compaction: { chunkSize: 40 } }));
  assert.deepEqual(steps, [
    'read',
    'planned',
    'summarized',
    'summarized',
    'prepared',
    'written',
    'synced',
    'looked',
    'moved',
    'renamed',
    'folder-synced',
    'applied',
  ] satisfies Step[]);
});

suite('lines that a producer appends meanwhile', () => {
  for (const step of ['read', 'planned', 'summarized', 'prepared', 'written', 'synced'] as const) {
    test(`after '${step}': they stand at the end of the result, and nothing is read or asked again`, async (t) => {
      const { bench, steps } = benchAt(t, { step, happen: append });
      const report = reportOf(await bench.compact('talk.jsonl'));
      assert.equal(steps.filter((one) => one === 'read').length, 1);
      const result = bench.read('talk.jsonl');
      assert.ok(result.toString().endsWith(LINE));
      assert.deepEqual(
        [report.bytes.after, report.sha256.after, report.notes.at(-1)],
        [
          result.length,
          bench.deps.runtime.sha256(result),
          `${LINE.length} bytes that were appended meanwhile were carried over`,
        ],
      );
      assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
      assert.equal((await bench.restore('talk.jsonl')).toString(), original + LINE);
    });
  }

  test('again and again, until it rests', async (t) => {
    const bench = benchWith(t, 'talk.jsonl', original);
    const { files } = bench.deps;
    let left = 3;
    const busy = rerun(t, bench, {
      files: {
        ...files,
        stamp: async (path) => {
          if (left > 0 && path.endsWith('talk.jsonl')) appendFileSync(path, LINE);
          left -= 1;
          return files.stamp(path);
        },
      },
    });
    reportOf(await busy.compact('talk.jsonl'));
    assert.equal((await bench.restore('talk.jsonl')).toString(), original + LINE.repeat(3));
  });

  test('half a line is carried over as it is, and its other half follows by itself', async (t) => {
    const { bench } = benchAt(t, {
      step: 'written',
      happen: ({ path }) => appendFileSync(path('talk.jsonl'), LINE.slice(0, 10)),
    });
    reportOf(await bench.compact('talk.jsonl'));
    appendFileSync(bench.path('talk.jsonl'), LINE.slice(10));
    assert.equal((await bench.restore('talk.jsonl')).toString(), original + LINE);
  });

  test('with another output too: it has the source as it was when last checked', async (t) => {
    const { bench } = benchAt(t, { step: 'synced', happen: append });
    reportOf(await bench.compact('talk.jsonl', { output: { kind: 'file', path: bench.path('out.jsonl') } }));
    assert.equal(bench.read('talk.jsonl').toString(), original + LINE);
    assert.equal((await bench.restore('out.jsonl')).toString(), original + LINE);
  });

  test('while a compacted file is restored in place', async (t) => {
    const setup = benchFor(t);
    setup.write('talk.jsonl', original);
    reportOf(await setup.compact('talk.jsonl'));
    const { restoreFile } = await import('../../src/app/restore/restore-file.ts');
    const input = { path: setup.path('talk.jsonl'), name: 'talk.jsonl', format: null };
    const due = new Set<Step>(['written', 'looked']);
    const reached = (step: Step): void => {
      if (due.delete(step)) append(setup);
    };
    const done = await restoreFile({ ...setup.deps, reached }, { input, output: { kind: 'in-place' }, all: false });
    assert.equal(done.ok && done.value.appendedBytes, LINE.length * 2);
    const { sha256 } = setup.deps.runtime;
    assert.equal(done.ok && done.value.sha256, sha256(original + LINE + LINE));
    assert.equal(done.ok && done.value.original.sha256, sha256(original));
    assert.equal(setup.read('talk.jsonl').toString(), original + LINE + LINE);
  });

  test('the summaries are not asked for again', async (t) => {
    const model = scriptedModel(() => answer('They agreed on port 8080.'));
    const { bench } = benchAt(t, { step: 'synced', happen: append });
    reportOf(await rerun(t, bench, { model, reached: bench.deps.reached }).compact('talk.jsonl'));
    assert.equal(model.requests.length, 1);
  });
});

suite('a source that changes in any other way', () => {
  const changes: readonly (readonly [string, (path: string) => void])[] = [
    ['other bytes of the same length', (path) => writeFileSync(path, original.replace('parser', 'PARSER'))],
    [
      'fewer lines',
      (path) => writeFileSync(path, original.slice(0, original.lastIndexOf('\n', original.length - 2) + 1)),
    ],
    [
      'another file in its place',
      (path) => {
        writeFileSync(`${path}.new`, readFileSync(path, 'utf8') + LINE);
        renameSync(`${path}.new`, path);
      },
    ],
    ['other bytes before appended ones', (path) => writeFileSync(path, original.replace('parser', 'PARSER') + LINE)],
  ];
  for (const [what, change] of changes) {
    test(`${what}: it is read again, and the result is of what is there then`, async (t) => {
      const { bench, steps } = benchAt(t, { step: 'synced', happen: ({ path }) => change(path('talk.jsonl')) });
      assert.equal(reportOf(await bench.compact('talk.jsonl')).result, 'compacted');
      assert.equal(steps.filter((step) => step === 'read').length, 2);
      const check = benchFor(t);
      check.write('talk.jsonl', original);
      change(check.path('talk.jsonl'));
      assert.equal((await bench.restore('talk.jsonl')).toString(), check.read('talk.jsonl').toString());
      assert.deepEqual(await bench.archive().listPrepared(), []);
    });
  }

  test('three times: it is given up, the file is as its writer left it', async (t) => {
    let turn = 0;
    const { bench, steps } = benchAt(t, {
      step: 'synced',
      times: 9,
      happen: ({ write }) => {
        turn += 1;
        write('talk.jsonl', original.replace('parser', `parser${turn}`));
      },
    });
    const done = await bench.compact('talk.jsonl');
    assert.equal(done.ok ? '' : done.error.kind, 'source-changed');
    assert.equal(steps.filter((step) => step === 'read').length, 3);
    assert.equal(bench.read('talk.jsonl').toString(), original.replace('parser', 'parser3'));
    assert.deepEqual(await bench.archive().listPrepared(), []);
  });

  test('only touched, it counts as unchanged', async (t) => {
    const { bench, steps } = benchAt(t, {
      step: 'synced',
      happen: ({ path }) => utimesSync(path('talk.jsonl'), 1, 1),
    });
    reportOf(await bench.compact('talk.jsonl'));
    assert.equal(steps.filter((step) => step === 'read').length, 1);
    assert.equal((await bench.restore('talk.jsonl')).toString(), original);
  });

  test('replaced by another run between the reading and the lock, it is read again', async (t) => {
    const setup = benchFor(t);
    setup.write('talk.jsonl', original);
    const other = rerun(t, setup);
    const { files } = setup.deps;
    let isFirst = true;
    const late = rerun(t, setup, {
      files: {
        ...files,
        lock: async (path) => {
          if (isFirst) reportOf(await other.compact('talk.jsonl'));
          isFirst = false;
          return files.lock(path);
        },
      },
    });
    assert.equal(reportOf(await late.compact('talk.jsonl')).reason, 'nothing-new');
    assert.equal((await setup.restore('talk.jsonl')).toString(), original);
  });

  test('a last line that is still being written is no broken one: the file is read again', async (t) => {
    const setup = benchFor(t);
    setup.write('talk.jsonl', original + LINE.slice(0, 20));
    const { files } = setup.deps;
    let isFirst = true;
    const bench = rerun(t, setup, {
      files: {
        ...files,
        open: async (path) => {
          const opened = await files.open(path);
          if (isFirst) appendFileSync(path, LINE.slice(20));
          isFirst = false;
          return opened;
        },
      },
    });
    assert.equal(reportOf(await bench.compact('talk.jsonl')).result, 'compacted');
    assert.equal((await setup.restore('talk.jsonl')).toString(), original + LINE);
  });
});

test('another run at work on the file: the second skips it and leaves everything as it is', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', original);
  const lock = await bench.deps.files.lock(bench.path('talk.jsonl'));
  assert.ok(lock.ok);
  const { result, reason, notes } = reportOf(await bench.compact('talk.jsonl'));
  assert.deepEqual([result, reason, notes], ['skipped', 'in-use', ['another run of compact is working on it']]);
  assert.equal(bench.read('talk.jsonl').toString(), original);
  lock.value.release();
  assert.equal(reportOf(await bench.compact('talk.jsonl')).result, 'compacted');
});

test('a document that grows meanwhile is read again: nothing may follow its end', async (t) => {
  const { bench, steps } = benchAt(t, {
    step: 'written',
    happen: (at) => appendFileSync(at.path('s.json'), '\n'),
  });
  bench.write('s.json', readFileSync(join(import.meta.dirname, '../../fixtures/transcripts/opencode/session.json')));
  const report = reportOf(await bench.compact('s.json', { compaction: { maxSummaryTokens: 120 } }));
  assert.deepEqual([report.result, steps.filter((one) => one === 'read').length], ['compacted', 2]);
  assert.ok(bench.read('s.json').toString().endsWith('}\n'));
});

/** A run in a process of its own: a line comes to the open old file while nothing has its name, and the run is killed at one of the steps. */
function killRun(bench: Workbench, step: 'moved' | 'renamed'): void {
  const code = `
    import { openSync, writeSync } from 'node:fs';
    import { createWorkbench } from ${JSON.stringify(new URL('../support/workbench.ts', import.meta.url).href)};
    let old;
    const bench = createWorkbench({
      reached: (step) => {
        if (step === 'looked') old = openSync(bench.path(${JSON.stringify('talk.jsonl')}), 'a');
        if (step === 'moved') writeSync(old, ${JSON.stringify(LINE)});
        if (step !== ${JSON.stringify(step)}) return;
        process.kill(process.pid, 'SIGKILL');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      },
    }, ${JSON.stringify(bench.folder)});
    console.log(await bench.compact(${JSON.stringify('talk.jsonl')}));`;
  const ended = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  assert.equal(ended.signal, 'SIGKILL', ended.stdout + ended.stderr);
}

const hidden = (bench: Workbench): readonly string[] =>
  readdirSync(bench.folder).filter((name) => name.startsWith('.compact-'));

/** The whole conversation, from a file that is compacted or not. */
async function wholeOf(bench: Workbench): Promise<string> {
  const text = bench.read('talk.jsonl').toString();
  return text.includes('[Context Summary') ? (await bench.restore('talk.jsonl')).toString() : text;
}

suite('a line that comes while the file is replaced survives a kill', () => {
  const nexts: readonly (readonly [string, (bench: Workbench) => Promise<unknown>])[] = [
    ['compacts it', async (bench) => reportOf(await bench.compact('talk.jsonl'))],
    [
      'compacts another file',
      async (bench) => {
        bench.write('other.jsonl', chatTranscript(30, 500));
        reportOf(await bench.compact('other.jsonl'));
      },
    ],
    ['restores it', async (bench) => assert.rejects(bench.restore('talk.jsonl'), /not-compacted/)],
  ];
  for (const step of ['moved', 'renamed'] as const) {
    for (const [what, next] of nexts) {
      test(`after '${step}', and the next run ${what}`, async (t) => {
        const bench = benchWith(t, 'talk.jsonl', original);
        killRun(bench, step);
        await next(bench);
        assert.deepEqual(hidden(bench), []);
        assert.equal(await wholeOf(bench), original + LINE);
        reportOf(await bench.compact('talk.jsonl'));
        assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
        assert.equal(await wholeOf(bench), original + LINE);
      });
    }
  }
});

suite('after the last look', () => {
  test('lines that are appended to the old file, and then to the new one, stand in their order', async (t) => {
    const later = LINE.replace('meanwhile', 'later');
    const opened: number[] = [];
    const { bench } = benchAt(t, {
      step: 'renamed',
      happen: ({ path }) => {
        for (const old of opened) writeSync(old, LINE);
        for (const old of opened) closeSync(old);
        appendFileSync(path('talk.jsonl'), later);
      },
    });
    opened.push(openSync(bench.path('talk.jsonl'), 'a'));
    assert.equal(reportOf(await bench.compact('talk.jsonl')).result, 'compacted');
    assert.equal(await wholeOf(bench), original + LINE + later);
  });

  for (const step of ['looked', 'moved'] as const)
    test(`two other bytes (after '${step}') are not lost`, async (t) => {
      const text = original.replace('parser', 'PARSEr');
      const { bench } = benchAt(t, { step, happen: ({ write }) => write('talk.jsonl', text) });
      assert.ok((await bench.compact('talk.jsonl')).ok);
      const whole = await wholeOf(bench);
      // Whatever comes to the free name is joined to what stood there.
      assert.ok(whole === text || whole === original + text, whole.slice(0, 200));
      assert.deepEqual(hidden(bench), []);
    });
});
