import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CompactReport, RestoreReport } from './app/contract/reports.ts';
import { err, ok, type Result } from './core/result.ts';
import { compactWith, restoreWith } from './library.ts';
import type { CompactMessagesOptions, LibraryError, MessageKind, RestoreMessagesOptions } from './library-options.ts';

/** What `compactMessages` did. */
export type CompactedMessages<M> = {
  /** A new list. A message that stays is the same object; the summary is one new message among them. */
  readonly messages: M[];
  /** 'skipped': there was nothing to do; 'failed': `error` says why, and the messages are those that were given. */
  readonly result: 'compacted' | 'skipped' | 'failed';
  /** The summary that stands for what left; null: nothing left. */
  readonly summary: M | null;
  /** As `compactFile` gives it; undefined: it failed, or the messages are so few that nothing was read. */
  readonly report?: CompactReport;
  readonly error?: LibraryError;
};

/** What `restoreMessages` did. */
export type RestoredMessages<M> = {
  /** A new list. A message that was still there is the same object. */
  readonly messages: M[];
  /** 'partial': without what was erased from the archive; 'failed': `error` says why, and the messages are those that were given. */
  readonly result: RestoreReport['result'] | 'failed';
  readonly error?: LibraryError;
};

/**
 * Compacts the messages that an agent holds in memory: OpenAI's chat messages or Responses items, Anthropic's messages, the AI SDK's
 * `ModelMessage`s, items of the OpenAI Agents SDK. Calls stay with their results. What leaves is archived: `searchArchive` finds it, and
 * `restoreMessages` brings it back. Given the result with further messages at its end, a second call goes on from there. Never throws: if
 * it fails, `messages` are those that were given.
 */
export async function compactMessages<M extends object>(
  messages: readonly M[],
  options: CompactMessagesOptions = {},
): Promise<CompactedMessages<M>> {
  const same = { messages: copyOf(messages), summary: null };
  const done = await attempt<Written<CompactReport> | null>('compactMessages', messages, options, async (lines) => {
    const { kind, ...rest } = options;
    // A token is counted for every four bytes of text, and JSON is never shorter than its text.
    const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
    if (messages.length === 0 || bytes / 4 <= (options.ifOverTokens ?? 0)) return ok(null);
    const storedAs = `messages:${options.conversation ?? 'in memory'}`;
    return inFile(lines, (path, stdout) => {
      const input = { path, name: 'messages', format: formatOf(messages, kind), storedAs };
      return compactWith(rest, { input, output: { kind: 'stdout' }, summaryIsUsers: true, stdout });
    });
  });
  if (!done.ok) return { ...same, result: 'failed', error: done.error };
  if (done.value === null) return { ...same, result: 'skipped' };
  const { report, text } = done.value;
  if (report.result !== 'compacted') return { ...same, result: 'skipped', report };
  const found = match(messages, text);
  const summary = found.find(({ isNew }) => isNew)?.message ?? null;
  return { messages: found.map(({ message }) => message), summary, result: 'compacted', report };
}

/** Brings back the messages that compactions took away. Never throws: if it fails, `messages` are those that were given. */
export async function restoreMessages<M extends object>(
  messages: readonly M[],
  options: RestoreMessagesOptions = {},
): Promise<RestoredMessages<M>> {
  const done = await attempt('restoreMessages', messages, options, (lines) =>
    inFile(lines, (path, stdout) => {
      const { kind, all = true, ...rest } = options;
      const input = { path, name: 'messages', format: formatOf(messages, kind) };
      return restoreWith(rest, { input, output: { kind: 'stdout' }, all }, stdout);
    }),
  );
  if (!done.ok) return { messages: copyOf(messages), result: 'failed', error: done.error };
  const { report, text } = done.value;
  return { messages: match(messages, text).map(({ message }) => message), result: report.result };
}

/** Empty for a caller without a type checker who gave no list. */
function copyOf<M>(messages: readonly M[]): M[] {
  return Array.isArray(messages) ? [...messages] : [];
}

/** The codec that reads these messages: those of all chat APIs are one format. */
function formatOf(messages: readonly object[], kind: MessageKind | undefined): string {
  const isItem = (one: { readonly type?: unknown }): boolean =>
    one.type === 'function_call' || one.type === 'function_call_output';
  const isResponses =
    kind === 'responses' || (kind === undefined && messages.some((one) => isItem(one) && 'call_id' in one));
  return isResponses ? 'responses-items' : 'chat-lines';
}

/** Calls `work` with the messages as lines of JSON. Whatever it throws becomes an error. */
async function attempt<T>(
  name: 'compactMessages' | 'restoreMessages',
  messages: readonly object[],
  options: object,
  work: (lines: readonly string[]) => Promise<Result<T, LibraryError>>,
): Promise<Result<T, LibraryError>> {
  try {
    const { findWrongCall } = await import('./library-checks.ts');
    const wrong = findWrongCall(name, messages, options);
    return wrong === null ? await work(messages.map(toLine)) : err({ kind: 'usage', message: wrong });
  } catch (error) {
    if (error instanceof UnwritableError) return err({ kind: 'usage', message: error.message });
    return err({ kind: 'bug', message: error instanceof Error ? error.message : String(error) });
  }
}

/** `text`: the messages, one a line. */
type Written<Report> = { readonly report: Report; readonly text: string };

/** The use cases read files, so they get a private one. */
async function inFile<Report>(
  lines: readonly string[],
  work: (path: string, stdout: (piece: Uint8Array) => void) => Promise<Result<Report, LibraryError>>,
): Promise<Result<Written<Report>, LibraryError>> {
  const pieces: Uint8Array[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'compact-messages-'));
  try {
    const path = join(folder, 'messages.jsonl');
    writeFileSync(path, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
    const done = await work(path, (piece) => void pieces.push(new Uint8Array(piece)));
    return done.ok ? ok({ report: done.value, text: Buffer.concat(pieces).toString() }) : done;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function toLine(message: object): string {
  return JSON.stringify(message, asText);
}

/** JSON would lose the content of a value, so what left could not come back. */
class UnwritableError extends Error {}

/** Pictures in binary form are archived in base64, which the APIs take too. */
function asText(this: unknown, key: string, value: unknown): unknown {
  const given: unknown = (this as Readonly<Record<string, unknown>>)[key]; // before its own `toJSON`
  if (given instanceof ArrayBuffer) return Buffer.from(given).toString('base64');
  if (ArrayBuffer.isView(given))
    return Buffer.from(given.buffer, given.byteOffset, given.byteLength).toString('base64');
  if (isEmptyInJson(value))
    throw new UnwritableError(
      `'${key}' in the messages is a ${value.constructor.name}, which cannot be archived as JSON`,
    );
  return value;
}

/** A Map, a Blob or a stream has content, but no properties. */
function isEmptyInJson(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.keys(value).length === 0 && Object.prototype.toString.call(value) !== '[object Object]';
}

/** The messages of a result. A line that was given is the message that it was made from; of equal ones, the last. */
function match<M extends object>(messages: readonly M[], text: string) {
  const lines = messages.map(toLine);
  let end = lines.length;
  return text
    .split('\n')
    .filter((line) => line !== '')
    .toReversed()
    .map((line) => {
      const at = end === 0 ? -1 : lines.lastIndexOf(line, end - 1);
      const message = messages[at];
      if (message === undefined) return { message: JSON.parse(line) as M, isNew: true };
      end = at;
      return { message, isNew: false };
    })
    .toReversed();
}
