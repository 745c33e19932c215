import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { createFileStore } from '../../src/adapters/fs/file-store.ts';
import { createUseCases } from '../../src/compose/create-use-cases.ts';
import type { ThreadRules } from '../../src/cli/files-at-work.ts';
import { run } from '../../src/cli/run.ts';
import { readArchiveRows } from '../support/archive-rows.ts';
import { chatLine, chatTranscript, prose } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { runProcess } from '../support/program.ts';
import { createFakeTerminal, type FakeTerminal } from './fakes.ts';

/** What threads run is the bundle, which starts in half the time. */
const ALWAYS: ThreadRules = {
  minFiles: 2,
  minBytes: 0,
  minBytesAlone: Number.POSITIVE_INFINITY,
  entry: new URL('../../dist/cli/file-worker.js', import.meta.url),
  processEntry: new URL('../../dist/cli/worker-process-entry.js', import.meta.url),
};
const DYING: ThreadRules = { ...ALWAYS, entry: new URL('../support/dying-worker.ts', import.meta.url) };
const FIXTURES = join(import.meta.dirname, '../../fixtures/transcripts');
/** How often the program is killed, at steps from the first to the last. `npm run kills` asks for more, and gets more fixtures too. */
const FEW_KILLS = 2;
const KILLS = Number(process.env['KILLS'] ?? FEW_KILLS);
/** About one of every format: what threads may disturb is the order of files, whatever is in them. */
const SOME_FIXTURES = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
  .filter((name) => statSync(join(FIXTURES, name)).isFile())
  .toSorted()
  .filter((_, at) => at % (KILLS > FEW_KILLS ? 3 : 14) === 0);

type Ran = { readonly code: number; readonly terminal: FakeTerminal };

async function runWith(args: readonly string[], threadRules: ThreadRules): Promise<Ran> {
  const terminal = createFakeTerminal(args);
  const code = await run({ terminal, loadUseCases: async () => createUseCases, threadRules });
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

suite('files in worker threads', { timeout: 7_200_000 }, () => {
  test('results, reports and their order are the same for any number of threads', async (t) => {
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
          .replaceAll(/"archiveBytes":\d+/g, '')
          .replaceAll(/("label":"[^"]*(?:Z|-messages-\d+-\d+))-\d+"/g, '$1"');
        const summary = terminal.errors().replaceAll(folder, '');
        // How many pages the archive takes depends on the order too.
        told.push(
          code,
          reports,
          summary.replaceAll(/(?<=archive \+ )[\d.]+|[\d.]+(?= kB (?:more|less) on disk)/g, 'some'),
        );
      }
      const files = readAll(join(folder, 'in'));
      const undone = await runWith(['undo', '--json', ...archive], ALWAYS);
      told.push(undone.code, undone.terminal.out().replaceAll(folder, ''), readAll(join(folder, 'in')));
      return { told, files };
    };
    const alone = await play('1');
    assert.deepEqual(await play('3'), alone);
  });

  test('a large file alone gives the same in a thread, which archives in a thread of its own', async (t) => {
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

  test("SQLite's log is gone after a run, however many threads had the archive open", async (t) => {
    const folder = folderWith(t, manyTranscripts(NAMES));
    const archive = join(folder, 'archive.db');
    for (const args of [['-i'], ['verify'], ['undo']]) {
      const paths = args[0] === 'undo' ? [] : [join(folder, 'in')];
      const { code, terminal } = await runWith([...args, '-q', '-j', '4', '--archive', archive, ...paths], ALWAYS);
      assert.equal(code, 0, terminal.errors());
      assert.deepEqual(readdirSync(folder).toSorted(), ['archive.db', 'in'], args.join(' '));
    }
  });

  test('a thread that dies fails its file with one line, and all others are done', async (t) => {
    const names = ['a.jsonl', 'exits.jsonl', 'n.jsonl', 'throws.jsonl', 'z.jsonl'];
    const folder = folderWith(t, manyTranscripts(names));
    const before = readAll(join(folder, 'in'));
    const archive = join(folder, 'archive.db');
    const { code, terminal } = await runWith(['-i', '-j', '2', '--archive', archive, join(folder, 'in')], DYING);
    assert.equal(code, 1);
    const lines = terminal.errors().split('\n');
    for (const [name, reason] of [
      ['exits.jsonl', 'its thread exited unexpectedly'],
      ['throws.jsonl', 'thrown behind its back'],
    ] as const) {
      const about = lines.filter((line) => line.includes(name));
      assert.equal(about.length, 1, terminal.errors());
      assert.match(about[0] ?? '', new RegExp(reason));
      assert.equal(readAll(join(folder, 'in'))[`/${name}`], before[`/${name}`]);
    }
    assert.match(terminal.errors(), /^5 transcripts: 3 compacted, 2 failed$/m);
    assert.deepEqual(readdirSync(join(folder, 'in')), names);
    assert.deepEqual(readArchiveRows(archive)?.statuses, ['applied', 'applied', 'applied']);
  });

  test('a file that crashes the process of the threads fails with one line, and all others are done', async (t) => {
    const names = ['a.jsonl', 'b.jsonl', 'c.jsonl', 'crashes.jsonl', 'too-crashes.jsonl', 'z.jsonl'];
    const folder = folderWith(t, manyTranscripts(names));
    const before = readAll(join(folder, 'in'));
    const archive = join(folder, 'archive.db');
    const { code, terminal } = await runWith(['-i', '-j', '3', '--archive', archive, join(folder, 'in')], DYING);
    assert.equal(code, 1);
    const lines = terminal.errors().split('\n');
    for (const name of ['crashes.jsonl', 'too-crashes.jsonl']) {
      const about = lines.filter((line) => line.includes(`/${name}`));
      assert.equal(about.length, 1, terminal.errors());
      assert.match(about[0] ?? '', /its process ended with SIGSEGV/);
      assert.equal(readAll(join(folder, 'in'))[`/${name}`], before[`/${name}`]);
    }
    // A file that was done when the process crashed, but not reported yet, has nothing new when it is tried again.
    assert.match(terminal.errors(), /^6 transcripts: .*, 2 failed$/m);
    assert.deepEqual(readdirSync(join(folder, 'in')), names);
    const unchanged = names.filter((name) => readAll(join(folder, 'in'))[`/${name}`] === before[`/${name}`]);
    assert.deepEqual(unchanged, ['crashes.jsonl', 'too-crashes.jsonl']);
    assert.deepEqual(readArchiveRows(archive)?.statuses, ['applied', 'applied', 'applied', 'applied']);
  });

  test('threads leave an unfinished erasure to a run without them', async (t) => {
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
    // In turns, so that threads of good files see what happens to the bad ones.
    const names = good.flatMap((name, at) => [name, ...bad.slice(at, at + 1)]);
    const args = ['-i', '-j', '3', '--archive', archive, ...names.map(inFolder)];
    const { code, terminal } = await runWith(args, DYING);
    assert.equal(code, 1);
    const lines = terminal.errors().split('\n');
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
    const args = ['-i', '--json', '-j', '4', '--archive', played.archive, played.folder];
    const signalAt = { nth: Math.floor(STEPS_OF_ALL / 2), signal: 'SIGINT' } as const;
    const ended = await runProcess(args, { script: { signalAt } });
    assert.deepEqual([ended.code, ended.signal], [130, null], ended.stderr);
    await assertWhole(played);
    const reports = ended.stdout.split('\n').filter((line) => line !== '');
    assert.ok(reports.length > 0 && reports.length < NAMES.length, ended.stdout + ended.stderr);
  });

  test('killed at any step, every file is as it was or can be restored', async (t) => {
    for (let at = 1; at <= KILLS; at += 1) {
      const played = playIn(t);
      const args = ['-i', '-q', '-j', '4', '--archive', played.archive, played.folder];
      const nth = 1 + Math.floor(((at - 0.5) / KILLS) * (STEPS_OF_ALL - 1));
      const killed = await runProcess(args, { script: { signalAt: { nth, signal: 'SIGKILL' } } });
      assert.equal(killed.signal, 'SIGKILL', `step ${nth}: ${killed.stderr}`);
      await assertRestorable(played);
      const { code, terminal } = await runWith(args, { ...ALWAYS, minFiles: 100 });
      assert.equal(code, 0, `step ${nth}: ${terminal.errors()}`);
      await assertWhole(played);
      rmSync(played.root, { recursive: true });
    }
  });
});
