import type { ErrorBody } from './service-failure.ts';
import type { Service, Verdict } from './service.ts';
import { NO_CREDIT } from './translate.ts';

const NO_QUOTA_CODES: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'insufficient_balance',
]);
const KEY_CODES: ReadonlySet<string> = new Set(['invalid_api_key', 'invalid_authentication', 'account_deactivated']);

/** Maps OpenAI's error names, which many other servers use too, with other statuses. */
export function classifyOpenAi({ type, code, text }: ErrorBody, status: number | null): Verdict | null {
  const names = [code ?? '', type ?? ''];
  if (names.some((name) => NO_QUOTA_CODES.has(name)) || /exceeded your current quota/i.test(text)) {
    return { code: 'rate_limit', retryable: false, advice: NO_CREDIT };
  }
  if (names.some((name) => KEY_CODES.has(name))) return status === 401 ? null : { code: 'auth', retryable: false };
  if (status !== null) return null;
  if (names.includes('rate_limit_exceeded')) return { code: 'rate_limit', retryable: true };
  return names.includes('invalid_request_error') ? { code: 'api_error', retryable: false } : null;
}

/** What to try when a server of this kind fails. */
export const ADVICE: Readonly<Record<'openai' | 'ollama', Service['advice']>> = {
  openai: {
    key: 'OPENAI_API_KEY or what api_key_env names',
    notFound: 'check the name of the model, and base_url, which mostly ends in /v1',
    refused: 'check base_url, and whether a server runs there',
  },
  ollama: {
    key: 'api_key or what api_key_env names',
    notFound: '`ollama list` shows the installed models, `ollama pull` installs one; base_url ends in /v1',
    refused: 'is Ollama running? `ollama serve` starts it',
  },
};
