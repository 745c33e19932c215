import type { ModelError } from '../../core/model-request.ts';
import { assertNever } from '../../core/result.ts';
import { type ErrorBody, type ServiceFailure, isHtml, readErrorBody } from './service-failure.ts';
import { quote, type Service, serviceError, type Verdict } from './service.ts';

/** Maps a vendor's own names for errors; null: the status decides. `status` is null for an error inside an answer. */
export type Classify = (body: ErrorBody, status: number | null) => Verdict | null;

/** Turns a failure into the caller's error, in this one place. */
export function toModelError(service: Service, failure: ServiceFailure, classify: Classify): ModelError {
  switch (failure.kind) {
    case 'status': {
      const body = readErrorBody(failure.body);
      const verdict = judge(service, classify, body, failure.status);
      const retryAfterMs = verdict.retryable ? readRetryAfterMs(failure.headers, service.now()) : undefined;
      const words = isHtml(failure.body) ? ' with a web page' : quote(service, body.message);
      return serviceError(service, `answered ${failure.status}${words}`, { ...verdict, retryAfterMs });
    }
    case 'error-body': {
      const body = readErrorBody(failure.body);
      const verdict = judge(service, classify, body, body.status);
      return serviceError(service, `answered with an error${quote(service, body.message)}`, verdict);
    }
    case 'connection':
      return connectionError(service, failure);
    case 'empty':
      return serviceError(service, 'sent an empty answer', RETRY);
    case 'no-end':
      return serviceError(service, 'ended its answer before it was complete', RETRY);
    case 'no-json':
      return serviceError(service, 'sent something that is not JSON', RETRY);
    case 'shape':
      return serviceError(service, `sent an answer of an unknown shape${quote(service, failure.what)}`, {
        ...NO_RETRY,
        advice: CHECK_URL,
      });
    case 'html':
      return serviceError(service, 'answered with a web page', { ...NO_RETRY, advice: CHECK_URL });
    case 'too-large':
      return serviceError(service, 'sent an answer that is too large', NO_RETRY);
    default:
      return assertNever(failure);
  }
}

const RETRY = { code: 'api_error', retryable: true } as const;
const NO_RETRY = { code: 'api_error', retryable: false } as const;
const CHECK_URL = 'check base_url, it must name the API itself';

function judge(service: Service, classify: Classify, body: ErrorBody, status: number | null): Verdict {
  if (isOverflow(body)) return TOO_LONG;
  return classify(body, status) ?? (status === null ? RETRY : verdictOf(service, status));
}

const TOO_LONG: Verdict = { code: 'context_length', retryable: false };

function verdictOf({ advice }: Service, status: number): Verdict {
  if (status === 401) return { code: 'auth', retryable: false, advice: `check the key, ${advice.key}` };
  if (status === 403)
    return { code: 'auth', retryable: false, advice: `check the permissions of the key, ${advice.key}` };
  if (status === 404) return { ...NO_RETRY, advice: advice.notFound };
  if (status === 402) return { ...NO_RETRY, advice: NO_CREDIT };
  if (status === 413) return TOO_LONG;
  if (status === 429) return { code: 'rate_limit', retryable: true };
  if (status === 408 || status === 504 || status === 524) return { code: 'timeout', retryable: true };
  if (status === 409 || status >= 500) return RETRY;
  return status < 400
    ? { ...NO_RETRY, advice: 'it redirects, and redirects are not followed: check base_url' }
    : NO_RETRY;
}

/** For accounts without credit. */
export const NO_CREDIT = 'the account is out of credit, so trying again does not help';

const TIMEOUT_CODES = /^(?:ETIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT)$/;
const CERTIFICATE_CODES = /CERT|^UNABLE_TO_|^ERR_TLS_|^ERR_SSL_/;

function connectionError(
  service: Service,
  { codes, detail }: { readonly codes: readonly string[]; readonly detail: string },
): ModelError {
  const code = codes.at(-1);
  const words = quote(service, code ?? detail);
  if (codes.some((one) => TIMEOUT_CODES.test(one))) {
    return serviceError(service, `did not answer in time${words}`, { code: 'timeout', retryable: true });
  }
  switch (code) {
    case 'ECONNREFUSED':
      return serviceError(service, `cannot be reached${words}`, { ...RETRY, advice: service.advice.refused });
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return serviceError(service, `cannot be found${words}`, {
        ...RETRY,
        advice: 'check base_url and the network',
      });
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return serviceError(service, `closed the connection${words}`, RETRY);
    default:
      break;
  }
  if (codes.some((one) => CERTIFICATE_CODES.test(one))) {
    return serviceError(service, `has a certificate that is not trusted${words}`, {
      ...NO_RETRY,
      advice: 'NODE_EXTRA_CA_CERTS names a file with more authorities',
    });
  }
  return serviceError(service, `cannot be reached${words}`, RETRY);
}

const UNSUPPORTED_CODES: ReadonlySet<string> = new Set([
  'unsupported_parameter',
  'unsupported_value',
  'unknown_parameter',
]);
const UNSUPPORTED_WORDS =
  /unsupported|not (?:be )?(?:supported|permitted|allowed|accepted|recogni[sz]ed)|(?:does|do)(?: not|n't) (?:support|accept)|unrecogni[sz]ed|unknown|unexpected|deprecated|no longer/i;

/** Whether a service refused one of these parameters as such, and not because its value is too large. */
export function namesUnsupported(failure: ServiceFailure, names: readonly string[]): boolean {
  if (failure.kind !== 'status' || (failure.status !== 400 && failure.status !== 422)) return false;
  const body = readErrorBody(failure.body);
  if (isOverflow(body)) return false;
  const isNamed = (name: string): boolean =>
    body.param === null ? new RegExp(`\\b${name}\\b`).test(body.text) : body.param.split('.')[0] === name;
  return (UNSUPPORTED_CODES.has(body.code ?? '') || UNSUPPORTED_WORDS.test(body.text)) && names.some(isNamed);
}

/**
 * How long a service asks to wait, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date (RFC
 * 9110, 10.2.3). Undefined if it is missing or invalid; 0 for a past date.
 */
export function readRetryAfterMs(headers: Headers, now: Date): number | undefined {
  const ms = readAmount(headers.get('retry-after-ms'));
  if (ms !== undefined) return Math.ceil(ms);
  const value = headers.get('retry-after');
  const seconds = readAmount(value);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  const time = value === null || !/[a-z]/i.test(value) ? Number.NaN : Date.parse(value);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now.getTime());
}

function readAmount(value: string | null): number | undefined {
  return value !== null && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}

/**
 * The words in which services say that a request is too long. They include a rate limit that one request exceeds by
 * itself, because a smaller request helps there and waiting does not.
 */
export const OVERFLOW_TEXTS: readonly { readonly services: string; readonly pattern: RegExp }[] = [
  { services: 'OpenAI, vLLM, OpenRouter, DeepSeek', pattern: /maximum context length (?:is|of) [\d,]+/i },
  { services: 'OpenAI (responses)', pattern: /exceeds the context window/i },
  { services: 'OpenAI, Groq (one request over its rate limit)', pattern: /request too large for/i },
  { services: 'vLLM', pattern: /context length is only [\d,]+ tokens/i },
  { services: 'vLLM (prompt alone)', pattern: /longer than the maximum model length/i },
  { services: 'SGLang', pattern: /longer than the model'?s context length/i },
  { services: 'llama.cpp', pattern: /exceeds? the available context size/i },
  { services: 'LM Studio', pattern: /loaded with (?:a )?context length of only/i },
  { services: 'LM Studio (MLX)', pattern: /context size has been exceeded|reached context length of/i },
  { services: 'Groq', pattern: /reduce the length of the messages/i },
  {
    services: 'Ollama',
    pattern: /input length exceeds (?:the )?(?:maximum )?context length|exceeded max context length/i,
  },
  { services: 'Mistral', pattern: /too large for model with [\d,]+ maximum context length/i },
  { services: 'TGI', pattern: /`inputs` (?:tokens|must have)/i },
  { services: 'Together, Fireworks', pattern: /model maximum context length:? [\d,]+/i },
  { services: 'xAI', pattern: /maximum prompt length is [\d,]+/i },
  { services: 'Moonshot', pattern: /exceeded model token limit/i },
  { services: 'Gemini', pattern: /input token count.{0,40}exceeds the maximum/i },
  { services: 'others', pattern: /exceeds? (?:the )?(?:model'?s )?maximum context length/i },
  { services: 'Anthropic', pattern: /prompt is too long/i },
  { services: 'Anthropic (with max_tokens)', pattern: /exceed context limit/i },
  { services: 'Bedrock', pattern: /input is too long for requested model/i },
];

/** Codes and types with the same meaning. */
const OVERFLOW_CODES: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'model_context_window_exceeded',
  'request_too_large',
  'string_above_max_length',
]);

export function isOverflow(body: {
  readonly text: string;
  readonly type: string | null;
  readonly code: string | null;
}): boolean {
  if ([body.type, body.code].some((name) => name !== null && OVERFLOW_CODES.has(name))) return true;
  return OVERFLOW_TEXTS.some(({ pattern }) => pattern.test(body.text));
}
