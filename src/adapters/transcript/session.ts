import type { Entry } from '../../core/transcript.ts';
import type { CodecSession, ContextView, Json, RecordProblem, SummaryInput } from '../../ports/codec.ts';
import { isRecord, type JsonRecord, known } from './json.ts';
import { leadingSummaryLine, refuseDeepNesting } from './message-parts.ts';
import { createLineNotes, type Noted, withoutNote } from './notes.ts';

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
export function readWholeContext(entries: readonly Entry[]): ContextView {
  return { priorLine: leadingSummaryLine(entries), isStale: () => false };
}
