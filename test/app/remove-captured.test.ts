import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { test, type TestContext } from 'node:test';
import { createFileStore } from '../../src/adapters/fs/file-store.ts';
import { createNodeRuntime } from '../../src/adapters/runtime/node.ts';
import type { ColdOnly } from '../../src/app/contract/requests.ts';
import type { CaptureReport } from '../../src/app/contract/reports.ts';
import type { FileWriter } from '../../src/ports/files.ts';
import type { Step } from '../../src/ports/runtime.ts';
import { capture, damage, restored, tryCapture, tryRestore } from '../support/captures.ts';
import { chatTranscript } from '../support/chat.ts';
import { killWhereItStops } from '../support/stopping.ts';
import { benchWith, type Workbench } from '../support/workbench.ts';

const TALK = chatTranscript(60);
const COLD: ColdOnly = { before: null, minIdleMs: 600_000 };
const MTIME_S = 1_700_000_000.5;

/** A session that nobody has touched for an hour, and what happens after a step of its removal. */
function coldBench(
  t: TestContext,
  at: { readonly [step in Step]?: (bench: Workbench) => void } = {},
  files = createFileStore(),
): Workbench {
  const now = (): Date => new Date(Date.now() + 3_600_000);
  const begun: { bench: Workbench | null } = { bench: null };
  const reached = (step: Step): void => {
    if (begun.bench !== null) at[step]?.(begun.bench);
  };
  const bench = benchWith(t, 'x.jsonl', TALK, { runtime: { ...createNodeRuntime(), now }, reached, files });
  chmodSync(bench.path('x.jsonl'), 0o640);
  utimesSync(bench.path('x.jsonl'), MTIME_S, MTIME_S);
  begun.bench = bench;
  return bench;
}

const remove = (bench: Workbench, changes = COLD): Promise<CaptureReport> =>
  capture(bench, 'x.jsonl', { remove: changes });

test('a cold file is captured, proven and removed, and comes back with its bytes, its time and its mode', async (t) => {
  const bench = coldBench(t);
  const before = statSync(bench.path('x.jsonl'), { bigint: true });
  const { result, version, netBytes, bytes } = await remove(bench);
  assert.deepEqual([result, version, existsSync(bench.path('x.jsonl'))], ['removed', 1, false]);
  assert.equal(netBytes, 4096 * Math.ceil(TALK.length / 4096) - (bytes.stored ?? 0));
  const deeds = (await bench.archive().log.list()).map(({ action, details }) => [action, JSON.parse(details)]);
  const sha256 = hash('sha256', TALK);
  assert.deepEqual(deeds, [['remove', { file: bench.path('x.jsonl'), bytes: TALK.length, sha256 }]]);
  assert.ok((await tryRestore(bench, 'x.jsonl', { output: { kind: 'in-place' } })).ok);
  const after = statSync(bench.path('x.jsonl'), { bigint: true });
  assert.equal(bench.read('x.jsonl').toString(), TALK);
  assert.equal(after.mode, before.mode);
  assert.equal(after.mtimeNs / 1000n, before.mtimeNs / 1000n);
  assert.equal((await remove(bench)).result, 'removed');
});

test('a time and a mode that changed after the capture are those that come back', async (t) => {
  const bench = coldBench(t);
  await capture(bench, 'x.jsonl');
  utimesSync(bench.path('x.jsonl'), MTIME_S - 5000, MTIME_S - 5000);
  chmodSync(bench.path('x.jsonl'), 0o600);
  assert.equal((await remove(bench)).result, 'removed');
  assert.ok((await tryRestore(bench, 'x.jsonl', { output: { kind: 'in-place' } })).ok);
  const { mode, mtimeMs } = statSync(bench.path('x.jsonl'));
  assert.deepEqual([mode & 0o777, Math.floor(mtimeMs)], [0o600, Math.floor((MTIME_S - 5000) * 1000)]);
});

test('a file that is young or held is left, and says why', async (t) => {
  const bench = coldBench(t);
  const left = async (changes = COLD): Promise<unknown> => {
    const { result, reason } = await remove(bench, changes);
    return [result, reason, bench.read('x.jsonl').toString() === TALK];
  };
  assert.deepEqual(await left({ ...COLD, minIdleMs: 7_200_000 }), ['left', 'in-use', true]);
  assert.deepEqual(await left({ ...COLD, before: new Date('2020-01-01') }), ['left', 'too-recent', true]);
  assert.equal(existsSync(bench.archivePath), false);
  await capture(bench, 'x.jsonl');
  const hold = { kind: 'source', value: bench.path('x.jsonl'), reason: null, addedAt: new Date() } as const;
  await bench.archive().retention.addHold(hold);
  assert.deepEqual(await left(), ['left', 'held', true]);
  symlinkSync(bench.folder, bench.path('link'));
  const throughLink = await capture(bench, 'link/x.jsonl', { remove: COLD });
  assert.deepEqual([throughLink.reason, existsSync(bench.path('x.jsonl'))], ['held', true]);
});

const OTHER: FileWriter = { processId: 7, name: 'other' };

for (const look of ['findWriter', 'findSessionUser'] as const)
  for (const found of look === 'findWriter' ? ([OTHER, 'unknown'] as const) : ([OTHER] as const))
    for (const opensAt of [1, 2, 3]) {
      test(`a file stays if ${look} finds ${JSON.stringify(found)} at look ${opensAt} of 3`, async (t) => {
        const looks = { count: 0 };
        const find = async (): Promise<typeof found | null> => {
          looks.count += 1;
          return looks.count === opensAt ? found : null;
        };
        const bench = coldBench(t, {}, { ...createFileStore(), findWriter: async () => null, [look]: find });
        const { result, reason } = await remove(bench);
        assert.deepEqual([result, reason, looks.count], ['left', 'in-use', opensAt]);
        assert.equal(bench.read('x.jsonl').toString(), TALK);
      });
    }

for (const [what, step, meddle] of [
  ['appends to it after the proof', 'looked', (bench) => appendFileSync(bench.path('x.jsonl'), 'more\n')],
  [
    'rewrites it to the same size and time after the proof',
    'looked',
    (bench) => {
      writeFileSync(bench.path('x.jsonl'), TALK.replace('a', 'b'));
      utimesSync(bench.path('x.jsonl'), MTIME_S, MTIME_S);
    },
  ],
  ['puts another file at its name', 'looked', (bench) => bench.write('x.jsonl', chatTranscript(3, 900))],
] as const satisfies readonly (readonly [string, Step, (bench: Workbench) => void])[]) {
  test(`a file stays if a program ${what}`, async (t) => {
    const content: { now: string } = { now: '' };
    const bench = coldBench(t, {
      [step]: (one: Workbench) => {
        meddle(one);
        content.now = one.read('x.jsonl').toString();
      },
    });
    const { result, reason } = await remove(bench);
    assert.deepEqual([result, reason], ['left', 'changed']);
    assert.equal(bench.read('x.jsonl').toString(), content.now);
    assert.notEqual(content.now, TALK);
  });
}

test('what a program writes to the name while the file is moved aside follows at its end', async (t) => {
  const line = '{"role":"user","content":"one more"}\n';
  const bench = coldBench(t, { moved: (one) => appendFileSync(one.path('x.jsonl'), line) });
  assert.deepEqual((await remove(bench)).reason, 'changed');
  assert.equal(bench.read('x.jsonl').toString(), TALK + line);
});

test('what a program writes to the moved file, and closes before anybody can see that, stays', async (t) => {
  const line = '{"role":"user","content":"one more"}\n';
  const late: { file: number } = { file: -1 };
  const bench = coldBench(t, {
    looked: (one) => {
      late.file = openSync(one.path('x.jsonl'), 'a');
    },
    moved: () => {
      writeSync(late.file, line);
      closeSync(late.file);
    },
  });
  assert.deepEqual((await remove(bench)).reason, 'changed');
  assert.equal(bench.read('x.jsonl').toString(), TALK + line);
});

test('a file stays if the archive cannot give it back', async (t) => {
  const bench = coldBench(t, {
    prepared: (one) => damage(one, 'UPDATE captured_blocks SET data = zeroblob(length(data))'),
  });
  const done = await tryCapture(bench, 'x.jsonl', { remove: COLD });
  assert.equal(!done.ok && done.error.kind === 'archive' && done.error.failure.kind, 'damaged');
  assert.equal(bench.read('x.jsonl').toString(), TALK);
});

test('a dry run says what would be freed, and writes nothing', async (t) => {
  const bench = coldBench(t);
  const { result, netBytes } = await capture(bench, 'x.jsonl', { remove: COLD, isDryRun: true });
  assert.equal(result, 'planned');
  assert.ok(netBytes > 0.6 * TALK.length && netBytes < 4096 + TALK.length);
  assert.equal(bench.read('x.jsonl').toString(), TALK);
  assert.deepEqual(await bench.archive().captures.list(), []);
});

test('a file with another name frees nothing', async (t) => {
  const bench = coldBench(t);
  linkSync(bench.path('x.jsonl'), bench.path('other'));
  const { result, netBytes } = await remove(bench);
  assert.deepEqual([result, netBytes <= 0, bench.read('other').toString()], ['removed', true, TALK]);
});

for (const stopsAt of ['before commit', 'after commit', 'when prepared', 'when looked', 'when moved', 'when renamed']) {
  test(`a removal killed ${stopsAt} loses nothing, and the next one completes it`, async (t) => {
    const bench = benchWith(t, 'x.jsonl', TALK);
    await killWhereItStops(t, { work: 'remove', folder: bench.folder, named: 'x.jsonl', stopsAt });
    const isGone = stopsAt === 'when renamed';
    if (!isGone) {
      const done = await capture(bench, 'x.jsonl', { remove: { before: null, minIdleMs: 0 } });
      assert.equal(done.result, 'removed');
    }
    assert.equal(existsSync(bench.path('x.jsonl')), false);
    assert.equal(await restored(bench, 'x.jsonl'), TALK);
    const hidden = readdirSync(bench.folder).filter((name) => name.startsWith('.') && name.includes('x.jsonl'));
    // A run that was killed after the end leaves at most its lock.
    assert.ok(hidden.length <= (isGone ? 1 : 0), hidden.join());
  });
}
