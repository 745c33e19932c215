import type { ErrorBody } from './error-body.ts';
import type { Verdict } from './service-error.ts';
import { NO_CREDIT } from './translate.ts';

/** What the Messages API's own kinds of errors mean, where they say more than the status or come without one. */
export function classifyAnthropic({ type, text }: ErrorBody, status: number | null): Verdict | null {
  if (type === 'billing_error' || /credit balance is too low/i.test(text)) {
    return { code: 'api_error', retryable: false, advice: NO_CREDIT };
  }
  return status === null ? (IN_ANSWERS[type ?? ''] ?? null) : null;
}

/** An error that interrupts an answer has a kind and no status. */
const IN_ANSWERS: Readonly<Record<string, Verdict>> = {
  authentication_error: { code: 'auth', retryable: false },
  permission_error: { code: 'auth', retryable: false },
  rate_limit_error: { code: 'rate_limit', retryable: true },
  timeout_error: { code: 'timeout', retryable: true },
  overloaded_error: { code: 'api_error', retryable: true },
  api_error: { code: 'api_error', retryable: true },
  invalid_request_error: { code: 'api_error', retryable: false },
  not_found_error: { code: 'api_error', retryable: false },
};
