import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { copilot } from '../../../../src/adapters/transcript/copilot/codec.ts';
import type { Entry } from '../../../../src/core/transcript.ts';
import type { CodecSession, Json } from '../../../../src/ports/codec.ts';

export type Fields = { readonly [key: string]: Json };

/** The UUID of the n-th event of a test. */
export function uuidOf(n: number): string {
  return `0e000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

/** The n-th second of the day on which all sessions of these tests take place. */
export function isoAt(second: number): string {
  return new Date(Date.UTC(2026, 0, 2, 3, 0, second)).toISOString();
}

export type Event = { readonly type: string; readonly data: Fields; readonly agentId?: string };

/** Events with ids, each hanging on the one before, the first of them the start of a session. */
export function session(...events: readonly Event[]): readonly Fields[] {
  return chain([start, ...events]);
}

export const start: Event = { type: 'session.start', data: { sessionId: 'session-1', version: 1 } };

/** Events with ids, each hanging on the one before. */
export function chain(events: readonly Event[]): readonly Fields[] {
  return events.map((event, index) => ({
    ...event,
    id: uuidOf(index),
    timestamp: isoAt(index),
    parentId: index === 0 ? null : uuidOf(index - 1),
  }));
}

export function user(content: string, data: Fields = {}): Event {
  return { type: 'user.message', data: { content, ...data } };
}

/** An answer; `calls` are ids of calls that it makes. */
export function answer(content: string, calls: readonly string[] = [], data: Fields = {}): Event {
  const toolRequests = calls.map((id) => ({ toolCallId: id, name: 'view', arguments: { path: `${id}.ts` } }));
  return { type: 'assistant.message', data: { messageId: 'm', content, toolRequests, ...data } };
}

export function result(call: string, content = 'ok', data: Fields = {}): Event {
  return { type: 'tool.execution_complete', data: { toolCallId: call, success: true, result: { content }, ...data } };
}

export function meta(type: string, data: Fields = {}): Event {
  return { type, data };
}

export const compactionStart = meta('session.compaction_start');

export function compaction(summaryContent: string): Event {
  return meta('session.compaction_complete', { success: true, summaryContent });
}

/** What the first pass makes of a file: its entries, lines counted from 1, and the session that read them. */
export function readEntries(values: readonly Json[]): {
  readonly session: CodecSession;
  readonly entries: readonly Entry[];
} {
  const reading = copilot.open();
  const entries = values.map((value, index) => {
    const decoded = reading.observe(value, index + 1);
    if ('problem' in decoded) throw new Error(`line ${index + 1}: ${decoded.problem}`);
    const { message, ...facts } = decoded;
    const place = { line: index + 1, start: 0, length: 0 };
    return { ...facts, ...place, ...(message !== undefined && { id: message.id, role: message.role }) };
  });
  return { session: reading, entries };
}

/** The lines before which a kept part may begin. */
export function legalLines(values: readonly Json[]): readonly number[] {
  const { session: reading, entries } = readEntries(values);
  const problemAt = reading.legalCuts(entries);
  return entries.map(({ line }) => line).filter((line) => problemAt(line) === null);
}

/** The line of the summary, and the lines of what else Copilot would send. */
export function contextLines(values: readonly Json[]): {
  readonly prior: number | null;
  readonly sent: readonly number[];
} {
  const { session: reading, entries } = readEntries(values);
  const { priorLine, isStale } = reading.readContext(entries);
  const sent = entries.filter((one) => one.kind === 'message' && !isStale(one));
  return { prior: priorLine, sent: sent.map(({ line }) => line) };
}

export const FIXTURES = pathToFileURL(join(import.meta.dirname, '../../../../fixtures/transcripts/copilot/'));

/** The lines of a fixture that are JSON. */
export function readFixture(name: string): readonly Json[] {
  const lines = readFileSync(new URL(name, FIXTURES), 'utf8').split('\n');
  return lines.flatMap((line): readonly Json[] => {
    try {
      return [JSON.parse(line)];
    } catch {
      return []; // blank, or two on one line
    }
  });
}
