import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';

/** What a line of a session's log is, told apart in the order in which Gemini CLI does it. */
export type LogLine =
  | { readonly kind: 'rewind'; readonly id: string }
  | { readonly kind: 'message'; readonly id: string; readonly record: JsonRecord }
  | { readonly kind: 'checkpoint'; readonly messages: readonly Json[] }
  | { readonly kind: 'update'; readonly keys: readonly string[] }
  | {
      readonly kind: 'metadata';
      readonly sessionId: string;
      readonly messages: readonly Json[];
      readonly isSubagent: boolean;
    }
  | { readonly kind: 'other' };

export function readLogLine(value: Json): LogLine {
  if (!isRecord(value)) return { kind: 'other' };
  const rewind = stringAt(value, '$rewindTo');
  if (rewind !== undefined) return { kind: 'rewind', id: rewind };
  const id = stringAt(value, 'id');
  if (id !== undefined) return { kind: 'message', id, record: value };
  const { $set: update, messages } = value;
  if (isRecord(update)) {
    const { messages: replaced } = update;
    return isList(replaced)
      ? { kind: 'checkpoint', messages: replaced }
      : { kind: 'update', keys: Object.keys(update).toSorted() };
  }
  const sessionId = stringAt(value, 'sessionId');
  if (sessionId === undefined || stringAt(value, 'projectHash') === undefined) return { kind: 'other' };
  return {
    kind: 'metadata',
    sessionId,
    messages: isList(messages) ? messages : [],
    isSubagent: value['kind'] === 'subagent',
  };
}
