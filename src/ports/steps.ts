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
