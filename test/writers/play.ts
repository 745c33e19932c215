import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFileStore } from '../../src/adapters/fs/file-store.ts';
import { restoreFile } from '../../src/app/restore/restore-file.ts';
import type { Step } from '../../src/ports/runtime.ts';
import { chatTranscript } from '../support/chat.ts';
import { createWorkbench, type Workbench } from '../support/workbench.ts';

/** What another program does to a file while it is replaced. */
export const WRITES = ['rewrite', 'replace', 'append', 'append-open', 'truncate'] as const;
export type Write = (typeof WRITES)[number];
/** Right after which step it does so. */
export const MOMENTS = [
  'read',
  'prepared',
  'written',
  'synced',
  'looked',
  'moved',
  'renamed',
] as const satisfies readonly Step[];

export type Case = {
  readonly layout: 'lines' | 'document';
  readonly job: 'compact' | 'restore';
  /** In the order in which they happen; several may come at one moment. */
  readonly acts: readonly { readonly write: Write; readonly after: (typeof MOMENTS)[number] }[];
  /** A program that writes on its own at any time, instead of the acts: so many times. */
  readonly free?: number;
};

const TEXT = chatTranscript(12);
const DOCUMENT = readFileSync(join(import.meta.dirname, '../../fixtures/transcripts/opencode/session.json'), 'utf8');
const line = (turn: number): string => `{"role":"user","content":"written by another program, turn ${turn}"}\n`;

const SHELL: { readonly [write in Write]: string } = {
  rewrite: 'printf %s "$2" > "$1"',
  replace: 'printf %s "$2" > "$1.theirs" && mv "$1.theirs" "$1"',
  append: 'printf %s "$2" >> "$1"',
  'append-open': 'printf %s "$2" >&3',
  truncate: 'if [ -e "$1" ]; then truncate -s "$(($(stat -c %s "$1") / 2))" "$1"; fi',
};

/**
 * Plays a case. Whatever the other program wrote must be in the file, in its order: in the file as it stands, or in what its compaction
 * restores. Throws an AssertionError where something is lost.
 */
export async function playWriters(one: Case): Promise<'done' | 'left'> {
  const state: { reached: (step: Step) => void } = { reached: () => undefined };
  const bench = createWorkbench({ files: createFileStore(), reached: (step) => state.reached(step) });
  try {
    return await play(bench, one, state);
  } finally {
    bench.remove();
  }
}

async function play(bench: Workbench, one: Case, state: { reached: (step: Step) => void }): Promise<'done' | 'left'> {
  const isDocument = one.layout === 'document';
  const name = isDocument ? 'talk.json' : 'talk.jsonl';
  const path = bench.path(name);
  const original = isDocument ? DOCUMENT : TEXT;
  writeFileSync(path, original);
  if (one.job === 'restore') assert.ok((await bench.compact(name, SETTINGS)).ok);
  const start = readFileSync(path, 'utf8');
  /** What the program wants in the file, after each of its writes. */
  const wanted = [start];
  const program: { turn: number; open: number | null } = { turn: 0, open: null };
  if (one.acts.some(({ write }) => write === 'append-open')) program.open = openSync(path, 'a');
  const act = (write: Write): void => {
    if (write === 'append-open' && program.open === null) return;
    program.turn += 1;
    const before = wanted.at(-1) ?? '';
    const whole = isDocument
      ? DOCUMENT.replace('"info"', `"turn${program.turn}": 1, "info"`)
      : `${line(program.turn)}${line(0)}`;
    const appended = isDocument ? '\n' : line(program.turn);
    const text = write.startsWith('append') ? appended : whole;
    const stdio = ['ignore', 'inherit', 'inherit', program.open ?? 'ignore'] as const;
    const ran = spawnSync('sh', ['-c', SHELL[write], 'sh', path, text], { stdio: [...stdio] });
    assert.equal(ran.status, 0);
    // What replaces a file leaves the open one without a name, by the program's own doing.
    if ((write === 'append-open' || write === 'replace') && program.open !== null) {
      closeSync(program.open);
      program.open = null;
    }
    if (write.startsWith('append')) wanted.push(before + appended);
    else if (existsSync(path)) wanted.push(readFileSync(path, 'utf8'));
  };
  const left = [...one.acts];
  state.reached = (step) => {
    while (left[0]?.after === step) act(left.shift()?.write ?? 'append');
  };
  const writer = one.free === undefined ? null : startWriter(path, one.free);
  await writer?.ready;
  const done =
    one.job === 'compact'
      ? await bench.compact(name, SETTINGS)
      : await restoreFile(bench.deps, { input: { path, name, format: null }, output: { kind: 'in-place' }, all: true });
  await writer?.ended;
  for (let turn = 1; turn <= (one.free ?? 0); turn += 1) wanted.push((wanted.at(-1) ?? '') + line(turn));
  if (program.open !== null) closeSync(program.open);
  state.reached = () => undefined;
  check(bench, { one, original, start, wanted, ...(await readBack(bench, name)) });
  return done.ok ? 'done' : 'left';
}

const SETTINGS = { compaction: { keepRecent: 3, maxSummaryTokens: 120 } };

/** The file as it stands, and what it is without its compactions. */
async function readBack(bench: Workbench, name: string): Promise<{ readonly now: string; readonly whole: string }> {
  const now = readFileSync(bench.path(name), 'utf8');
  if (!now.includes('[Context Summary')) return { now, whole: now };
  const path = bench.path('restored');
  const input = { path: bench.path(name), name, format: null };
  const done = await restoreFile(bench.deps, { input, output: { kind: 'file', path }, all: true });
  return { now, whole: done.ok ? readFileSync(path, 'utf8') : now };
}

type Outcome = {
  readonly one: Case;
  readonly original: string;
  readonly start: string;
  readonly wanted: readonly string[];
  readonly now: string;
  readonly whole: string;
};

function check(bench: Workbench, { one, original, start, wanted, now, whole }: Outcome): void {
  const hidden = readdirSync(bench.folder).filter((name) => name.startsWith('.compact-') || name.endsWith('.theirs'));
  assert.deepEqual(hidden, [], 'nothing is left beside it');
  const last = wanted.at(-1) ?? '';
  // In its restored form, what was compacted stands as the original.
  const plain = (text: string): string => (text.startsWith(start) ? original + text.slice(start.length) : text);
  // White space after the end of a document is nobody's.
  const trimmed = (text: string): string => (one.layout === 'document' ? text.trimEnd() : text);
  const isAsWanted = now === last || trimmed(whole) === trimmed(plain(last));
  // What came to the free name follows what stood there: nothing that was ever wanted is missing.
  const isJoined =
    one.layout === 'lines' &&
    wanted.some((text, at) => whole === plain(text) + last || isMadeOf(whole, [plain(text), ...wanted.slice(at + 1)]));
  assert.ok(
    isAsWanted || isJoined,
    `${JSON.stringify(one)}\n--- wanted\n${last.slice(-600)}\n--- is\n${whole.slice(-600)}`,
  );
}

/** Whether a text is the first part, and after it all or the new lines of the others, in their order. */
function isMadeOf(whole: string, [first = '', ...rest]: readonly string[]): boolean {
  if (!whole.startsWith(first)) return false;
  let at = first.length;
  for (const text of rest) {
    const found = whole.indexOf(text, at);
    const own = text.slice(text.lastIndexOf('\n', text.length - 2) + 1);
    const foundOwn = whole.indexOf(own, at);
    if (found !== -1) at = found + text.length;
    else if (foundOwn !== -1) at = foundOwn + own.length;
    else return false;
  }
  return true;
}

/** A program that opens, appends and closes again and again. */
function startWriter(
  path: string,
  times: number,
): { readonly ready: Promise<unknown>; readonly ended: Promise<unknown> } {
  const code = `
    const { appendFileSync } = require('node:fs');
    process.stdout.write('ready');
    let turn = 0;
    const next = () => {
      turn += 1;
      appendFileSync(${JSON.stringify(path)}, \`{"role":"user","content":"written by another program, turn \${turn}"}\\n\`);
      if (turn < ${times}) setTimeout(next, Math.random() * 4);
    };
    next();`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  return { ready: once(child.stdout, 'data'), ended: once(child, 'exit') };
}
