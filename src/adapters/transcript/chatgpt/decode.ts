import type { ConversationMessage, MessagePart, Role } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, readSeconds, stringAt } from '../json.ts';
import { listCalls, readPartText, textOfParts, typedText, withTyped } from '../message-parts.ts';

const ROLES: ReadonlyMap<string, Role> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['system', 'system'],
  ['tool', 'tool'],
]);

/** A member of the mapping. Roots, empty system messages and the model's thinking are carried along as meta. */
export function decodeNode(value: Json): Decoded {
  const node = readNode(value);
  if (node === null) return { kind: 'meta' };
  const place = { recordId: node.id, parentId: node.parentId };
  const author = node.message?.['author'];
  const role = ROLES.get(isRecord(author) ? (stringAt(author, 'role') ?? '') : '');
  if (node.message === null || role === undefined) return { kind: 'meta', ...place };
  const text = readText(node.message['content']);
  if (role === 'user' && isClipArchiveText(text)) {
    return {
      kind: 'summary',
      isUnmarked: true,
      ...place,
      message: say(node, { role: 'system', parts: textPart(text) }),
    };
  }
  if (role === 'system' || isSettings(node.message['content'])) {
    if (text === '') return { kind: 'meta', ...place };
    return { kind: 'instruction', ...place, message: say(node, { role: 'system', parts: textPart(text) }) };
  }
  const parts = readParts(node, { role, text, message: node.message });
  if (role === 'assistant' && parts.length === 0) return { kind: 'meta', ...place };
  const calls = parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []));
  const results = parts.flatMap((part) => (part.kind === 'result' ? [part.callId] : []));
  return {
    kind: 'message',
    ...place,
    ...(calls.length > 0 && { calls }),
    ...(results.length > 0 && { results }),
    ...(role === 'user' && !isHidden(node.message) && { isPrompt: true }),
    message: withTyped(
      say(node, { role, parts, ...(isRecord(author) && { name: stringAt(author, 'name') }) }),
      role === 'user' && !isHidden(node.message) ? typedText([text]) : undefined,
    ),
  };
}

/** A message of the model to a specific recipient is a call; a tool's message answers its parent node. */
function readParts(
  { id, parentId }: Node,
  { role, text, message }: { readonly role: Role; readonly text: string; readonly message: JsonRecord },
): readonly MessagePart[] {
  if (role === 'tool' && parentId !== null) return [{ kind: 'result', callId: parentId, text, isError: false }];
  const recipient = stringAt(message, 'recipient') ?? 'all';
  if (role === 'assistant' && recipient !== 'all' && recipient !== '') {
    return [{ kind: 'call', id, name: recipient, arguments: text }];
  }
  return textPart(text);
}

function textPart(text: string): readonly MessagePart[] {
  return text === '' ? [] : [{ kind: 'text', text }];
}

function isHidden({ metadata }: JsonRecord): boolean {
  return isRecord(metadata) && metadata['is_visually_hidden_from_conversation'] === true;
}

function say(
  { id, message }: Node,
  {
    role,
    parts,
    name,
  }: { readonly role: Role; readonly parts: readonly MessagePart[]; readonly name?: string | undefined },
): ConversationMessage {
  const [first] = parts;
  return {
    id,
    conversation_id: '',
    role,
    ...(name !== undefined && { name }),
    content: textOfParts(parts),
    ...listCalls(parts),
    ...(first?.kind === 'result' && { tool_call_id: first.callId }),
    created_at: readSeconds(message?.['create_time']),
    parts,
  };
}

/** The model's own thinking, which is not part of the conversation. */
const THINKING: ReadonlySet<string> = new Set(['thoughts', 'reasoning_recap']);

/** Where the various types of content have their text, besides `parts`. */
const TEXT_KEYS = ['title', 'url', 'user_profile', 'user_instructions', 'model_set_context', 'text', 'result'];

/** The text of a message's content; '' for thinking and for media alone. */
function readText(content: Json | undefined): string {
  if (!isRecord(content)) return readPartText(content);
  const type = stringAt(content, 'content_type') ?? '';
  if (THINKING.has(type)) return '';
  const texts = [...TEXT_KEYS.map((key) => stringAt(content, key) ?? ''), ...textsOfParts(content)];
  const text = texts.filter((one) => one !== '').join('\n');
  const isEmpty = isList(content['parts']) || TEXT_KEYS.some((key) => typeof content[key] === 'string');
  return text === '' && !isEmpty ? readPartText(content) : text;
}

/** Parts that are objects are pictures, audio and files; the transcription of audio is text. */
function textsOfParts({ parts }: JsonRecord): readonly string[] {
  return isList(parts) ? parts.map(readPartText) : [readPartText(parts)];
}

/** Settings that a person wrote once for all conversations; the export has them as user messages. */
function isSettings(content: Json | undefined): boolean {
  const type = isRecord(content) ? (stringAt(content, 'content_type') ?? '') : '';
  return type === 'user_editable_context' || type === 'model_editable_context';
}

/** A member of a conversation's mapping. */
type Node = {
  /** Its key, which other nodes name as their parent. */
  readonly id: string;
  /** null: a root. */
  readonly parentId: string | null;
  readonly message: JsonRecord | null;
};

/** A record `{key: node}`; null: it is not a node. */
export function readNode(value: Json | undefined): Node | null {
  if (value === undefined || !isRecord(value)) return null;
  const [member] = Object.entries(value);
  if (member === undefined) return null;
  const [id, node] = member;
  if (!isRecord(node)) return { id, parentId: null, message: null };
  const { message } = node;
  return { id, parentId: stringAt(node, 'parent') ?? null, message: isRecord(message) ? message : null };
}
