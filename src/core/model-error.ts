export type ModelErrorCode = 'auth' | 'rate_limit' | 'timeout' | 'context_length' | 'api_error';

/** What a model's service answered instead of a summary; `retryable` says whether the same request may succeed later. */
export class ModelError extends Error {
  readonly code: ModelErrorCode;
  readonly retryable: boolean;

  constructor(code: ModelErrorCode, message: string, options: { retryable: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ModelError';
    this.code = code;
    this.retryable = options.retryable;
  }
}
