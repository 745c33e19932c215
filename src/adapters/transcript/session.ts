import type { Decoded, Entry } from '../../core/transcript.ts';
import type {
  CodecSession,
  ContextView,
  CutProblem,
  Detection,
  Json,
  RecordProblem,
  SummaryInput,
} from '../../ports/codec.ts';
import { isRecord, type JsonRecord, known } from './json.ts';
import { leadingSummaryLine, refuseDeepNesting } from './message-parts.ts';

/** A decoded record, with what only its own codec needs to know about it later. */
export type Noted<Note> = Decoded & { readonly note?: Note };

/** The notes of a codec, by line. */
export type NoteOf<Note> = (line: number) => Note | undefined;

/** Which record is read, and whether for the first time: only then may the session remember what it sees. */
export type RecordPlace = { readonly line: number; readonly isFirstPass: boolean };

/** How a format reads its records. What is left out is as in a format without a context of its own. */
type SessionParts<Note> = {
  /** The kind of record in problems: "a message that is". */
  readonly what: string;
  /** First pass: what a record is as the header, which is the first that can be. null: it cannot. */
  readonly readHeader?: (record: JsonRecord) => Noted<Note> | null;
  /** Reads an object, other than the header; no other value says anything. It may throw a RangeError for what is nested too deeply. */
  readonly read: (record: JsonRecord, place: RecordPlace) => Noted<Note> | RecordProblem;
  /** A list begins here: the id of its conversation, if the value around it has one. */
  readonly openList?: (around: JsonRecord, line: number) => string | undefined;
  /** Undefined: everything is in the context, from the summary that begins the conversation on. */
  readonly readContext?: (entries: readonly Entry[], noteOf: NoteOf<Note>) => ContextView;
  /** Undefined: the kept part may begin anywhere. */
  readonly legalCuts?: (entries: readonly Entry[], noteOf: NoteOf<Note>) => (line: number) => CutProblem;
  readonly renderSummary: (input: SummaryInput) => readonly string[];
};

/** A session that remembers where the header is, and keeps the notes of its records. */
export function createSession<Note = never>(parts: SessionParts<Note>): CodecSession {
  const { what, readHeader = () => null, openList, readContext, legalCuts = () => () => null, renderSummary } = parts;
  // In an array, not a map: in some formats almost every line has a note, and here it costs eight bytes beside its own.
  const notes: Note[] = [];
  const noteOf: NoteOf<Note> = (line) => notes[line];
  let header: { readonly line: number; readonly read: Noted<Note> } | null = null;

  const read = (value: Json, place: RecordPlace): Noted<Note> | RecordProblem => {
    if (!isRecord(value)) return { kind: 'meta' };
    if (place.line === header?.line) return header.read;
    const found = header === null && place.isFirstPass ? readHeader(value) : null;
    if (found === null) return refuseDeepNesting(what, () => parts.read(value, place));
    header = { line: place.line, read: found };
    return found;
  };
  return {
    observe: (value, line) => {
      const found = read(value, { line, isFirstPass: true });
      if (!('problem' in found) && found.note !== undefined) notes[line] = found.note;
      return withoutNote(found);
    },
    decode: (value, line) => withoutNote(read(value, { line, isFirstPass: false })),
    openList: (around, line) => known({ conversation: openList?.(isRecord(around) ? around : {}, line) }),
    readContext: (entries) => readContext?.(entries, noteOf) ?? readWholeContext(entries),
    legalCuts: (entries) => legalCuts(entries, noteOf),
    renderSummary,
  };
}

function withoutNote<Note>(read: Noted<Note> | RecordProblem): Decoded | RecordProblem {
  if ('problem' in read || read.note === undefined) return read;
  const { note: _note, ...decoded } = read;
  return decoded;
}

/** Everything is in the context, from the summary that begins the conversation on. */
export function readWholeContext(entries: readonly Entry[]): ContextView {
  return { priorLine: leadingSummaryLine(entries), isStale: () => false };
}

/** A codec is sure that a file is not of its format. */
export function notOurs(reason: string): Detection {
  return { confidence: 0, reason };
}
