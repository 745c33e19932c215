import type { ModelRequest, ModelResponse } from '../core/model-request.ts';
import type { Count } from '../core/units.ts';

/** Summarizes. Rejects with a `ModelError` for any failure of the service. */
export type ModelProvider = {
  /** Its summaries quote their input, so one that reads like an error or a refusal is the transcript's own text. */
  readonly isVerbatim?: boolean;
  readonly complete: (request: ModelRequest, signal?: AbortSignal) => Promise<ModelResponse>;
};

export type Embedding = {
  /** One for each text, in order, all of the same length. */
  readonly vectors: readonly Float32Array[];
  /** As the service counts; null: it does not say. */
  readonly inputTokens: number | null;
};

type EmbedRequest = {
  /** No text is empty. */
  readonly texts: readonly string[];
  /** Milliseconds, for the whole call. */
  readonly timeoutMs: number;
};

/** Makes vectors of texts; texts with a similar meaning have similar vectors. Rejects with a `ModelError` for any failure of the service. */
export type Embedder = {
  readonly embed: (request: EmbedRequest, signal?: AbortSignal) => Promise<Embedding>;
};

/** How many different secrets of a kind were masked. */
export type MaskedSecrets = { readonly kind: string; readonly count: number };

/** Masks secrets in text that leaves the machine. */
export type Redactor = {
  /**
   * Replaces each secret by a mask such as `[redacted:github-token:1]`. During the redactor's life the same secret gets the same mask, even
   * where only its earlier appearance shows that it is a secret. `before` holds the calls whose results the text holds, as in a request.
   */
  readonly redact: (text: string, before?: string) => string;
  /** The secrets masked so far, by kind in alphabetical order. */
  readonly masked: () => readonly MaskedSecrets[];
};

/** Why a file of rules cannot be used. `problem` completes "PLACE …"; the place is a key such as `rules[2].regex`, or a line; empty: the file itself. */
export type RuleFileProblem = { readonly path: string; readonly place: string; readonly problem: string };

/** What a model costs per million tokens. */
export type Price = {
  readonly input: number;
  readonly output: number;
  /** The day of the vendors' price list, in US dollars; undefined: the user set the price, in any currency. */
  readonly listedOn?: string;
};

/** The price of a model for a request of so many tokens (long ones may cost more per token); null: unknown. */
export type FindPrice = (model: string, requestTokens: number) => Price | null;

/** What a model was asked, and what that cost. */
export type ModelCosts = {
  readonly calls: Count;
  /** Input tokens, including those that the service had cached. */
  readonly inputTokens: Count;
  readonly cachedInputTokens: Count;
  readonly outputTokens: Count;
  /**
   * In the currency of the configured prices, else at the list price in US dollars; null: neither is known.
   * @minimum 0
   */
  readonly cost: number | null;
  /** The day of the list, if the cost is at list price. */
  readonly listedOn?: string;
};
