import type { ConversationMessage, Role } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { refuseDeepNesting } from '../deep-nesting.ts';
import { isRecord, stringAt } from '../json.ts';
import { listCalls, textOfParts } from '../listed/said.ts';
import { readIsoTime } from '../time.ts';
import { withTyped } from '../typed-text.ts';
import { readParts, readTyped } from './content.ts';

/** An element of `chat_messages`. What no person and no model says is carried along. */
export function decodeMessage(value: Json, line: number): Decoded | RecordProblem {
  if (!isRecord(value)) return { kind: 'meta' };
  const sender = value['sender'];
  if (sender !== 'human' && sender !== 'assistant') return { kind: 'meta' };
  if (value['content'] === undefined && value['text'] === undefined)
    return { problem: `a message of the ${sender} with neither content nor text` };
  const uuid = stringAt(value, 'uuid');
  return refuseDeepNesting('a call whose arguments are', (): Decoded | RecordProblem => {
    const parts = readParts(value, uuid ?? `line:${line}`);
    const content = textOfParts(parts);
    const isSummary = sender === 'human' && isClipArchiveText(content);
    const role: Role = isSummary ? 'system' : sender === 'human' ? 'user' : 'assistant';
    const message: ConversationMessage = {
      id: uuid ?? `line:${line}`,
      conversation_id: '',
      role,
      content,
      ...listCalls(parts),
      created_at: readIsoTime(value['created_at']),
      parts,
    };
    const calls = parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []));
    const results = parts.flatMap((part) => (part.kind === 'result' ? [part.callId] : []));
    const parentId = stringAt(value, 'parent_message_uuid');
    return {
      kind: isSummary ? 'summary' : 'message',
      ...(isSummary && { isUnmarked: true }),
      ...(uuid !== undefined && { recordId: uuid }),
      ...(parentId !== undefined && { parentId }),
      ...(calls.length > 0 && { calls }),
      ...(results.length > 0 && { results }),
      ...(role === 'user' && { isPrompt: true }),
      message: withTyped(message, role === 'user' ? readTyped(value) : undefined),
    };
  });
}
