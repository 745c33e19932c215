import type { Json } from './codec.ts';

/** A program that writes sessions, and how it goes on with one. */
export type Program = {
  /** Its name on the PATH. */
  readonly command: string;
  readonly title: string;
  /** Where it comes from: a package of npm. */
  readonly packageName: string;
  /** The arguments with which it goes on with a session: `ID` stands for its id, `FILE` for the path of its file. */
  readonly resume: readonly string[];
  /** Those with which it begins a session on a terminal: `PROMPT` stands for the first prompt. Null: it takes none. */
  readonly begin: readonly string[] | null;
  /** What it is given in addition to read files in a folder, `FOLDER`, that is not the one it works in. Undefined: nothing. */
  readonly mayRead?: readonly string[];
};

/** Where a session of a program belongs. */
export type SessionPlace = {
  readonly program: Program;
  /** As the program names it, checked against its own pattern; null: there is none. */
  readonly id: string | null;
  /** The folder that was worked in; null: neither the records nor the place of the file name one. */
  readonly folder: string | null;
  /** The place of the file stands for another folder than the records name. */
  readonly isMisplaced: boolean;
};

/** The programs whose sessions we read. */
export type Programs = {
  readonly list: () => readonly Program[];
  /** `folder`: according to the first records, `sample`. Null: no program goes on with files of this format. */
  readonly locate: (session: {
    readonly format: string;
    readonly path: string;
    readonly sample: readonly Json[];
    readonly folder: string | null;
  }) => SessionPlace | null;
};
