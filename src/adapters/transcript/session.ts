import type { MessagePart, Role } from '../../core/message.ts';
import type { Entry, EntryFacts } from '../../core/transcript.ts';
import type { CodecSession, ContextView, Json, RecordProblem, SummaryInput } from '../../ports/codec.ts';
import { isRecord, type JsonRecord, known } from './json.ts';
import { leadingSummaryLine, listCalls, refuseDeepNesting, textOfParts, withTyped } from './message-parts.ts';
import { createLineNotes, type Noted, withoutNote } from './notes.ts';

/** A message in parts. */
type Said = {
  readonly line: number;
  /** Undefined: it has none, and is named by its line. */
  readonly id?: string | undefined;
  readonly conversation?: string | undefined;
  readonly role: Role;
  readonly name?: string | undefined;
  readonly parts: readonly MessagePart[];
  readonly at?: Date | null;
  readonly typed?: string | undefined;
  readonly ruleText?: string | undefined;
};

type Facts<Note> = { readonly [key in keyof EntryFacts]?: EntryFacts[key] | undefined } & {
  readonly note?: Note | undefined;
};

/** What a record says, with the facts that follow from its parts and those that its format adds; undefined takes one away. */
export function say<Note = never>(said: Said, facts: Facts<Note> = {}): Noted<Note> {
  const { line, id = `line:${line}`, conversation = '', role, name, parts, at = null, typed, ruleText } = said;
  const calls = parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []));
  const results = parts.flatMap((part) => (part.kind === 'result' ? [part.callId] : []));
  const pairs = { ...(calls.length > 0 && { calls }), ...(results.length > 0 && { results }) };
  const message = {
    id,
    conversation_id: conversation,
    role,
    ...(name !== undefined && { name }),
    content: textOfParts(parts),
    ...listCalls(parts),
    ...(role === 'tool' && results[0] !== undefined && { tool_call_id: results[0] }),
    created_at: at,
    parts,
  };
  return {
    kind: 'message',
    ...known({ ...pairs, ...facts }),
    message: withTyped(message, typed, ruleText),
  };
}

/** A text as the only part of a message; no part if it is empty. */
export function textParts(text: string): readonly MessagePart[] {
  return text === '' ? [] : [{ kind: 'text', text }];
}

/** Which record is read, and whether for the first time: only then may the session remember what it sees. */
export type RecordPlace = { readonly line: number; readonly isFirstPass: boolean };

/** How a format reads its records. What is left out is as in a format without a context of its own. */
type SessionParts<Note> = {
  /** The kind of record in problems: "a message that is". */
  readonly what: string;
  /** Reads an object; no other value says anything. It may throw a RangeError for what is nested too deeply. */
  readonly read: (record: JsonRecord, place: RecordPlace) => Noted<Note> | RecordProblem;
  /** A list begins here: the id of its conversation, if the value around it has one. */
  readonly openList?: (around: JsonRecord, line: number) => string | undefined;
  /** Undefined: everything is in the context, from the summary that begins the conversation on. */
  readonly readContext?: (entries: readonly Entry[], noteOf: (line: number) => Note | undefined) => ContextView;
  /** Undefined: the kept part may begin anywhere. */
  readonly legalCuts?: CodecSession['legalCuts'];
  readonly renderSummary: (input: SummaryInput) => readonly string[];
};

/** A session that keeps the notes of its records. */
export function createSession<Note = never>(parts: SessionParts<Note>): CodecSession {
  const { what, read, openList, readContext, legalCuts = () => () => null, renderSummary } = parts;
  const notes = createLineNotes<Note>();
  const readAny = (value: Json, place: RecordPlace): Noted<Note> | RecordProblem =>
    isRecord(value) ? refuseDeepNesting(what, () => read(value, place)) : { kind: 'meta' };
  return {
    observe: (value, line) => notes.keep(readAny(value, { line, isFirstPass: true }), line),
    decode: (value, line) => withoutNote(readAny(value, { line, isFirstPass: false })),
    openList: (around, line) => known({ conversation: openList?.(isRecord(around) ? around : {}, line) }),
    readContext: (entries) => readContext?.(entries, notes.of) ?? readWholeContext(entries),
    legalCuts,
    renderSummary,
  };
}

/** Everything is in the context, from the summary that begins the conversation on. */
function readWholeContext(entries: readonly Entry[]): ContextView {
  return { priorLine: leadingSummaryLine(entries), isStale: () => false };
}
