import type { Result } from '../core/result.ts';
import type { FileFailure } from './files.ts';
import type { Json } from './codec.ts';

/** How a client starts this program: the words before the name of a command. */
export type LaunchCommand = { readonly command: string; readonly args: readonly string[] };

/** Why a client's file cannot be changed. `line` and `column` count from 1. */
export type EditProblem = { readonly line: number; readonly column: number; readonly problem: string };

/** What a client's file has of ours. */
export type Presence = {
  /** `changed`: something of ours is there, but not what would be written now. */
  readonly state: 'absent' | 'installed' | 'changed';
  /** Names that the user gave to something else. They are left alone. */
  readonly taken: readonly string[];
};

/** Our part of one file of a client. Text outside of it stays byte for byte. */
export type FileEdit = {
  readonly path: string;
  /** Folders that are removed with the file if they are empty, the innermost first. */
  readonly managedFolders?: readonly string[];
  /** Null: there is no file. */
  readonly inspect: (text: string | null) => Result<Presence, EditProblem>;
  readonly add: (text: string | null) => Result<string, EditProblem>;
  /** Of a text that `inspect` can read. `isEmpty`: the file had nothing else. */
  readonly remove: (text: string) => { readonly text: string; readonly isEmpty: boolean };
};

export type ClientName = 'claude' | 'codex' | 'gemini' | 'pi' | 'opencode';

/** A program that this one can be installed in. */
export type Client = {
  readonly name: ClientName;
  readonly title: string;
  /** The client is on this machine if one of these folders exists or this program is on the PATH. */
  readonly folders: readonly string[];
  readonly program: string;
  readonly edits: readonly FileEdit[];
  /** What the user has to do before it works, as a sentence. */
  readonly nextStep: string;
  /** What the client itself needs before ours works, and what to say where it is missing. */
  readonly needs?: { readonly path: string; readonly notice: string };
};

/** What a client's adapter needs to know. */
export type ClientHost = {
  readonly environment: { readonly [name: string]: string | undefined };
  readonly homeFolder: string;
  readonly launch: LaunchCommand;
  /** JavaScript that a plugin begins with: it gives it `createPlugin`, which takes a launch command. */
  readonly extensionSource: (client: 'pi' | 'opencode') => string;
  readonly exists: (path: string) => boolean;
};

/** Small text files that belong to other programs. A path leads to its file through links. */
export type ClientFiles = {
  readonly exists: (path: string) => boolean;
  readonly hasProgram: (name: string) => boolean;
  /** With its BOM. Null: there is no file. */
  readonly read: (path: string) => Result<string | null, FileFailure | 'not-text'>;
  /** Creates or replaces a file atomically, with its folder, unless it no longer holds `expected`. */
  readonly replace: (
    path: string,
    change: { readonly expected: string | null; readonly text: string },
  ) => Promise<Result<void, FileFailure | 'file-changed'>>;
  /** Removes a file, and then these folders as far as they are empty. */
  readonly remove: (path: string, folders?: readonly string[]) => Result<void, FileFailure>;
};

/** One changed file, so that the change can be taken back byte for byte as long as nobody else changes the file. */
export type InstalledFile = {
  readonly path: string;
  readonly existed: boolean;
  /** Hashes (hex) of the text before and after. */
  readonly sha256: { readonly before: string; readonly after: string };
  /** At this offset, `inserted` UTF-16 units replaced `removed`. */
  readonly splice: { readonly at: number; readonly inserted: number; readonly removed: string };
};

/** What was written into each client. An unreadable record counts as none. */
export type InstallRecords = {
  readonly load: (client: ClientName) => readonly InstalledFile[];
  readonly save: (client: ClientName, files: readonly InstalledFile[]) => Promise<Result<void, FileFailure>>;
};

/** A program that writes sessions, and how it goes on with one. */
export type Program = {
  /** Its name on the PATH. */
  readonly command: string;
  readonly title: string;
  /** Where it comes from: a package of npm. */
  readonly packageName: string;
  /** The arguments with which it goes on with a session: `ID` stands for its id, `FILE` for the path of its file. */
  readonly resume: readonly string[];
  /** It keeps its sessions in a database: the arguments with which it takes the session of a file in. */
  readonly takeIn?: readonly string[];
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
