import type { Json } from '../../../../src/ports/codec.ts';
import { SUMMARY } from '../codex/rollouts.ts';
import { contextLines, type Fields as JsonObject, readEntries, readFixture as readFixtureOf } from '../reading.ts';

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
export const contextOf = (...records: readonly Json[]): ReturnType<typeof contextLines> =>
  contextLines('gemini', records);
export const readSession = (...records: readonly Json[]): ReturnType<typeof readEntries> =>
  readEntries('gemini', records);
export const readFixture = (name: string): readonly JsonObject[] => readFixtureOf('gemini', name);
