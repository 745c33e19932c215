import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { chatTranscript } from '../support/chat.ts';
import { CODE_CACHE, folderWith } from '../support/folders.ts';
import { runHere } from '../support/program.ts';

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

test('a torn last line is carried along with --keep-invalid and stays torn, so that the program can finish it', async (t) => {
  const torn = `${chatTranscript(30)}{"role":"user","content":"torn`;
  const folder = folderWith(t, { 'torn.jsonl': torn });
  const run = (...args: readonly string[]) =>
    runHere([...args, '--archive', join(folder, 'archive.db'), join(folder, 'torn.jsonl')]);
  assert.equal((await run('-i', '--keep-invalid')).code, 0);
  assert.match(readFileSync(join(folder, 'torn.jsonl'), 'utf8'), /\n\{"role":"user","content":"torn$/);
  assert.equal((await run('restore')).stdout, torn);
});

/**
 * killed.test.ts and signals.test.ts end each step; `npm run kills` (KILLS) adds moments that nobody chose.
 */
const KILL_DELAYS_MS = [60, 120, 180, 240, 300, 400, 500, 700];

/** Starts the program on the file in this folder, and sends it a signal after a while. Resolves to its exit code. */
async function runUntil(folder: string, signal: NodeJS.Signals, delayMs: number): Promise<number | null> {
  const home = join(folder, '.home');
  const env = { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home, ...CODE_CACHE };
  const args = [BIN, '-i', '-q', '--keep-recent', `${5 + delayMs}`, 'talk.jsonl'];
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: 'ignore' });
  const timer = setTimeout(() => child.kill(signal), delayMs);
  const [code] = await once(child, 'exit');
  clearTimeout(timer);
  return code;
}

suite('at a moment that nobody chose', { skip: process.env['KILLS'] === undefined && 'npm run kills' }, () => {
  test('killed, the source is as it was or verifies, and the next run restores the original', async (t) => {
    const original = chatTranscript(500);
    const { folder, run } = setUp(t);
    const file = join(folder, 'talk.jsonl');
    const fates = new Set<string>();
    for (const delayMs of KILL_DELAYS_MS) {
      writeFileSync(file, original);
      await runUntil(folder, 'SIGKILL', delayMs);
      const now = readFileSync(file, 'utf8');
      fates.add(now === original ? 'as it was' : 'compacted');
      if (now !== original) assert.equal(run(['verify', 'talk.jsonl']).code, 0, `killed after ${delayMs} ms`);
      const again = run(['-i', '-q', '--keep-recent', '3', 'talk.jsonl']);
      assert.equal(again.code, 0, again.stderr);
      const restored = run(['restore', '--all', 'talk.jsonl']).stdout.toString();
      assert.equal(restored, original, `killed after ${delayMs} ms`);
    }
    assert.ok(fates.has('as it was'), [...fates].join());
  });
});
