import type { Json } from '../../../../src/ports/codec.ts';
import {
  contextLines as contextLinesOf,
  type Fields,
  isoAt,
  legalLines as legalLinesOf,
  readEntries as readEntriesOf,
  readFixture as readFixtureOf,
} from '../reading.ts';

/** The UUID of the n-th event of a test. */
export function uuidOf(n: number): string {
  return `0e000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
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

export const readEntries = (values: readonly Json[]): ReturnType<typeof readEntriesOf> =>
  readEntriesOf('copilot', values);
export const legalLines = (values: readonly Json[]): readonly number[] => legalLinesOf('copilot', values);
export const contextLines = (values: readonly Json[]): Omit<ReturnType<typeof contextLinesOf>, 'goes'> => {
  const { prior, sent } = contextLinesOf('copilot', values);
  return { prior, sent };
};
export const readFixture = (name: string): readonly Fields[] => readFixtureOf('copilot', name);
