import type { Role } from '../../../core/message.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { readParts, readRuleText, readTyped } from '../gemini/decode.ts';
import { isList, isRecord, type JsonRecord, readIsoTime, stringAt } from '../json.ts';
import { textOfParts } from '../message-parts.ts';
import { isQwenType } from '../parents.ts';
import { asTyped, conversationOf, decodeSaid, decodeSummary, linksOf, type SaidPlace } from '../said.ts';

/** Records beside the chain: no other record has one of them as its parent. The latest `session_sources_snapshot` counts. */
const ASIDE = new Set([
  'session_artifact_event',
  'session_artifact_snapshot',
  'session_sources_snapshot',
  'managed_session_header_v1',
  'managed_session_event_v1',
  'managed_session_commit_v1',
]);

/** User records that a person typed; others are notifications, timers and the like. */
const TYPED_SUBTYPES = new Set([undefined, 'mid_turn_user_message']);

/** Decodes a record. A message whose parts are not a list is a problem, because Qwen Code would send it without words. */
export function decodeRecord(record: JsonRecord, line: number): Decoded | RecordProblem {
  const { type, subtype = '', systemPayload } = record;
  if (type === 'system' && typeof subtype === 'string' && ASIDE.has(subtype))
    return { kind: 'meta', ...(subtype === 'session_sources_snapshot' && { latestKey: subtype }) };
  if (!isQwenType(type)) return { kind: 'meta' };
  const links = { ...conversationOf(record, 'sessionId'), ...linksOf(record, 'uuid', 'parentUuid') };
  const place = {
    id: links.recordId,
    line,
    conversation: links.conversation,
    at: readIsoTime(record['timestamp']),
  };
  const history = isRecord(systemPayload) ? systemPayload['compressedHistory'] : undefined;
  const said =
    type !== 'system'
      ? decodeMessage(record, type, place)
      : subtype === 'chat_compression' && isList(history)
        ? decodeSummary(historyText(history), place)
        : null;
  if (said !== null && 'problem' in said) return said;
  return { ...(said ?? { kind: 'meta' }), ...links };
}

/** null: the model gets nothing from this record. */
function decodeMessage(record: JsonRecord, type: string, place: SaidPlace): Decoded | RecordProblem | null {
  const { message, systemPayload, provenance = 'real_user' } = record;
  const subtype = stringAt(record, 'subtype');
  if (message === undefined || subtype === 'realtime_message') return null;
  if (!isRecord(message) || !isList(message['parts']))
    return { problem: `a record of type ${type} whose message has no list of parts` };
  const parts = readParts({ content: message['parts'] });
  const hasResults = parts.some(({ kind }) => kind === 'result');
  const role: Role = hasResults ? 'tool' : type === 'assistant' ? 'assistant' : 'user';
  const said = decodeSaid({ ...place, role, parts });
  if (type !== 'user' || role !== 'user' || !TYPED_SUBTYPES.has(subtype)) return said;
  // The prompt as it was typed is beside it where something else was sent.
  const shown = isRecord(systemPayload) ? stringAt(systemPayload, 'displayText') : undefined;
  const prompt = { content: message['parts'], ...(shown !== undefined && { displayContent: shown }) };
  const typed = readTyped(prompt);
  return {
    ...asTyped(said, typed, provenance === 'real_user' ? readRuleText(prompt) : undefined),
    ...(typed !== undefined && subtype === undefined && { isPrompt: true }),
  };
}

/** Qwen Code's compression, or ours: a list of messages that replaces everything before it. */
function historyText(history: readonly Json[]): string {
  const parts = history.flatMap((message) => (isRecord(message) ? readParts({ content: message['parts'] ?? [] }) : []));
  return textOfParts(parts);
}
