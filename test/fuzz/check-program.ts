import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FuzzCase } from './case.ts';
import type { Note } from './check.ts';
import { createHistory } from './history.ts';
import type { CaseSettings } from './settings.ts';

const PROGRAM = join(import.meta.dirname, '../../bin/compact.js');

type Run = { readonly code: number | null; readonly stdout: Buffer; readonly stderr: string };

/** The same through the program itself: exit codes, what it prints, and the bytes. Needs `dist`. */
export function checkProgram({ format, steps }: FuzzCase, note: Note): void {
  const folder = mkdtempSync(join(tmpdir(), 'compact-fuzz-'));
  const path = join(folder, 'any.jsonl');
  const config = join(folder, 'settings.toml');
  const history = createHistory();
  const formatFlags = format === null ? [] : ['--format', format];
  const run = (...argv: readonly string[]): Run => runProgram(folder, [...argv, ...formatFlags, '--config', config]);
  try {
    for (const { settings, ...step } of steps) {
      const before = history.append(step);
      writeFileSync(path, before);
      writeFileSync(config, configOf(settings));
      expectCode(run('score', path, '--json', ...policyFlags(settings)), [0, 1]);
      const done = run('-i', path, '--json', ...policyFlags(settings));
      expectCode(done, [0, 1]);
      const after = readFileSync(path);
      const result = done.code === 1 ? 'failed' : resultOf(done.stdout);
      note(`program ${result}`);
      if (result !== 'compacted') assert.ok(after.equals(before), `${result}, and the file changed`);
      if (done.code === 1) return;
      history.replace(after, result === 'compacted');
      if (result !== 'compacted') continue;
      expectCode(run('verify', path), [0]);
      const restored = run('restore', '--all', path);
      expectCode(restored, [0]);
      assert.ok(restored.stdout.equals(history.original()), 'restore --all gives other bytes than the original');
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runProgram(folder: string, argv: readonly string[]): Run {
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
    NO_COLOR: '1',
  };
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...argv], {
    cwd: folder,
    env,
    input: '',
    maxBuffer: Number.POSITIVE_INFINITY,
  });
  const said = stderr.toString();
  assert.equal(signal, null, `ended by ${signal}: ${said}`);
  assert.doesNotMatch(said, /This is a bug|^ {4}at .*:\d+:\d+\)?$/m);
  // oxlint-disable-next-line no-control-regex -- control characters of a transcript are what must not reach a terminal
  assert.doesNotMatch(said, /[^\P{C}\n\u200d]/u, 'control characters on a terminal');
  return { code: status, stdout, stderr: said };
}

function expectCode({ code, stderr }: Run, codes: readonly number[]): void {
  assert.ok(code !== null && codes.includes(code), `exit code ${code}: ${stderr}`);
  if (code === 1) assert.notEqual(stderr.trim(), '', 'it failed without a word');
}

function resultOf(stdout: Buffer): string {
  const report: unknown = JSON.parse(stdout.toString());
  return typeof report === 'object' && report !== null ? String(Reflect.get(report, 'result')) : 'nothing';
}

function policyFlags({ targetTokens, conversation }: CaseSettings): readonly string[] {
  return [
    ...(targetTokens === null ? [] : ['--target', String(targetTokens)]),
    ...(conversation === null || conversation.includes('\0') ? [] : ['--conversation', conversation]),
  ];
}

function configOf(settings: CaseSettings): string {
  const { maxChunkTokens } = settings;
  return [
    '[summarization]',
    `keep_recent = ${settings.keepRecent}`,
    `chunk_size = ${settings.chunkSize}`,
    ...(maxChunkTokens === null ? [] : [`max_chunk_tokens = ${maxChunkTokens}`]),
    `max_summary_tokens = ${settings.maxSummaryTokens}`,
    `clip_first = ${settings.clipFirst}`,
    `clip_last = ${settings.clipLast}`,
    `keep_system = ${settings.keepSystem}`,
    `chunk_order = "${settings.chunkOrder}"`,
    '[transcript]',
    `keep_invalid = ${settings.keepInvalid}`,
    '',
  ].join('\n');
}
