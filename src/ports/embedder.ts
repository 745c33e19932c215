export type Embedding = {
  /** One a text, in their order, all of one length. */
  readonly vectors: readonly Float32Array[];
  /** As the service counts; null: it does not tell. */
  readonly inputTokens: number | null;
};

export type EmbedRequest = {
  /** None is empty. */
  readonly texts: readonly string[];
  /** Milliseconds, for the whole call. */
  readonly timeoutMs: number;
};

/** Gives texts places in a space in which what means the same stands close together. Rejects with a `ModelError` for what its service can do to a caller. */
export type Embedder = {
  readonly embed: (request: EmbedRequest, signal?: AbortSignal) => Promise<Embedding>;
};
