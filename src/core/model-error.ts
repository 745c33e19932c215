export type ModelErrorCode = 'auth' | 'rate_limit' | 'timeout' | 'context_length' | 'api_error';

export type ModelErrorOptions = {
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
};

/** What a model's service answered instead of a summary; `retryable` says whether the same request may succeed later. */
export class ModelError extends Error {
  readonly code: ModelErrorCode;
  readonly retryable: boolean;
  /** How long the service asks to wait before that, as it said it: capping is the caller's. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ModelErrorCode, message: string, options: ModelErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ModelError';
    this.code = code;
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs;
  }
}
