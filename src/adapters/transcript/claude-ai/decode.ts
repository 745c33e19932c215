import type { ConversationMessage, MessagePart, Role } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, readIsoTime, stringAt } from '../json.ts';
import {
  argumentText,
  contentText,
  listCalls,
  readPartText,
  refuseDeepNesting,
  textOfParts,
  typedText,
  withTyped,
} from '../message-parts.ts';

/** An element of `chat_messages`. What neither a person nor the model says is carried along. */
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

/**
 * The content of a message: its blocks (or its `text`, in exports without blocks) and its attachments. If the export
 * has no ids for calls, they are numbered within their message.
 * @throws RangeError if the arguments of a call are nested too deeply to be written as JSON.
 */
function readParts(message: JsonRecord, messageId: string): readonly MessagePart[] {
  const { content } = message;
  const blocks = readBlocks(isList(content) ? content : [content ?? null], messageId);
  const text = readPartText(message['text']);
  const said = blocks.length === 0 && text !== '' ? [{ kind: 'text', text } as const] : blocks;
  return [...said, ...readAttachments(message['attachments'])];
}

/** What a person typed: the text without the attachments. */
function readTyped({ content, text }: JsonRecord): string | undefined {
  const blocks = isList(content) ? content.filter(isRecord) : [];
  const texts = blocks.flatMap((block) => (block['type'] === 'text' ? [stringAt(block, 'text') ?? ''] : []));
  return typedText(blocks.length === 0 ? [readPartText(text)] : texts);
}

function readBlocks(blocks: readonly Json[], messageId: string): readonly MessagePart[] {
  const parts: MessagePart[] = [];
  let lastCall: string | null = null;
  for (const [index, block] of blocks.entries()) {
    const type = isRecord(block) ? stringAt(block, 'type') : undefined;
    if (isRecord(block) && type === 'tool_use') {
      lastCall = stringAt(block, 'id') ?? `${messageId}:${index}`;
      const name = stringAt(block, 'name') ?? '';
      parts.push({ kind: 'call', id: lastCall, name, arguments: argumentText(block['input']) });
    } else if (isRecord(block) && type === 'tool_result') {
      parts.push(resultPart(block, stringAt(block, 'tool_use_id') ?? lastCall));
    } else if (type !== 'token_budget') {
      const text = readPartText(block);
      if (text !== '') parts.push({ kind: 'text', text });
    }
  }
  return parts;
}

function resultPart(block: JsonRecord, callId: string | null): MessagePart {
  const text = contentText(block['content']);
  if (callId === null) return { kind: 'text', text };
  return { kind: 'result', callId, text, isError: block['is_error'] === true };
}

/** Pasted text and documents are sent with the message; a file of which the export has only the name is media. */
function readAttachments(attachments: Json | undefined): readonly MessagePart[] {
  if (!isList(attachments)) return [];
  return attachments.flatMap((attachment): readonly MessagePart[] => {
    const text = isRecord(attachment) ? (stringAt(attachment, 'extracted_content') ?? '') : '';
    return text === '' ? [] : [{ kind: 'text', text }];
  });
}
