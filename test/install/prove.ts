import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { startEmbeddingServer } from '../support/embedding-server.ts';
import { folderWith } from '../support/folders.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { endOf, type Ended } from '../support/program.ts';

const FIXTURE = join(import.meta.dirname, '../../fixtures/transcripts/claude-code/session.jsonl');
/** The capture that a hook starts goes on after the hook. */
const CAPTURE_MS = 20_000;

export type Installed = {
  readonly command: string;
  /** All that the program is told by its environment. */
  readonly environment: Readonly<Record<string, string>>;
};

type RunOptions = { readonly input?: string; readonly environment?: Readonly<Record<string, string>> };

/** Runs the installed program in a folder, where it has to succeed. */
function runnerOf({ command, environment }: Installed, cwd: string) {
  const start = async (argv: readonly string[], options: RunOptions = {}): Promise<Ended> => {
    const child = spawn(command, argv, { cwd, env: { ...environment, ...options.environment }, stdio: 'pipe' });
    child.stdin.on('error', () => undefined); // it has ended: its exit code says why
    child.stdin.end(options.input ?? '');
    return endOf(child);
  };
  const run = async (argv: readonly string[], options?: RunOptions): Promise<string> => {
    const { code, stdout, stderr } = await start(argv, options);
    assert.equal(code, 0, `compact ${argv.join(' ')}: ${stderr}`);
    return stdout;
  };
  return { run, start };
}

/** The main job and what belongs to it: compact, search, verify, report, restore, with processes for single files. */
export async function proveMainJob(t: TestContext, installed: Installed): Promise<void> {
  const folder = folderWith(t, { 'vectors.toml': '' });
  const { run } = runnerOf(installed, folder);
  const original = readFileSync(FIXTURE);
  const files = ['first.jsonl', 'second.jsonl'].map((name) => join(folder, name));
  for (const file of files) writeFileSync(file, original);
  const archive = ['--archive', join(folder, 'archive.db')];

  await run(['first.jsonl', ...archive]);
  assert.deepEqual(readFileSync(join(folder, 'first.jsonl')), original);
  assert.ok(existsSync(join(folder, 'first.compact.jsonl')));
  await run(['-i', '-j', '2', ...archive, ...files]);
  for (const file of files) assert.ok(readFileSync(file).length < original.length / 2, `${file} is not smaller`);

  assert.match(await run(['search', ...archive, 'parser']), /parser/);
  await run(['verify', '-j', '2', ...archive, ...files]);
  await run(['report', ...archive, '-o', 'page.html', 'first.jsonl']);
  assert.match(readFileSync(join(folder, 'page.html'), 'utf8'), /^<!doctype html>[^]*<script/i);

  const server = await startEmbeddingServer(t);
  const settings = `[embedding]\nprovider = "openai-compat"\nmodel = "toy"\nbase_url = "${server.url}"\n`;
  writeFileSync(join(folder, 'vectors.toml'), settings);
  await run(['archive', 'embed', '--config', 'vectors.toml', ...archive]);
  const byMeaning = await run(['search', '--json', '--config', 'vectors.toml', ...archive, 'parser']);
  assert.equal(server.asked.at(-1)?.input.length, 1, byMeaning);

  await run(['restore', '-i', ...archive, ...files]);
  for (const file of files) assert.deepEqual(readFileSync(file), original);
}

/** What shells and agents use. */
export async function proveIntegrations(t: TestContext, installed: Installed): Promise<void> {
  const folder = folderWith(t, { '.claude/': '', '.config/opencode/': '', '.pi/agent/': '' });
  const home = { HOME: folder };
  const { run } = runnerOf({ ...installed, environment: { ...installed.environment, ...home } }, folder);
  const transcript = join(folder, 'session.jsonl');
  cpSync(FIXTURE, transcript);

  const completion = spawnSync('bash', ['-n'], { input: await run(['completion', 'bash']), encoding: 'utf8' });
  assert.deepEqual([completion.status, completion.stderr], [0, '']);

  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  };
  assert.match(await run(['mcp'], { input: `${JSON.stringify(initialize)}\n` }), /"serverInfo":\{"name":"compact"/);

  await run(['install']);
  const settings = JSON.parse(readFileSync(join(folder, '.claude/settings.json'), 'utf8'));
  const input = JSON.stringify({ session_id: 'one', transcript_path: transcript });
  const answers = ['PreCompact', 'SessionStart', 'SessionEnd'].map((event) => {
    const command: string = settings.hooks[event][0].hooks[0].command;
    const env = { ...installed.environment, ...home };
    const ended = spawnSync('/bin/sh', ['-c', command], { input, env, encoding: 'utf8', cwd: folder });
    assert.deepEqual([ended.status, ended.stderr], [0, ''], command);
    return ended.stdout;
  });
  assert.match(answers[1] ?? '', /"hookEventName":"SessionStart"/);
  for (const until = Date.now() + CAPTURE_MS; !(await run(['capture', '--list', '--json'])).includes(transcript);)
    assert.ok(Date.now() < until, 'the hook captured nothing');

  for (const plugin of ['.config/opencode/plugins/compact.js', '.pi/agent/extensions/compact.js']) {
    const check = `const { default: made } = await import(${JSON.stringify(join(folder, plugin))});
      if (!['object', 'function'].includes(typeof made)) throw new Error(typeof made);`;
    const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', check], { encoding: 'utf8' });
    assert.equal(ended.status, 0, `${plugin}: ${ended.stderr}`);
  }
  await run(['install', '--undo']);
  assert.equal(existsSync(join(folder, '.claude/settings.json')), false);
}

/** Workers that share a queue and an archive in a real Postgres. */
export async function proveWork(t: TestContext, installed: Installed): Promise<void> {
  const folder = folderWith(t, { 'logs/': '' });
  const { run } = runnerOf(installed, folder);
  const original = readFileSync(FIXTURE);
  const files = ['one.jsonl', 'two.jsonl'].map((name) => join(folder, 'logs', name));
  mkdirSync(join(folder, 'logs'), { recursive: true });
  for (const file of files) writeFileSync(file, original);
  const server = startPostgres();
  t.after(server.remove);
  const archive = ['--archive', server.url];
  await run(['work', '--add', '-i', ...archive, 'logs/*.jsonl']);
  await run(['work', '--folder', 'logs', ...archive]);
  const status = JSON.parse(await run(['work', '--status', '--json', ...archive]));
  assert.deepEqual([status.done, status.failed], [2, 0], JSON.stringify(status));
  await run(['verify', ...archive, ...files]);
  await run(['restore', '-i', ...archive, ...files]);
  for (const file of files) assert.deepEqual(readFileSync(file), original);
}
