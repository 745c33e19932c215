import type { ConversationMessage, MessagePart, Role } from '../../../core/message.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { RecordProblem } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { typedText, withTyped } from '../typed-text.ts';
import { readCall, toolNames } from './call.ts';
import { outputText, textsOf } from './content.ts';
import { wordsKey } from './words-key.ts';
import { authorshipOf, isSettingsText, withoutEditorContext } from './written-by-codex.ts';

/** Where an item stands; Codex dates the record around it. */
export type ItemPlace = { readonly line: number; readonly at: Date | null };

/** One item of the Responses API, as Codex stores it or as it stands alone. Only a message can be a problem. */
export function decodeItem(item: JsonRecord, place: ItemPlace): Decoded | RecordProblem {
  const type = stringAt(item, 'type') ?? ('role' in item ? 'message' : '');
  if (type === 'message' || type === 'agent_message') return decodeMessage(item, type, place);
  if (type === 'reasoning') return { kind: 'meta', attachedTo: { kind: 'answer' } };
  if (type.endsWith('_call')) return decodeCall(item, type, place);
  if (type.endsWith('_output')) return decodeOutput(item, place);
  return { kind: 'meta' };
}

const ROLES: ReadonlyMap<string, Role> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['developer', 'system'],
  ['system', 'system'],
]);

function decodeMessage(item: JsonRecord, type: string, place: ItemPlace): Decoded | RecordProblem {
  const { content } = item;
  if (typeof content !== 'string' && !isList(content))
    return { problem: 'a message whose content is neither text nor a list' };
  const givenRole = type === 'agent_message' ? 'user' : item['role'];
  if (typeof givenRole !== 'string') return { problem: 'a message whose role is no text' };
  const role = ROLES.get(givenRole) ?? 'user';
  const texts = textsOf(content);
  const parts = texts.map((text): MessagePart => ({ kind: 'text', text }));
  const name = type === 'agent_message' ? stringAt(item, 'author') : ROLES.has(givenRole) ? undefined : givenRole;
  const said = messageOf(item, place, { role, parts, ...(name !== undefined && { name }) });
  if (role === 'system')
    return { kind: 'instruction', ...(texts.some(isSettingsText) && { turnPart: 'update' }), message: said };
  if (role === 'assistant') return { kind: 'message', wordsKey: wordsKey(role, said.content), message: said };
  if (type === 'agent_message') return { kind: 'message', turnPart: 'opens', message: said };
  return decodeUser(said, texts, isList(content) && content.length > texts.length);
}

function decodeUser(said: ConversationMessage, texts: readonly string[], hasMedia: boolean): Decoded {
  const { author, opensTurn } = authorshipOf(texts);
  const turnPart = opensTurn ? 'opens' : 'update';
  if (author === 'codex-context') return { kind: 'instruction', turnPart, message: { ...said, role: 'system' } };
  if (author === 'codex-notice') return { kind: 'message', turnPart, message: said };
  const isPrompt = said.name === undefined && (hasMedia || said.content.trim() !== '');
  const key = wordsKey('user', said.content);
  const typed = isPrompt ? typedText(texts.map(withoutEditorContext)) : undefined;
  const message = withTyped(said, typed);
  return { kind: 'message', turnPart: 'opens', wordsKey: key, ...(isPrompt && { isPrompt }), message };
}

/** A call without an id can never be answered: it is shown as text. */
function decodeCall(item: JsonRecord, type: string, place: ItemPlace): Decoded {
  const { id, name, arguments: args } = readCall(item, type);
  const part: MessagePart =
    id === undefined ? { kind: 'text', text: `${name} ${args}` } : { kind: 'call', id, name, arguments: args };
  const own = item['output'] === undefined ? '' : outputText(item['output']);
  const parts = own === '' ? [part] : [part, { kind: 'text', text: own } satisfies MessagePart];
  const message = messageOf(item, place, { role: 'assistant', parts });
  if (id === undefined) return { kind: 'message', message };
  return { kind: 'message', calls: [id], message: { ...message, tool_calls: [{ id, name, arguments: args }] } };
}

function decodeOutput(item: JsonRecord, place: ItemPlace): Decoded {
  const callId = stringAt(item, 'call_id');
  const { output, tools } = item;
  const text = output === undefined && isList(tools) ? toolNames(tools) : outputText(output);
  const isError = isRecord(output) && output['success'] === false;
  const part: MessagePart = callId === undefined ? { kind: 'text', text } : { kind: 'result', callId, text, isError };
  const message = messageOf(item, place, { role: 'tool', parts: [part] });
  if (callId === undefined) return { kind: 'message', message };
  return { kind: 'message', results: [callId], message: { ...message, tool_call_id: callId } };
}

function messageOf(
  item: JsonRecord,
  { line, at }: ItemPlace,
  { role, parts, name }: { readonly role: Role; readonly parts: readonly MessagePart[]; readonly name?: string },
): ConversationMessage {
  return {
    id: stringAt(item, 'id') ?? `line:${line}`,
    conversation_id: '',
    role,
    ...(name !== undefined && { name }),
    content: parts.map(partText).join('\n'),
    created_at: at,
    parts,
  };
}

function partText(part: MessagePart): string {
  return part.kind === 'call' ? `${part.name} ${part.arguments}` : part.text;
}

/** Tells which items are one answer of the model: all that it says, thinks and calls until something else is said. */
export function createAnswerTracker(): (decoded: Decoded, line: number) => Decoded {
  let key: string | null = null;
  return (decoded, line) => {
    if (decoded.attachedTo?.kind === 'answer') {
      key ??= `answer:${line}`;
    } else if (decoded.message?.role === 'assistant') {
      key ??= `answer:${line}`;
      return { ...decoded, groupKey: key };
    } else if (decoded.message !== undefined) {
      key = null;
    }
    return decoded;
  };
}
