import type { ConversationMessage, MessagePart, PlainCall, Role } from '../../core/message.ts';
import type { EntryFacts } from '../../core/transcript.ts';
import type { Json } from '../../ports/codec.ts';
import { isRecord, type JsonRecord, known, listOf, stringAt } from './json.ts';
import { textOfParts, withTyped } from './message-parts.ts';
import type { Noted } from './session.ts';

/** Where a message comes from: its own id if it has one, and the line that names it otherwise. */
export type SaidPlace = {
  readonly id?: string | undefined;
  readonly line: number;
  readonly at?: Date | null;
  readonly conversation?: string | undefined;
};

type Said = SaidPlace & {
  readonly role: Role;
  readonly parts: readonly MessagePart[];
  readonly name?: string | undefined;
  /** What a person typed in it, and what of that may state rules. */
  readonly typed?: string | undefined;
  readonly ruleText?: string | undefined;
};

type Writable<T> = { -readonly [key in keyof T]: T[key] };

type Facts<Note> = { readonly [key in keyof EntryFacts]?: EntryFacts[key] | undefined } & { readonly note?: Note };

/**
 * A message made of parts: its text, its calls, and which calls it answers all follow from them. `facts`: what its format adds to those that
 * follow; undefined takes one away. Assigns keys, which is faster than spreading.
 */
export function say<Note = never>(
  { id, line, at = null, conversation = '', role, parts, name, typed, ruleText }: Said,
  facts: Facts<Note> = {},
): Noted<Note> & { readonly message: ConversationMessage } {
  const calls: PlainCall[] = [];
  const results: string[] = [];
  for (const part of parts) {
    if (part.kind === 'call') calls.push({ id: part.id, name: part.name, arguments: part.arguments });
    else if (part.kind === 'result') results.push(part.callId);
  }
  const message: Writable<ConversationMessage> = {
    id: id ?? `line:${line}`,
    conversation_id: conversation,
    role,
    content: textOfParts(parts),
    created_at: at,
    parts,
  };
  if (name !== undefined) message.name = name;
  if (calls.length > 0) message.tool_calls = calls;
  const [answered] = results;
  if (role === 'tool' && answered !== undefined) message.tool_call_id = answered;
  const decoded: Writable<Noted<Note>> & { message: ConversationMessage } = {
    kind: 'message',
    message: withTyped(message, typed, ruleText),
  };
  if (calls.length > 0) decoded.calls = calls.map((call) => call.id);
  if (results.length > 0) decoded.results = results;
  return replaceKeys(decoded, facts);
}

/** Gives keys their new values, and removes those that have none. */
function replaceKeys<T extends object>(record: T, values: { readonly [key in keyof T]?: T[key] | undefined }): T {
  for (const key in values) {
    const value = values[key];
    if (value !== undefined) record[key] = value;
    else if (key in record) delete record[key];
  }
  return record;
}

/** What a compaction left: one text that replaces everything before it. */
export function decodeSummary(text: string, place: SaidPlace): ReturnType<typeof say<never>> {
  return say({ ...place, role: 'system', parts: [{ kind: 'text', text }] }, { kind: 'summary' });
}

export function textParts(texts: readonly string[]): readonly MessagePart[] {
  return texts.flatMap((text) => (text === '' ? [] : [{ kind: 'text', text }]));
}

/** A call without an id can never be answered, so it becomes text. */
export function callPart(id: string | undefined, name: string, args: string): MessagePart {
  return id === undefined ? { kind: 'text', text: `${name} ${args}` } : { kind: 'call', id, name, arguments: args };
}

/** A result that does not name its call becomes text, too. */
export function resultPart(callId: string | undefined, text: string, isError: boolean): MessagePart {
  return callId === undefined ? { kind: 'text', text } : { kind: 'result', callId, text, isError };
}

/** The texts of content whose blocks are marked as text; content of other kinds has none. */
export function textBlocks(content: Json | undefined): readonly string[] {
  return listOf(content).flatMap((block) => {
    if (typeof block === 'string') return [block];
    return stringAt(block, 'type') === 'text' ? (stringAt(block, 'text') ?? []) : [];
  });
}

/** A record's id and the id of the record before it, under the names that a format has for them. An empty id is none. */
export function linksOf(
  record: JsonRecord,
  idKey: string,
  parentKey: string,
): Pick<EntryFacts, 'recordId' | 'parentId'> {
  const recordId = stringAt(record, idKey) ?? '';
  const parentId = stringAt(record, parentKey) ?? '';
  return recordId === '' ? {} : { recordId, parentId: parentId === '' ? null : parentId };
}

/** The conversation that a record names under a key; no key if it names none. */
export function conversationOf(record: JsonRecord, key: string): Pick<EntryFacts, 'conversation'> {
  return known({ conversation: stringAt(record, key) });
}

/** The text under a key in the first of these records that has one. */
export function firstText(key: string, ...records: readonly (Json | undefined)[]): string | undefined {
  return records.flatMap((record) => stringAt(record, key) ?? [])[0];
}

/** What a record has under these keys, to be copied: nothing nested, which could be too deep to be written. */
export function copyKeys(record: Json, keys: readonly string[]): JsonRecord {
  if (!isRecord(record)) return {};
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = record[key];
      const isNested = typeof value === 'object' && value !== null;
      return value === undefined || isNested ? [] : [[key, value]];
    }),
  );
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * A short key for the words of a message, to find what repeats them. White space is ignored: a message may have a part for each thing typed, its
 * copy one text.
 */
export function wordsKey(role: string, text: string): string {
  const words = text.replace(/\s+/g, '');
  let hash = FNV_OFFSET;
  for (let at = 0; at < words.length; at += 1) hash = Math.imul(hash ^ words.charCodeAt(at), FNV_PRIME);
  return `${role}:${words.length}:${(hash >>> 0).toString(36)}`;
}
