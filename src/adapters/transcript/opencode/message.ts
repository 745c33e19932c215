import type { ConversationMessage, Role } from '../../../core/message.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { refuseDeepNesting } from '../deep-nesting.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { listCalls, textOfParts } from '../listed/said.ts';
import { readMilliseconds } from '../time.ts';
import { withTyped } from '../typed-text.ts';
import { findCompaction, hasTyped, readParts, typedWords } from './parts.ts';

/** An element `{info, parts}` of the list of messages. */
export function decodeMessage(value: Json, line: number): Decoded | RecordProblem {
  const info = isRecord(value) ? value['info'] : undefined;
  if (!isRecord(value) || !isRecord(info)) return { kind: 'meta' };
  const givenRole = info['role'];
  if (givenRole !== 'user' && givenRole !== 'assistant') return { kind: 'meta' };
  if (!isList(value['parts'])) return { problem: `a message of role ${givenRole} whose parts are no list` };
  const recordId = stringAt(info, 'id');
  const asked = givenRole === 'user' ? findCompaction(value['parts']) : null;
  if (asked !== null) {
    const keptFrom = stringAt(asked, 'tail_start_id');
    return {
      kind: 'meta',
      ...(recordId !== undefined && { recordId }),
      boundary: keptFrom === undefined ? {} : { keptFrom },
    };
  }
  return refuseDeepNesting('a call whose input is', () => decodeSaid(value, { info, givenRole, line }));
}

function decodeSaid(
  value: JsonRecord,
  {
    info,
    givenRole,
    line,
  }: { readonly info: JsonRecord; readonly givenRole: 'user' | 'assistant'; readonly line: number },
): Decoded {
  const id = stringAt(info, 'id');
  const parentId = stringAt(info, 'parentID');
  const isSummary = givenRole === 'assistant' && isFinishedSummary(info);
  const role: Role = isSummary ? 'system' : givenRole;
  const parts = readParts(value['parts']);
  const calls = parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []));
  const results = parts.flatMap((part) => (part.kind === 'result' ? [part.callId] : []));
  const message: ConversationMessage = {
    id: id ?? `line:${line}`,
    conversation_id: stringAt(info, 'sessionID') ?? '',
    role,
    content: textOfParts(parts),
    ...listCalls(parts),
    created_at: isRecord(info['time']) ? readMilliseconds(info['time']['created']) : null,
    parts,
  };
  return {
    kind: isSummary ? 'summary' : 'message',
    ...(id !== undefined && { recordId: id }),
    ...(parentId !== undefined && { parentId }),
    ...(calls.length > 0 && { calls }),
    ...(results.length > 0 && { results }),
    ...(role === 'user' && hasTyped(value['parts']) && { isPrompt: true }),
    message: withTyped(message, isSummary ? undefined : typedWords(role, value['parts'])),
  };
}

/** The program takes no other summary for one. */
function isFinishedSummary(info: JsonRecord): boolean {
  const isFinished = typeof info['finish'] === 'string' && info['finish'] !== '';
  return info['summary'] === true && isFinished && (info['error'] ?? null) === null;
}
