import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { chatTranscript } from '../support/chat.ts';
import { CODE_CACHE, folderWith } from '../support/folders.ts';

const ROOT = join(import.meta.dirname, '../..');
const BIN = join(ROOT, 'bin/compact.js');
const SESSION = join(ROOT, 'fixtures/transcripts/claude-code/session.jsonl');

type Run = { readonly code: number | null; readonly stdout: Buffer; readonly stderr: string };

/** The program in a folder of its own: an empty home, its archive inside, no configuration but what is put there. */
function program(folder: string): (args: readonly string[], input?: Buffer) => Run {
  const home = join(folder, '.home');
  mkdirSync(home, { recursive: true });
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    XDG_DATA_HOME: home,
    XDG_CONFIG_HOME: home,
    CI: '1',
    ...CODE_CACHE,
  };
  return (args, input) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], {
      cwd: folder,
      env,
      input: input ?? Buffer.alloc(0),
      maxBuffer: Number.POSITIVE_INFINITY,
    });
    return { code: status, stdout, stderr: stderr.toString() };
  };
}

function setUp(
  t: TestContext,
  files: Readonly<Record<string, string>> = {},
): { readonly folder: string; readonly run: ReturnType<typeof program> } {
  const folder = folderWith(t, files);
  return { folder, run: program(folder) };
}

test('the main job: a Claude Code session is compacted beside itself, verifies, and comes back byte for byte', (t) => {
  const { folder, run } = setUp(t);
  copyFileSync(SESSION, join(folder, 'session.jsonl'));
  const compacted = run(['session.jsonl']);
  assert.equal(compacted.code, 0, compacted.stderr);
  assert.equal(compacted.stdout.length, 0);
  assert.match(compacted.stderr, /session\.jsonl → session\.compact\.jsonl/);
  assert.deepEqual(readdirSync(folder).toSorted(), ['.home', 'session.compact.jsonl', 'session.jsonl']);
  assert.equal(run(['verify', 'session.compact.jsonl']).code, 0);
  const restored = run(['restore', 'session.compact.jsonl']);
  assert.deepEqual([restored.code, restored.stdout.equals(readFileSync(SESSION))], [0, true]);
});

test('through a pipe: stdin to stdout, and back', (t) => {
  const { run } = setUp(t);
  const compacted = run(['-'], readFileSync(SESSION));
  assert.equal(compacted.code, 0, compacted.stderr);
  const restored = run(['restore', '-'], compacted.stdout);
  assert.ok(restored.stdout.equals(readFileSync(SESSION)));
});

test('in place, again and again: the second run changes nothing', (t) => {
  const { folder, run } = setUp(t, { 'talk.jsonl': chatTranscript(30) });
  const first = JSON.parse(run(['-i', '--json', 'talk.jsonl']).stdout.toString());
  const once = readFileSync(join(folder, 'talk.jsonl'));
  const second = JSON.parse(run(['-i', '--json', 'talk.jsonl']).stdout.toString());
  assert.deepEqual([first.result, second.result, second.reason], ['compacted', 'skipped', 'nothing-new']);
  assert.deepEqual(readFileSync(join(folder, 'talk.jsonl')), once);
  assert.equal(run(['restore', '--all', '-i', 'talk.jsonl']).code, 0);
  assert.equal(readFileSync(join(folder, 'talk.jsonl'), 'utf8'), chatTranscript(30));
});

test('a dry run leaves the folder unchanged', (t) => {
  const { folder, run } = setUp(t, { 'talk.jsonl': chatTranscript(30) });
  const planned = run(['-n', '--json', 'talk.jsonl']);
  assert.equal(JSON.parse(planned.stdout.toString()).result, 'planned');
  assert.deepEqual(readdirSync(folder).toSorted(), ['.home', 'talk.jsonl']);
  assert.deepEqual(readdirSync(join(folder, '.home')), []);
});

test('a malformed line is named with line and column, nothing is written, and the other files are done', (t) => {
  const { folder, run } = setUp(t, {
    'bad.jsonl': `${chatTranscript(3)}{"role":"user","content":"torn`,
    'good.jsonl': chatTranscript(30),
  });
  const done = run(['-i', 'bad.jsonl', 'good.jsonl']);
  assert.equal(done.code, 1);
  assert.match(done.stderr, /bad\.jsonl:9:31: not valid JSON \(unexpected end of line\)\. Use --keep-invalid/);
  assert.equal(readFileSync(join(folder, 'bad.jsonl'), 'utf8'), `${chatTranscript(3)}{"role":"user","content":"torn`);
  assert.notEqual(readFileSync(join(folder, 'good.jsonl'), 'utf8'), chatTranscript(30));
});

test('a torn last line is carried along with --keep-invalid and stays torn, so that the program can finish it', async (t) => {
  const torn = `${chatTranscript(30)}{"role":"user","content":"torn`;
  const { folder, run } = setUp(t, { 'torn.jsonl': torn });
  assert.equal(run(['-i', '--keep-invalid', 'torn.jsonl']).code, 0);
  assert.match(readFileSync(join(folder, 'torn.jsonl'), 'utf8'), /\n\{"role":"user","content":"torn$/);
  assert.equal(run(['restore', 'torn.jsonl']).stdout.toString(), torn);
});

test('files that are not transcripts are reported with what they look like, and stay unchanged', (t) => {
  const { folder, run } = setUp(t, {
    'empty.jsonl': '',
    'document.jsonl': '{\n  "a": 1\n}\n',
    'notes.jsonl': 'Dear diary\n',
  });
  writeFileSync(join(folder, 'utf16.jsonl'), Buffer.from('\ufeff{"role":"user"}\n', 'utf16le'));
  writeFileSync(join(folder, 'binary.jsonl'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 1]));
  const said = (name: string): string => {
    const { code, stderr } = run(['-i', name]);
    assert.equal(code, 1, name);
    return stderr;
  };
  assert.match(said('empty.jsonl'), /empty/);
  assert.match(said('document.jsonl'), /one JSON document/);
  assert.match(said('utf16.jsonl'), /UTF-16/);
  assert.match(said('binary.jsonl'), /binary/);
  assert.match(said('notes.jsonl'), /plain text/);
  assert.deepEqual(readdirSync(folder).toSorted(), [
    '.home',
    'binary.jsonl',
    'document.jsonl',
    'empty.jsonl',
    'notes.jsonl',
    'utf16.jsonl',
  ]);
});

test('escape sequences of a transcript never reach the terminal raw', (t) => {
  const evil = JSON.stringify({
    role: 'user',
    id: '\u001b]0;owned\u0007',
    name: '\u001b[31m',
    content: 'error \u001b[2J?',
  });
  const { run } = setUp(t, { 'evil\u001b[1m.jsonl': `${chatTranscript(3)}${evil}\n` });
  for (const args of [['score', '--explain'], ['score', '--json'], ['-n'], ['--conversation', '\u001b[5m']]) {
    const { stdout, stderr } = run([...args, 'evil\u001b[1m.jsonl']);
    assert.equal(`${stdout.toString()}${stderr}`.includes('\u001b'), false, args.join(' '));
  }
});

test('a folder of transcripts: each is compacted, results of earlier runs are skipped', (t) => {
  const { folder, run } = setUp(t, { 'logs/a.jsonl': chatTranscript(30), 'logs/deep/b.jsonl': chatTranscript(31) });
  assert.equal(run(['logs']).code, 0);
  assert.equal(run(['logs']).code, 0);
  assert.deepEqual(readdirSync(join(folder, 'logs')).toSorted(), ['a.compact.jsonl', 'a.jsonl', 'deep']);
  assert.equal(run(['verify', 'logs']).code, 0);
});

/** killed.test.ts and signals.test.ts cover each step; `npm run kills` (KILLS) adds more moments that nobody chose. */
const HAS_TIME = process.env['KILLS'] !== undefined;
const KILL_DELAYS_MS = HAS_TIME ? [60, 120, 180, 240, 300, 400, 500, 700] : [60];
const INTERRUPT_DELAYS_MS = HAS_TIME ? [100, 200, 300, 450, 600] : [100];

test('killed at any moment, the source is as it was or verifies, and the next run restores the original', async (t) => {
  const original = chatTranscript(500);
  const { folder, run } = setUp(t);
  const file = join(folder, 'talk.jsonl');
  const home = join(folder, '.home');
  const env = { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home, ...CODE_CACHE };
  const fates = new Set<string>();
  for (const delayMs of KILL_DELAYS_MS) {
    writeFileSync(file, original);
    const child = spawn(process.execPath, [BIN, '-i', '-q', '--keep-recent', `${5 + delayMs}`, 'talk.jsonl'], {
      cwd: folder,
      env,
      stdio: 'ignore',
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), delayMs);
    await new Promise((resolve) => child.once('exit', resolve));
    clearTimeout(timer);
    const now = readFileSync(file, 'utf8');
    fates.add(now === original ? 'as it was' : 'compacted');
    if (now !== original) assert.equal(run(['verify', 'talk.jsonl']).code, 0, `killed after ${delayMs} ms`);
    const again = run(['-i', '-q', '--keep-recent', '3', 'talk.jsonl']);
    assert.equal(again.code, 0, again.stderr);
    assert.equal(run(['restore', '--all', 'talk.jsonl']).stdout.toString(), original, `killed after ${delayMs} ms`);
  }
  assert.ok(fates.has('as it was'), [...fates].join());
});

test('interrupted at any moment, the file is as it was, or it was finished by then and verifies', async (t) => {
  const original = chatTranscript(500);
  const { folder, run } = setUp(t);
  const file = join(folder, 'talk.jsonl');
  const home = join(folder, '.home');
  const env = { PATH: process.env['PATH'], HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home, ...CODE_CACHE };
  const codes = new Set<number | null>();
  for (const [turn, delayMs] of INTERRUPT_DELAYS_MS.entries()) {
    writeFileSync(file, original);
    const child = spawn(process.execPath, [BIN, '-i', '-q', '--keep-recent', `${5 + delayMs}`, 'talk.jsonl'], {
      cwd: folder,
      env,
      stdio: 'ignore',
    });
    const timer = setTimeout(() => child.kill(turn % 2 === 0 ? 'SIGINT' : 'SIGTERM'), delayMs);
    const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
    clearTimeout(timer);
    codes.add(code);
    // Null: the signal came before the program had begun to listen for it.
    const interrupted = turn % 2 === 0 ? 130 : 143;
    assert.ok(code === interrupted || code === 0 || code === null, `exit code ${code} after ${delayMs} ms`);
    const isDone = readFileSync(file, 'utf8') !== original;
    assert.ok(isDone || code !== 0, `exit code ${code} after ${delayMs} ms`);
    assert.deepEqual(readdirSync(folder).toSorted(), ['.home', 'talk.jsonl']);
    if (isDone) assert.equal(run(['verify', 'talk.jsonl']).code, 0, `interrupted after ${delayMs} ms`);
  }
  assert.ok(
    [...codes].some((code) => code !== 0),
    [...codes].join(),
  );
});
