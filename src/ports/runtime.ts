/** Clock, hashes and waiting, which the pure code must not access itself. */
export type Runtime = {
  readonly now: () => Date;
  readonly sha256: (data: Uint8Array | string) => string;
  /** The length of a text in UTF-8; a lone surrogate counts three bytes. */
  readonly utf8Length: (text: string) => number;
  /** An incremental sha256 for data that is never held as a whole. */
  readonly createHash: () => RunningHash;
  /** At least 0, less than 1. */
  readonly random: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Lets signals and terminal output be processed. */
  readonly yieldToEvents: () => Promise<void>;
  readonly processId: number;
};

/** `digest` gives lower-case hex and may be called once; a `copy` goes on separately. */
export type RunningHash = {
  readonly update: (data: Uint8Array | string) => void;
  readonly digest: () => string;
  readonly copy: () => RunningHash;
};

/** Receives the progress of long work; a terminal may show it. */
export type Progress = {
  readonly update: (stage: string, done: number, total: number) => void;
  readonly finish: () => void;
};

/**
 * The steps of a run over one file, in order: the source was read and hashed; planned; a chunk was summarized (once for each); the archive has
 * it as prepared; the temporary file was written; it is on disk; the source was checked again; the file has its name; the name is on disk; the
 * archive has it as applied. Of an erasure: the archive has it; the file has none of the bytes any more.
 */
export type Step =
  | 'read'
  | 'planned'
  | 'summarized'
  | 'prepared'
  | 'written'
  | 'synced'
  | 'looked'
  /** The old file has been moved aside, and the new one has no name yet. */
  | 'moved'
  | 'renamed'
  | 'folder-synced'
  | 'applied'
  | 'erased'
  | 'purged';

/** Called right after each step. */
export type StepListener = (step: Step) => void;
