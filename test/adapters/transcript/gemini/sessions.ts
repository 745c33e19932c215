import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gemini } from '../../../../src/adapters/transcript/gemini/codec.ts';
import type { Entry } from '../../../../src/core/transcript.ts';
import type { CodecSession, Json } from '../../../../src/ports/codec.ts';
import { FIXTURES, type JsonObject, parseLines, read, SUMMARY } from '../codex/rollouts.ts';

export const header = (more: JsonObject = {}): JsonObject => ({ sessionId: 's-1', projectHash: 'p', ...more });
export const user = (id: string, text: string, more: JsonObject = {}): JsonObject => ({
  id,
  timestamp: '2026-03-02T09:00:00.000Z',
  type: 'user',
  content: [{ text }],
  ...more,
});
export const model = (id: string, text: string, more: JsonObject = {}): JsonObject => ({
  id,
  timestamp: '2026-03-02T09:00:07.000Z',
  type: 'gemini',
  content: text,
  ...more,
});
export const rewindTo = (id: string): JsonObject => ({ $rewindTo: id });
export const checkpoint = (...messages: readonly Json[]): JsonObject => ({ $set: { messages } });
export const clip = (id: string): JsonObject => user(id, SUMMARY);

export const response = (id: string, output: string): JsonObject => ({
  functionResponse: { id, name: 'look', response: { output } },
});

/** A message of the model that makes one call, and knows its result. */
export const calling = (id: string, call: string, output = `output of ${call}`): JsonObject =>
  model(id, '', {
    toolCalls: [{ id: call, name: 'look', args: { at: call }, result: [response(call, output)], status: 'success' }],
  });

/** The message that brought results to the model. */
export const brought = (id: string, ...calls: readonly string[]): JsonObject => ({
  ...user(id, ''),
  content: calls.map((call) => response(call, `output of ${call}`)),
});

/** What the codec says of records, each a line: what is sent, the summary, and what must go, by their lines. */
export function contextOf(...records: readonly Json[]): {
  readonly prior: number | null;
  readonly sent: readonly number[];
  readonly goes: readonly number[];
} {
  const { entries, session } = read(gemini, records);
  const { priorLine, isStale, mustDrop = () => false } = session.readContext(entries);
  const sent = entries.filter((entry) => entry.kind === 'message' && !isStale(entry));
  return { prior: priorLine, sent: linesOf(sent), goes: linesOf(entries.filter(mustDrop)) };
}

export function readSession(...records: readonly Json[]): { entries: readonly Entry[]; session: CodecSession } {
  return read(gemini, records);
}

/** The records of a fixture; lines that are none are left out. */
export function readFixture(name: string): readonly JsonObject[] {
  const text = readFileSync(join(FIXTURES, 'gemini', name), 'utf8');
  const isWhole = (line: string): boolean => line.startsWith('{') && line.trimEnd().endsWith('}');
  return parseLines(text.split('\n').filter(isWhole).join('\n'));
}

const linesOf = (entries: readonly Entry[]): readonly number[] => entries.map(({ line }) => line);
