import type { ModelRequest, ModelResponse } from '../core/model-request.ts';

/** Summarizes. Rejects with a `ModelError` for what a model's service can do to a caller. */
export type ModelProvider = {
  /** Its summaries are quotations of their input: one that reads like an error or a refusal is then the transcript's own words. */
  readonly isVerbatim?: boolean;
  readonly complete: (request: ModelRequest, signal?: AbortSignal) => Promise<ModelResponse>;
};

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

/** Different secrets of one kind that were masked. */
export type MaskedSecrets = { readonly kind: string; readonly count: number };

/** Hides secrets in text that is to leave the machine. */
export type Redactor = {
  /**
   * The text with a mask such as `[redacted:github-token:1]` in place of each secret. The same secret gets the same mask for as long as the
   * redactor lives, also where nothing but its earlier appearance tells that it is one.
   */
  readonly redact: (text: string) => string;
  /** What was masked so far, by kind in alphabetical order. */
  readonly masked: () => readonly MaskedSecrets[];
};

/** Why a file of rules cannot be used. `problem` completes "PLACE …"; the place is a key such as `rules[2].regex`, or a line; empty: the file itself. */
export type RuleFileProblem = { readonly path: string; readonly place: string; readonly problem: string };
