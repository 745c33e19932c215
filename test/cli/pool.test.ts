import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { createFileStore } from '../../src/adapters/fs/file-store.ts';
import { DEFAULT_POOL_RULES, openFilesAtWork, type PoolRules } from '../../src/cli/pool/work-on-files.ts';
import { createFilePool, type FilePool } from '../../src/cli/pool/pool.ts';
import { run } from '../../src/cli/run.ts';
import { createUseCases } from '../../src/compose/use-cases.ts';
import { readArchiveRows } from '../support/archive-rows.ts';
import { chatLine, chatTranscript, prose } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { runProcess } from '../support/program.ts';
import { createFakeTerminal, type FakeTerminal } from './fakes.ts';

/** What the processes run is the bundle, which starts in half the time. */
const ALWAYS: PoolRules = {
  minFiles: 2,
  minBytes: 0,
  minBytesAlone: Number.POSITIVE_INFINITY,
  entry: new URL('../../dist/cli/worker.js', import.meta.url),
};
const DYING: PoolRules = { ...ALWAYS, entry: new URL('../support/dying-worker.ts', import.meta.url) };
const FIXTURES = join(import.meta.dirname, '../../fixtures/transcripts');
/** How often the program is killed, at steps from the first to the last. `npm run kills` asks for more, and gets more fixtures too. */
const FEW_KILLS = 2;
const KILLS = Number(process.env['KILLS'] ?? FEW_KILLS);
/** Two disturb each other as four do, at half the cost. */
const JOBS = KILLS > FEW_KILLS ? '4' : '2';
/** About one of every format: what processes may disturb is the order of files, whatever is in them. */
const SOME_FIXTURES = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
  .filter((name) => statSync(join(FIXTURES, name)).isFile())
  .toSorted()
  .filter((_, at) => at % (KILLS > FEW_KILLS ? 3 : 14) === 0);

type Ran = { readonly code: number; readonly terminal: FakeTerminal };

async function runWith(args: readonly string[], poolRules: PoolRules): Promise<Ran> {
  const terminal = createFakeTerminal(args);
  const code = await run({ terminal, loadUseCases: async () => createUseCases, poolRules });
  return { code, terminal };
}

/** Every file below a folder with its bytes. */
function readAll(folder: string): Readonly<Record<string, string>> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length), readFileSync(path, 'base64')];
    }),
  );
}

function manyTranscripts(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name, at) => [`in/${name}`, chatTranscript(24 + at, at * 70)]));
}

type Played = {
  readonly root: string;
  readonly folder: string;
  readonly archive: string;
  readonly before: Readonly<Record<string, string>>;
};

const NAMES = Array.from({ length: 8 }, (_, at) => `s${10 + at}.jsonl`);
/** What a file goes through: read, planned, summarized, prepared, written, synced, looked, moved, renamed, folder-synced, applied. */
const STEPS_OF_ALL = NAMES.length * 11;

function playIn(t: TestContext): Played {
  const root = folderWith(t, manyTranscripts(NAMES));
  const folder = join(root, 'in');
  return { root, folder, archive: join(root, 'archive.db'), before: readAll(folder) };
}

/** Each file is what it was, or gives it back. */
async function assertRestorable({ root, folder, archive, before }: Played): Promise<void> {
  // Where a run was killed in the moment without a file, whoever opens the file brings it back.
  for (const name of Object.keys(before)) await createFileStore().clearLeftovers(join(folder, name));
  const now = readAll(folder);
  const changed = Object.keys(before).filter((name) => now[name] !== before[name]);
  if (changed.length === 0) return;
  const restored = join(root, 'restored');
  const paths = changed.map((name) => join(folder, name));
  const args = ['restore', '--all', '-j', '1', '--archive', archive, '-o', `${restored}/`, ...paths];
  const { code, terminal } = await runWith(args, ALWAYS);
  assert.equal(code, 0, terminal.errors());
  assert.deepEqual(readAll(restored), Object.fromEntries(changed.map((name) => [name, before[name]])));
  rmSync(restored, { recursive: true });
}

/** And nothing else is left. */
async function assertWhole(played: Played): Promise<void> {
  await assertRestorable(played);
  assert.deepEqual(Object.keys(readAll(played.folder)).toSorted(), Object.keys(played.before).toSorted());
  const rows = readArchiveRows(played.archive);
  assert.deepEqual([rows?.damage, rows?.statuses.filter((status) => status !== 'applied')], [[], []]);
}

suite('files in other processes', { timeout: 7_200_000 }, () => {
  test("results, reports and their order are the same for any number of processes, and SQLite's log is gone", async (t) => {
    const play = async (jobs: string): Promise<unknown> => {
      const folder = folderWith(t, {});
      for (const name of SOME_FIXTURES) cpSync(join(FIXTURES, name), join(folder, 'in', name));
      const archive = ['--archive', join(folder, 'archive.db'), '-j', jobs];
      const told: unknown[] = [];
      for (const args of [
        ['-i', '--json'],
        ['verify', '--json'],
        ['scan', '--json', '--sort', 'path'],
      ] as const) {
        const { code, terminal } = await runWith([...args, ...archive, join(folder, 'in')], ALWAYS);
        // Copies of one conversation are numbered in the archive in the order in which they get there.
        const reports = terminal
          .out()
          .replaceAll(folder, '')
          .replaceAll(/"modified":"[^"]*"/g, '')
          // Files that are compacted at the same time share the growth.
          .replaceAll(/"(?:archive|net)Bytes":-?\d+/g, '')
          .replaceAll(/("label":"[^"]*(?:Z|-messages-\d+-\d+))-\d+"/g, '$1"');
        const summary = terminal.errors().replaceAll(folder, '');
        // How many pages the archive takes depends on the order too.
        told.push(
          code,
          reports,
          summary.replaceAll(
            /(?<=archive \+ )[\d.]+|[\d.]+(?= kB (?:more|less) on disk)|the disk [\d.]+ kB fuller|[\d.]+ (?:kB|bytes) of disk freed/g,
            'some',
          ),
        );
        assert.deepEqual(readdirSync(folder).toSorted(), ['archive.db', 'in'], args.join(' '));
      }
      const files = readAll(join(folder, 'in'));
      const undone = await runWith(['undo', '--json', ...archive], ALWAYS);
      told.push(undone.code, undone.terminal.out().replaceAll(folder, ''), readAll(join(folder, 'in')));
      return { told, files };
    };
    const alone = await play('1');
    assert.deepEqual(await play(JOBS), alone);
  });

  test('a large file alone gives the same in another process, which archives in a thread of its own', async (t) => {
    const pasted = prose(1, 100).repeat(150);
    const turns = Array.from({ length: 48 }, (_, at) => `${chatLine({ role: 'user', content: `${at} ${pasted}` })}\n`);
    const text = turns.join('') + chatTranscript(20);
    assert.ok(text.length > 4 * 1024 * 1024, 'large enough for the archive to have a thread');
    const play = async (minBytesAlone: number): Promise<unknown> => {
      const folder = folderWith(t, { 'in/talk.jsonl': text });
      const archive = join(folder, 'archive.db');
      const args = ['-i', '--json', '--archive', archive, join(folder, 'in')];
      const { code, terminal } = await runWith(args, { ...ALWAYS, minBytesAlone });
      const files = readAll(join(folder, 'in'));
      assert.deepEqual(readArchiveRows(archive)?.statuses, ['applied']);
      return { code, out: terminal.out().replaceAll(folder, ''), files };
    };
    assert.deepEqual(await play(0), await play(Number.POSITIVE_INFINITY));
  });

  test('a file that ends its process fails with one line, and all others are done', async (t) => {
    const reasons = {
      'crashes.jsonl': 'its process ended with SIGSEGV',
      'exits.jsonl': 'its process ended with exit code 3',
      'throws.jsonl': 'thrown behind its back',
      'too-crashes.jsonl': 'its process ended with SIGSEGV',
    };
    const bad = Object.keys(reasons);
    const names = ['a.jsonl', 'b.jsonl', ...bad, 'z.jsonl'];
    const folder = folderWith(t, manyTranscripts(names));
    const before = readAll(join(folder, 'in'));
    const archive = join(folder, 'archive.db');
    const { code, terminal } = await runWith(['-i', '-j', '2', '--archive', archive, join(folder, 'in')], DYING);
    assert.equal(code, 1);
    const lines = terminal.errors().split('\n');
    for (const [name, reason] of Object.entries(reasons)) {
      const about = lines.filter((line) => line.includes(`/${name}`));
      assert.equal(about.length, 1, terminal.errors());
      assert.match(about[0] ?? '', new RegExp(reason));
    }
    assert.match(terminal.errors(), /^7 transcripts: 3 compacted, 4 failed$/m);
    assert.deepEqual(readdirSync(join(folder, 'in')), names);
    const now = readAll(join(folder, 'in'));
    assert.deepEqual(
      names.filter((name) => now[`/${name}`] === before[`/${name}`]),
      bad,
    );
    assert.deepEqual(readArchiveRows(archive)?.statuses, ['applied', 'applied', 'applied']);
  });

  test('they leave an unfinished erasure to a run in one process', async (t) => {
    const secret = `${chatLine({ role: 'user', content: 'A marmalade sandwich.' })}\n`;
    const folder = folderWith(t, { 'in/a.jsonl': secret + chatTranscript(24), 'in/b.jsonl': chatTranscript(24, 70) });
    const archive = join(folder, 'archive.db');
    const play = (...args: readonly string[]): Promise<Ran> => runWith([...args, '--archive', archive], ALWAYS);
    assert.equal((await play('-i', '-j', '2', join(folder, 'in'))).code, 0);
    const erased = await play('archive', 'erase', '--match', 'marmalade', '--yes');
    assert.equal(erased.code, 0, erased.terminal.errors());
    const database = new Database(archive);
    t.after(() => database.close());
    const isPurged = database.prepare('SELECT is_purged FROM erasures').pluck();
    assert.equal(isPurged.get(), 1);
    database.exec('UPDATE erasures SET is_purged = 0');
    await play('verify', '-j', '2', join(folder, 'in'));
    assert.equal(isPurged.get(), 0);
    await play('verify', join(folder, 'in', 'b.jsonl'));
    assert.notEqual(isPurged.get(), 0);
  });

  test('what cannot be compacted among many files fails or is skipped alone, with one line', async (t) => {
    const good = Array.from({ length: 8 }, (_, at) => `s${at}.jsonl`);
    const bad = ['broken', 'huge', 'locked', 'missing', 'pipe', 'vanishes'].map((name) => `${name}.jsonl`);
    const folder = folderWith(t, manyTranscripts([...good, ...bad]));
    const inFolder = (name: string): string => join(folder, 'in', name);
    for (const name of ['pipe.jsonl', 'missing.jsonl']) rmSync(inFolder(name));
    assert.equal(spawnSync('mkfifo', [inFolder('pipe.jsonl')]).status, 0);
    appendFileSync(inFolder('broken.jsonl'), '{"role":\n{"role":"user"}\n');
    truncateSync(inFolder('huge.jsonl'), 257 * 1024 * 1024);
    const lock = await createFileStore().lock(inFolder('locked.jsonl'));
    assert.ok(lock.ok);
    t.after(lock.value.release);
    const archive = join(folder, 'archive.db');
    // In turns, so that processes of good files see what happens to the bad ones.
    const names = good.flatMap((name, at) => [name, ...bad.slice(at, at + 1)]);
    const args = ['-i', '-j', '3', '--archive', archive, ...names.map(inFolder)];
    const { code, terminal } = await runWith(args, DYING);
    assert.equal(code, 1);
    // A note says by which sign a file was taken for one in use.
    const lines = terminal
      .errors()
      .split('\n')
      .filter((line) => !line.startsWith('note: '));
    for (const name of bad)
      assert.equal(lines.filter((line) => line.includes(`/${name}`)).length, 1, `${name}\n${terminal.errors()}`);
    assert.match(terminal.errors(), /^14 transcripts: 8 compacted, 1 skipped[^,]*, 5 failed$/m);
    assert.deepEqual(
      readArchiveRows(archive)?.statuses,
      good.map(() => 'applied'),
    );
  });

  test('an interruption leaves every file at work as it was, and what is done stays done', async (t) => {
    const played = playIn(t);
    const args = ['-i', '--json', '-j', JOBS, '--archive', played.archive, played.folder];
    const signalAt = { nth: Math.floor(STEPS_OF_ALL / 2), signal: 'SIGINT', folder: played.root } as const;
    const ended = await runProcess(args, { script: { signalAt } });
    assert.deepEqual([ended.code, ended.signal], [130, null], ended.stderr);
    await assertWhole(played);
    const reports = ended.stdout.split('\n').filter((line) => line !== '');
    assert.ok(reports.length > 0 && reports.length < NAMES.length, ended.stdout + ended.stderr);
  });

  test('killed at any step, every file is as it was or can be restored', async (t) => {
    for (let at = 1; at <= KILLS; at += 1) {
      const played = playIn(t);
      const args = ['-i', '-q', '-j', JOBS, '--archive', played.archive, played.folder];
      const nth = 1 + Math.floor(((at - 0.5) / KILLS) * (STEPS_OF_ALL - 1));
      const signalAt = { nth, signal: 'SIGKILL', folder: played.root } as const;
      // It has ended when nobody has its standard error any more, not even its workers.
      const killed = await runProcess(args, { script: { signalAt } });
      assert.equal(killed.signal, 'SIGKILL', `step ${nth}: ${killed.stderr}`);
      await assertRestorable(played);
      const { code, terminal } = await runWith(args, { ...ALWAYS, minFiles: 100 });
      assert.equal(code, 0, `step ${nth}: ${terminal.errors()}`);
      await assertWhole(played);
      rmSync(played.root, { recursive: true });
    }
  });
});

type Pool = {
  readonly pool: FilePool;
  readonly terminal: FakeTerminal;
  /** The names of the tasks that a process got. */
  readonly tasks: () => readonly string[];
};

/** A pool whose process notes each task, and then does this; `answer` says that the task is done, and `die` ends the process. */
function openPool(t: TestContext, behavior: string): Pool {
  const worker = `
    import { appendFileSync } from 'node:fs';
    const die = (signal = 'SIGKILL') => process.kill(process.pid, signal);
    process.on('message', ({ kind, name }) => {
      if (kind === 'close') process.disconnect();
      if (kind !== 'task') return;
      appendFileSync(new URL('tasks', import.meta.url), name + '\\n');
      const answer = (then) => process.send({ kind: 'result', result: { ok: true, value: null } }, then);
      ${behavior}
    });`;
  const folder = folderWith(t, { 'worker.mjs': worker, tasks: '' });
  const terminal = createFakeTerminal([]);
  const pool = createFilePool({
    composition: { archivePath: join(folder, 'archive.db') },
    terminal,
    clearLeftovers: async () => undefined,
    entry: new URL(`file://${folder}/worker.mjs`),
  });
  t.after(pool.close);
  return { pool, terminal, tasks: () => readFileSync(join(folder, 'tasks'), 'utf8').split('\n').slice(0, -1) };
}

const input = { path: '/nowhere/a.jsonl', name: 'a.jsonl', format: null };
const NOTHING = (): void => undefined;
const progress = { update: NOTHING, finish: NOTHING };
const verify = ({ pool }: Pool): Promise<unknown> => pool.useCases.verifyFile({ input }, progress);
const DONE = { ok: true, value: null };
const died = (reason: string): unknown => ({ ok: false, error: { kind: 'worker-died', file: 'a.jsonl', reason } });

suite('a process of the pool', () => {
  test('is believed if it said that a file was done just before it died, and the next file gets another', async (t) => {
    const pool = openPool(t, 'answer(() => die());');
    assert.deepEqual(await verify(pool), DONE);
    while (pool.terminal.children.size > 0) await setImmediate();
    assert.deepEqual(await verify(pool), DONE);
  });

  test('had begun nothing if a signal of the terminal ended it', async (t) => {
    const pool = openPool(t, "die('SIGINT');");
    assert.deepEqual(await verify(pool), died('its process ended with SIGINT'));
    pool.terminal.interrupt();
    assert.deepEqual(await verify(pool), { ok: false, error: { kind: 'interrupted' } });
  });

  test('is killed when the program ends, and forgotten when it has ended', async (t) => {
    const pool = openPool(t, '');
    const verifying = verify(pool);
    while (pool.tasks().length === 0) await setImmediate();
    for (const child of pool.terminal.children) child.kill('SIGKILL');
    assert.deepEqual(await verifying, died('its process ended with SIGKILL'));
    assert.equal(pool.terminal.children.size, 0);
  });

  test('is not started after the end of the session', async (t) => {
    const pool = openPool(t, 'answer();');
    await pool.pool.close();
    assert.deepEqual(await verify(pool), died('the run had ended'));
    assert.deepEqual(pool.tasks(), []);
  });
});

const MB = 1024 * 1024;

/** How many processes are started for files of these sizes, and how many files are worked on at a time. */
async function opened(
  t: TestContext,
  sizesMb: readonly number[],
  request: { readonly jobs: number | null; readonly isOffline?: boolean; readonly needsMemory?: boolean },
): Promise<readonly [processes: number, jobs: number]> {
  const folder = folderWith(t, Object.fromEntries(sizesMb.map((_, at) => [`${at}.jsonl`, ''])));
  const files = sizesMb.map((sizeMb, at) => {
    const path = join(folder, `${at}.jsonl`);
    truncateSync(path, sizeMb * MB);
    return { path };
  });
  const { signal } = new AbortController();
  const composition = { archivePath: '/nowhere/archive.db', progress, signal, stdout: NOTHING };
  const useCases = createUseCases({ ...composition, removeAtExit: () => NOTHING });
  const started: number[] = [];
  const startProcesses = async (processes: number) => {
    started.push(processes);
    return useCases;
  };
  const session = { useCases, poolRules: DEFAULT_POOL_RULES, startProcesses };
  const { jobs } = await openFilesAtWork(session, { files, isOffline: true, needsMemory: true, ...request });
  return [started[0] ?? 0, jobs];
}

test('several files are worked on in as many processes as are asked for', async (t) => {
  assert.deepEqual(await opened(t, [1, 1, 1, 1, 1], { jobs: 3 }), [3, 3]);
  assert.deepEqual(await opened(t, [1, 1, 1, 1], { jobs: 9 }), [4, 4]);
});

test('few or small files are not worth a process', async (t) => {
  assert.deepEqual(await opened(t, [1, 1, 1], { jobs: 3 }), [0, 3]);
  assert.deepEqual(await opened(t, [0, 0, 0, 0, 0], { jobs: null }), [0, 1]);
});

test('a large file has a process of its own, unless it is written to standard output or a service summarizes', async (t) => {
  assert.deepEqual(await opened(t, [20], { jobs: null }), [1, 1]);
  assert.deepEqual(await opened(t, [1, 20], { jobs: 2 }), [1, 1]);
  assert.deepEqual(await opened(t, [20], { jobs: null, needsMemory: false }), [0, 1]);
  assert.deepEqual(await opened(t, [20], { jobs: null, isOffline: false }), [0, 1]);
});
