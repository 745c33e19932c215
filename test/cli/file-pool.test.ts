import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { createUseCases } from '../../src/cli/compose.ts';
import type { ThreadRules } from '../../src/cli/files-at-work.ts';
import { run } from '../../src/cli/run.ts';
import { readArchiveRows } from '../support/archive-rows.ts';
import { chatLine, chatTranscript, prose } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { endOf, startProcess } from '../support/program.ts';
import { createFakeTerminal, type FakeTerminal } from './fakes.ts';

const ALWAYS: ThreadRules = { minFiles: 2, minBytes: 0, minBytesAlone: Number.POSITIVE_INFINITY };
const DYING: ThreadRules = { ...ALWAYS, entry: new URL('../support/dying-worker.ts', import.meta.url) };
const FIXTURES = join(import.meta.dirname, '../../fixtures/transcripts');
/** Some of every format: what threads may disturb is the order of files, whatever is in them. */
const SOME_FIXTURES = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
  .filter((name) => statSync(join(FIXTURES, name)).isFile())
  .toSorted()
  .filter((_, at) => at % 3 === 0);

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

type Played = { readonly folder: string; readonly archive: string; readonly before: Readonly<Record<string, string>> };

/** Each file is what it was, or gives it back. */
async function assertRestorable({ folder, archive, before }: Played): Promise<void> {
  for (const [name, bytes] of Object.entries(before)) {
    const file = join(folder, name);
    if (readFileSync(file, 'base64') === bytes) continue;
    const { code, terminal } = await runWith(['restore', '--all', '--archive', archive, file], ALWAYS);
    assert.deepEqual([code, Buffer.from(terminal.out()).toString('base64') === bytes], [0, true], terminal.errors());
  }
}

/** And nothing else is left. */
async function assertWhole(played: Played): Promise<void> {
  await assertRestorable(played);
  assert.deepEqual(Object.keys(readAll(played.folder)).toSorted(), Object.keys(played.before).toSorted());
  const rows = readArchiveRows(played.archive);
  assert.deepEqual([rows?.damage, rows?.statuses.filter((status) => status !== 'applied')], [[], []]);
}

suite('files in worker threads', { timeout: 1_800_000 }, () => {
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
          .replaceAll(/("label":"[^"]*(?:Z|-messages-\d+-\d+))-\d+"/g, '$1"');
        told.push(code, reports, terminal.errors().replaceAll(folder, ''));
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

  test('a thread that dies fails its file with one line, and all others are done', async (t) => {
    const names = ['a.jsonl', 'exits.jsonl', 'n.jsonl', 'throws.jsonl', 'z.jsonl'];
    const folder = folderWith(t, manyTranscripts(names));
    const before = readAll(join(folder, 'in'));
    const archive = join(folder, 'archive.db');
    const { code, terminal } = await runWith(['-i', '-j', '2', '--archive', archive, join(folder, 'in')], DYING);
    assert.equal(code, 1);
    const lines = terminal.errors().split('\n');
    for (const [name, reason] of [
      ['exits.jsonl', 'it exited by itself'],
      ['throws.jsonl', 'thrown behind its back'],
    ] as const) {
      const about = lines.filter((line) => line.includes(name));
      assert.equal(about.length, 1, terminal.errors());
      assert.match(about[0] ?? '', new RegExp(reason));
      assert.equal(readAll(join(folder, 'in'))[`/${name}`], before[`/${name}`]);
    }
    assert.match(terminal.errors(), /^5 transcripts: 3 compacted, 2 failed; /m);
    assert.deepEqual(readdirSync(join(folder, 'in')), names);
    assert.deepEqual(readArchiveRows(archive)?.statuses, ['applied', 'applied', 'applied']);
  });

  test('a pipe, a broken file, a missing one and a link to nothing among many fail alone', async (t) => {
    const names = Array.from({ length: 20 }, (_, at) => `s${at}.jsonl`);
    const folder = folderWith(t, manyTranscripts(names));
    const inFolder = (name: string): string => join(folder, 'in', name);
    rmSync(inFolder('s3.jsonl'));
    assert.equal(spawnSync('mkfifo', [inFolder('s3.jsonl')]).status, 0);
    writeFileSync(inFolder('s5.jsonl'), `${readFileSync(inFolder('s5.jsonl'), 'utf8')}{"role":\n{"role":"user"}\n`);
    rmSync(inFolder('s7.jsonl'));
    const archive = join(folder, 'archive.db');
    const { code, terminal } = await runWith(['-i', '-j', '4', '--archive', archive, ...names.map(inFolder)], ALWAYS);
    assert.equal(code, 1);
    for (const name of ['s3.jsonl', 's5.jsonl', 's7.jsonl'])
      assert.equal(
        terminal
          .errors()
          .split('\n')
          .filter((line) => line.includes(`${name}:`)).length,
        1,
      );
    assert.match(terminal.errors(), /20 transcripts: 17 compacted, 3 failed; /);
  });

  test('an interruption leaves every file at work as it was, and what is done stays done', async (t) => {
    const names = Array.from({ length: 10 }, (_, at) => `s${10 + at}.jsonl`);
    const folder = folderWith(t, Object.fromEntries(names.map((name, at) => [`in/${name}`, chatTranscript(600, at)])));
    const before = readAll(join(folder, 'in'));
    const archive = join(folder, 'archive.db');
    const child = startProcess(['-i', '--json', '-j', '4', '--archive', archive, join(folder, 'in')]);
    child.stdout?.once('data', () => child.kill('SIGINT'));
    const ended = await endOf(child);
    assert.deepEqual([ended.code, ended.signal], [130, null], ended.stderr);
    await assertWhole({ folder: join(folder, 'in'), archive, before });
    const reports = ended.stdout.split('\n').filter((line) => line !== '');
    assert.ok(reports.length > 0 && reports.length < names.length, ended.stderr);
  });

  test('killed at any moment, every file is as it was or can be restored', async (t) => {
    const names = Array.from({ length: 10 }, (_, at) => `s${10 + at}.jsonl`);
    const original = Object.fromEntries(names.map((name, at) => [`in/${name}`, chatTranscript(300, at)]));
    const runs = Number(process.env['KILLS'] ?? 2);
    for (let at = 0; at < runs; at += 1) {
      const folder = folderWith(t, original);
      const before = readAll(join(folder, 'in'));
      const archive = join(folder, 'archive.db');
      const args = ['-i', '-q', '-j', '4', '--archive', archive, join(folder, 'in')];
      const child = startProcess(args);
      const ended = endOf(child);
      // Long enough for the first files to be done, on most machines.
      const timer = setTimeout(() => child.kill('SIGKILL'), 300 + Math.random() * 1500);
      await ended;
      clearTimeout(timer);
      await assertRestorable({ folder: join(folder, 'in'), archive, before });
      assert.equal((await runWith(args, { ...ALWAYS, minFiles: 100 })).code, 0);
      await assertWhole({ folder: join(folder, 'in'), archive, before });
    }
  });
});
