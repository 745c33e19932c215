import type { Json, SummaryInput } from '../../../../src/ports/codec.ts';
import type { Fields as JsonObject } from '../reading.ts';

/** A record of a rollout; its second of the day is `at`. */
export function record(type: string, payload: Json, at = 0): JsonObject {
  return { timestamp: new Date(Date.UTC(2026, 2, 2, 9, 0, at)).toISOString(), type, payload };
}

export const item = (payload: JsonObject, at = 0): JsonObject => record('response_item', payload, at);
export const event = (type: string, more: JsonObject = {}, at = 0): JsonObject =>
  record('event_msg', { type, ...more }, at);
export const header = (more: JsonObject = {}): JsonObject => record('session_meta', { id: 'thread-1', ...more });
export const turnContext = (turn = 't'): JsonObject => record('turn_context', { turn_id: turn, model: 'm' });
export const taskStarted = (turn = 't'): JsonObject => event('task_started', { turn_id: turn });
export const tokenCount = (): JsonObject =>
  event('token_count', { info: { last_token_usage: { total_tokens: 900_000 } } });

export function message(role: 'user' | 'assistant' | 'developer', ...texts: readonly string[]): JsonObject {
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  return { type: 'message', role, content: texts.map((text) => ({ type, text })) };
}

export const said = (role: 'user' | 'assistant' | 'developer', ...texts: readonly string[]): JsonObject =>
  item(message(role, ...texts));
export const reasoning = (): JsonObject => item({ type: 'reasoning', summary: [] });
export const call = (id: string): JsonObject =>
  item({ type: 'function_call', name: 'exec', arguments: '{"cmd":"ls"}', call_id: id });
export const output = (id: string, text = 'done'): JsonObject =>
  item({ type: 'function_call_output', call_id: id, output: text });
export const compacted = (history: readonly JsonObject[] | null, text = ''): JsonObject =>
  record('compacted', { message: text, ...(history !== null && { replacement_history: history }) });
export const rolledBack = (turns: number): JsonObject => event('thread_rolled_back', { num_turns: turns });

/** A prompt and an answer with a call, as they stand in a rollout with all their mirrors: eleven records. */
export function turn(name: string, text = `question ${name}`, answer = `answer ${name}`): readonly JsonObject[] {
  return [
    taskStarted(name),
    turnContext(name),
    said('user', text),
    event('user_message', { message: text }),
    reasoning(),
    event('agent_message', { message: answer }),
    said('assistant', answer),
    call(`call-${name}`),
    output(`call-${name}`, `output ${name}`),
    tokenCount(),
    event('task_complete', { turn_id: name }),
  ];
}

/** The text of an item's content, for looking at requests and histories. */
export function textOf({ content }: JsonObject): string {
  return Array.isArray(content) ? content.map((part) => String(Object(part).text ?? '')).join('\n') : '';
}

export const SUMMARY = '[Context Summary — 3 messages compressed across 1 compaction cycle]\nwhat was said';

export function summaryInput(more: Partial<SummaryInput> = {}): SummaryInput {
  return {
    text: SUMMARY,
    conversationId: 'thread-1',
    firstKept: null,
    lastDropped: null,
    lastKeptId: null,
    tokensBefore: 1,
    quotesTools: false,
    uuid: (label) => label,
    ...more,
  };
}
