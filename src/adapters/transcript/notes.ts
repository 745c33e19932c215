import type { Decoded } from '../../core/transcript.ts';
import type { RecordProblem } from '../../ports/codec.ts';

/** A decoded record, with what only its own codec needs to know about it later. */
export type Noted<Note> = Decoded & { readonly note?: Note };

/** The notes of a codec, by line. */
export type LineNotes<Note> = {
  readonly of: (line: number) => Note | undefined;
  /** Keeps the record's note and returns the rest. */
  readonly keep: (read: Noted<Note> | RecordProblem, line: number) => Decoded | RecordProblem;
};

/** In an array, not a map: in some formats almost every line has a note, and here it costs eight bytes beside its own. */
export function createLineNotes<Note>(): LineNotes<Note> {
  const notes: Note[] = [];
  return {
    of: (line) => notes[line],
    keep: (read, line) => {
      if ('problem' in read || read.note === undefined) return read;
      notes[line] = read.note;
      return withoutNote(read);
    },
  };
}

export function withoutNote<Note>(read: Noted<Note> | RecordProblem): Decoded | RecordProblem {
  if ('problem' in read || read.note === undefined) return read;
  const { note: _note, ...decoded } = read;
  return decoded;
}
