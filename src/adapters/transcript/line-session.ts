import type { Decoded, Entry } from '../../core/transcript.ts';
import type { CodecSession, Json, RecordProblem } from '../../ports/codec.ts';
import { isRecord, type JsonRecord } from './json.ts';
import { refuseDeepNesting } from './message-parts.ts';
import { createLineNotes, type LineNotes, type Noted, withoutNote } from './notes.ts';

/** The notes of a codec, by line. */
export type NoteOf<Note> = LineNotes<Note>['of'];

/** What a format knows of its lines. A session remembers the rest: where the header is, and the notes. */
type LineFormat<Note> = Pick<CodecSession, 'renderSummary'> & {
  /** First pass: what a record is as the header, which is the first that can be. null: it cannot. */
  readonly readHeader?: (record: JsonRecord) => Noted<Note> | null;
  /** First pass, before the record is read: notes what this answer and later ones need. */
  readonly see?: (record: JsonRecord, line: number) => void;
  /** Any record but the header. It changes nothing. */
  readonly read: (record: JsonRecord, line: number) => Noted<Note> | RecordProblem;
  /** The place of a value that is nested too deeply to be read: "a message that is". */
  readonly nested: string;
  /** First pass: adds what depends on the records before. */
  readonly track?: (read: Noted<Note>, line: number, record: JsonRecord) => Noted<Note>;
  readonly readContext: (entries: readonly Entry[], noteOf: NoteOf<Note>) => ReturnType<CodecSession['readContext']>;
  /** Undefined: the kept part may begin anywhere. */
  readonly legalCuts?: (entries: readonly Entry[], noteOf: NoteOf<Note>) => ReturnType<CodecSession['legalCuts']>;
};

/** A session over records that are objects, one a line. A value of another kind is read like an empty record. */
export function createLineSession<Note>(format: LineFormat<Note>): CodecSession {
  const { readHeader = () => null, see, track, legalCuts = () => () => null, renderSummary } = format;
  const notes = createLineNotes<Note>();
  let header: { readonly line: number; readonly read: Noted<Note> } | null = null;

  const read = (record: JsonRecord, line: number): Noted<Note> | RecordProblem =>
    line === header?.line ? header.read : refuseDeepNesting(format.nested, () => format.read(record, line));
  const observe = (value: Json, line: number): Decoded | RecordProblem => {
    const record = asRecord(value);
    const found = header === null ? readHeader(record) : null;
    if (found !== null) header = { line, read: found };
    see?.(record, line);
    const decoded = read(record, line);
    if ('problem' in decoded) return decoded;
    return notes.keep(track?.(decoded, line, record) ?? decoded, line);
  };
  return {
    observe,
    decode: (value, line) => withoutNote(read(asRecord(value), line)),
    readContext: (entries) => format.readContext(entries, notes.of),
    legalCuts: (entries) => legalCuts(entries, notes.of),
    renderSummary,
  };
}

function asRecord(value: Json): JsonRecord {
  return isRecord(value) ? value : {};
}
