/** What the pure parts may not ask for themselves. */
export type Runtime = {
  readonly now: () => Date;
  readonly sha256: (data: Uint8Array | string) => string;
  /** A running sha256, for data that is never held whole. */
  readonly createHash: () => RunningHash;
  /** At least 0, less than 1. */
  readonly random: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Lets signals and the terminal have their turn. */
  readonly yieldToEvents: () => Promise<void>;
  readonly processId: number;
};

/** `digest` gives lower-case hex and may be called once. */
export type RunningHash = { readonly update: (data: Uint8Array | string) => void; readonly digest: () => string };

/** Told about long work: `done` of `total` in `unit`; a terminal may show it. */
export type Progress = {
  readonly update: (stage: string, done: number, total: number) => void;
  readonly finish: () => void;
};

/**
 * The steps of a run over one file, in their order: the source was read through and hashed, planned, a chunk was summarized (once for each),
 * the archive has it as prepared, the temporary file is written, is on disk, the source was looked at again, the file has its name, the
 * name is on disk, the archive has it as applied.
 */
export type Step =
  | 'read'
  | 'planned'
  | 'summarized'
  | 'prepared'
  | 'written'
  | 'synced'
  | 'looked'
  | 'renamed'
  | 'folder-synced'
  | 'applied';

/** Told of each step right after it was taken. */
export type StepListener = (step: Step) => void;
