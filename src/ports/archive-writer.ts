/** Stores one thing in one transaction and in bounded memory. After an error nothing of it is stored and the writer has ended. */
export type ArchiveWriter<Piece, Draft, Stored> = {
  /** The next pieces, in order. Their bytes are the archive's from now on. */
  readonly append: (pieces: readonly Piece[]) => Promise<void>;
  readonly commit: (draft: Draft) => Promise<Stored>;
  /** Leaves the archive as it was. Does nothing after `commit` or an error. */
  readonly abandon: () => Promise<void>;
};
