import type { ModelRequest, ModelResponse } from '../core/model-request.ts';

/** Summarizes. Rejects with a `ModelError` for what a model's service can do to a caller. */
export type ModelProvider = {
  readonly complete: (request: ModelRequest, signal?: AbortSignal) => Promise<ModelResponse>;
};
