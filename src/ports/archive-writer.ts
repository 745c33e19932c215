/** Stores one thing in one transaction and in bounded memory. After an error nothing of it is stored and the writer has ended. */
export type ArchiveWriter<Pieces, Draft, Stored> = {
  /** The next pieces, in order. The bytes of one need only be valid until the next one is requested. */
  readonly append: (pieces: Pieces) => Promise<void>;
  readonly commit: (draft: Draft) => Promise<Stored>;
  /** Leaves the archive as it was. Does nothing after `commit` or an error. */
  readonly abandon: () => Promise<void>;
};
