import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execPath, getuid } from 'node:process';
import { suite, test, type TestContext } from 'node:test';
import type { Step } from '../../src/ports/runtime.ts';
import { readArchiveRows } from '../support/archive-rows.ts';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import {
  endOf,
  interruptHere,
  type ProcessOptions,
  runHere,
  runProcess,
  startProcess,
  startWaiting,
} from '../support/program.ts';

const original = chatTranscript(24);
const AT_A_TIME = { concurrency: 3 };

type Place = { readonly folder: string; readonly file: string; readonly archive: string };

function setUp(t: TestContext, text = original): Place {
  const folder = folderWith(t, { 'logs/talk.jsonl': text });
  return {
    folder: join(folder, 'logs'),
    file: join(folder, 'logs', 'talk.jsonl'),
    archive: join(folder, 'archive.db'),
  };
}

function read({ file }: Place): string {
  return readFileSync(file, 'utf8');
}

/** The file holds its original, or what gives it back; nothing else is in the folder, and nothing half done in the archive. */
async function assertWhole(place: Place, before: readonly string[] = []): Promise<'as it was' | 'done'> {
  assert.deepEqual(readdirSync(place.folder), ['talk.jsonl']);
  const statuses = readArchiveRows(place.archive)?.statuses ?? [];
  if (read(place) === original) {
    assert.deepEqual(statuses, before);
    return 'as it was';
  }
  assert.deepEqual(statuses, ['applied']);
  assert.equal((await runHere(['verify', '--archive', place.archive, place.file])).code, 0);
  const restored = await runHere(['restore', '--all', '--archive', place.archive, place.file]);
  assert.equal(restored.stdout, original);
  return 'done';
}

function signalsAt(step: Step, ...names: readonly NodeJS.Signals[]): ProcessOptions {
  return { script: { happening: { step, what: { kind: 'signals', names } } } };
}

const BEFORE_RENAME = ['read', 'planned', 'summarized', 'prepared', 'written', 'synced'] as const;
// Nothing that takes time comes between the last look and the swap.
const AFTER_RENAME = ['looked', 'renamed', 'folder-synced', 'applied'] as const;
/** At the other steps the terminal says that somebody interrupts, as it does when it gets a signal. */
const SIGNALED: ReadonlySet<Step> = new Set(['read', 'synced', 'looked', 'renamed']);

suite('SIGINT ends with 130, SIGTERM with 143', AT_A_TIME, () => {
  for (const [index, step] of [...BEFORE_RENAME, ...AFTER_RENAME].entries()) {
    const isTerm = index % 2 === 1 && SIGNALED.has(step);
    const state = AFTER_RENAME.some((one) => one === step) ? 'done' : 'as it was';
    test(`${isTerm ? 'SIGTERM' : 'SIGINT'} after '${step}': the file is ${state}, and nothing else is left`, async (t) => {
      const place = setUp(t);
      const args = ['-i', '--archive', place.archive, place.file];
      const ended = SIGNALED.has(step)
        ? await runProcess(args, signalsAt(step, isTerm ? 'SIGTERM' : 'SIGINT'))
        : await interruptHere(args, step);
      assert.deepEqual([ended.code, ended.signal], [isTerm ? 143 : 130, null], ended.stderr);
      assert.equal(await assertWhole(place), state);
      assert.equal(ended.stderr.includes('talk.jsonl: interrupted; the file is as it was.'), state === 'as it was');
    });
  }

  for (const step of ['written', 'looked', 'renamed'] as const) {
    test(`while it restores in place, after '${step}'`, async (t) => {
      const place = setUp(t);
      assert.equal((await runHere(['-i', '--archive', place.archive, place.file])).code, 0);
      const args = ['restore', '-i', '--archive', place.archive, place.file];
      assert.equal((await interruptHere(args, step)).code, 130);
      assert.equal(await assertWhole(place, ['applied']), step === 'written' ? 'done' : 'as it was');
    });
  }

  for (const step of ['planned', 'renamed'] as const) {
    test(`a second signal ends it at once, after '${step}' too, and the folder is clean`, async (t) => {
      const place = setUp(t);
      const args = ['-i', '--archive', place.archive, place.file];
      assert.equal((await runProcess(args, signalsAt(step, 'SIGINT', 'SIGTERM'))).code, 143);
      // The file that was moved aside stays until somebody has compared it.
      const left = readdirSync(place.folder).filter((name) => !/\.(?:lock|old)$/.test(name));
      assert.deepEqual(left, ['talk.jsonl']);
      assert.equal((await runHere(args)).code, 0);
      assert.deepEqual(readdirSync(place.folder), ['talk.jsonl']);
      assert.equal(await assertWhole(place), 'done');
    });
  }

  test('a second signal ends it also while a model does not answer', async (t) => {
    const place = setUp(t);
    const stdin = openSync(place.file, 'r');
    t.after(() => closeSync(stdin));
    const args = ['-o', join(place.folder, 'out.jsonl'), '--archive', place.archive, '-'];
    const ended = await runProcess(args, {
      script: { hangingModel: ['SIGINT', 'SIGINT'] },
      stdio: [stdin, 'pipe', 'pipe'],
      environment: { TMPDIR: place.folder },
    });
    assert.deepEqual([ended.code, ended.stderr], [130, '']);
    assert.equal(await assertWhole(place), 'as it was');
  });
});

test('a second signal kills a child process before its locks are removed', (t) => {
  const folder = folderWith(t, { lock: '' });
  const terminal = new URL('../../src/cli/terminal/terminal.ts', import.meta.url).href;
  const script = `
    import { existsSync, writeSync } from 'node:fs';
    import { createTerminal } from '${terminal}';
    const { signal, removeAtExit, killAtExit } = createTerminal();
    removeAtExit('lock');
    killAtExit({ kill: (name) => writeSync(1, name + ' ' + existsSync('lock')) });
    signal.addEventListener('abort', () => process.kill(process.pid, 'SIGTERM'));
    setInterval(() => undefined, 1000);
    process.kill(process.pid, 'SIGINT');`;
  const ended = spawnSync(execPath, ['--input-type=module', '-e', script], { cwd: folder, encoding: 'utf8' });
  const hasLock = readdirSync(folder).includes('lock');
  assert.deepEqual([ended.status, ended.stdout, hasLock], [143, 'SIGKILL true', false], ended.stderr);
});

for (const [how, expires] of [
  ['when its time is over', 'mock.timers.tick(30_000)'],
  ['at the next SIGTERM', "process.kill(process.pid, 'SIGTERM')"],
] as const)
  test(`work that ends gently is interrupted ${how}`, () => {
    const terminal = new URL('../../src/cli/terminal/terminal.ts', import.meta.url).href;
    const script = `
    import { mock } from 'node:test';
    import { createTerminal } from '${terminal}';
    mock.timers.enable({ apis: ['setTimeout'] });
    const { signal, stopGently } = createTerminal();
    const stopping = stopGently(30_000);
    stopping.addEventListener('abort', () => {
      mock.timers.tick(29_999);
      console.log(stopping.reason, signal.aborted);
      setImmediate(() => ${expires});
    });
    signal.addEventListener('abort', () => { console.log(signal.reason); process.exit(); });
    setInterval(() => undefined, 1000);
    process.kill(process.pid, 'SIGTERM');`;
    const ended = spawnSync(execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    assert.deepEqual([ended.status, ended.stdout], [0, '143 false\n143\n'], ended.stderr);
  });

suite('the reader of standard output is gone', AT_A_TIME, () => {
  for (const args of [['-o', '-'], ['restore'], ['search', 'parser']] as const) {
    test(`'${args.join(' ')}' is done, and says nothing of it`, async (t) => {
      const place = setUp(t, chatTranscript(400));
      const { archive, file } = place;
      const isCompacted = args[0] !== '-o';
      if (isCompacted) assert.equal((await runHere(['-i', '-q', '--archive', archive, file])).code, 0);
      const takesFile = args[0] !== 'search';
      const child = startProcess([...args, '--archive', archive, '-q', ...(takesFile ? [file] : [])]);
      // Closed long before the program has begun to write.
      child.stdout?.destroy();
      const ended = await endOf(child);
      assert.deepEqual([ended.code, ended.signal, ended.stderr], [0, null, '']);
      assert.deepEqual(readdirSync(place.folder), ['talk.jsonl']);
    });
  }

  for (const args of [['-o', '-', '-q'], ['restore', '-q'], ['verify']] as const) {
    test(`'${args.join(' ')}' to a full device fails, and says why`, async (t) => {
      const { archive, file } = setUp(t);
      if (args[0] === 'restore' || args[0] === 'verify')
        assert.equal((await runHere(['-i', '-q', '--archive', archive, file])).code, 0);
      const full = openSync('/dev/full', 'w');
      t.after(() => closeSync(full));
      const ended = await runProcess([...args, '--archive', archive, file], { stdio: ['ignore', full, 'pipe'] });
      const message = 'standard output: the system cannot write it (ENOSPC). Check where it goes.\n';
      assert.deepEqual([ended.code, ended.stderr], [1, message]);
    });
  }
});

suite('what may not be written, by an ordinary user', AT_A_TIME, () => {
  // Root is asked for no permission; without its capabilities it is.
  const wrapper = getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];
  test('a folder that becomes read-only at the last moment: what cannot be removed is removed by the next run', async (t) => {
    const { folder, file, archive } = setUp(t);
    const args = ['-i', '--archive', archive, file];
    const waiting = await startWaiting(t, 'synced', { args, wrapper });
    chmodSync(folder, 0o555);
    const ended = await waiting.goOn();
    chmodSync(folder, 0o700);
    assert.deepEqual([ended.code, readFileSync(file, 'utf8') === original], [1, true]);
    assert.match(ended.stderr, /^[^\n]*: no permission to write it\.[^\n]*\n$/);
    assert.equal((await runHere(args)).code, 0);
    assert.deepEqual(readdirSync(folder), ['talk.jsonl']);
  });

  test('standard input, where there is no folder to keep it in', async (t) => {
    const { folder, file, archive } = setUp(t);
    const stdin = openSync(file, 'r');
    t.after(() => closeSync(stdin));
    const environment = { TMPDIR: join(folder, 'gone') };
    const ended = await runProcess(['-', '--archive', archive], { stdio: [stdin, 'pipe', 'pipe'], environment });
    const message = 'standard input cannot be stored there (no such folder). Name another folder with TMPDIR.';
    assert.deepEqual([ended.code, ended.stderr], [1, `${join(folder, 'gone')}: ${message}\n`]);
  });
});
