import type { ModelRequest, ModelResponse } from '../core/model-request.ts';

/** Summarizes. Rejects with a `ModelError` for what a model's service can do to a caller. */
export type ModelProvider = {
  /** Its summaries are quotations of their input: one that reads like an error or a refusal is then the transcript's own words. */
  readonly isVerbatim?: boolean;
  readonly complete: (request: ModelRequest, signal?: AbortSignal) => Promise<ModelResponse>;
};
