/** A transcript that is about to be replaced by another version of itself. */
export type ReplacedTranscript = {
  readonly path: string;
  /** Its format's name. */
  readonly format: string;
};

/** Indexes that producers keep of places inside their transcripts: they are wrong once a transcript was replaced. */
export type ProducerIndexes = {
  /**
   * Removes what an index has of this one transcript, so that its producer builds it anew. Called right before the replacement: where that then
   * fails, the producer indexes the old file again. Never fails: gives a sentence for people where the index had to be left as it is, else null.
   */
  readonly reset: (transcript: ReplacedTranscript) => Promise<string | null>;
};
