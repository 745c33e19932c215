import type { ModelError } from '../../core/model-request.ts';
import { assertNever } from '../../core/result.ts';
import { type ErrorBody, type Fault, isHtml, readErrorBody } from './fault.ts';
import { quoted, type Service, serviceError, type Verdict } from './service.ts';

/** What a vendor's own names for errors mean; null: the status says it. `status` is null where an error came in an answer. */
export type Classify = (said: ErrorBody, status: number | null) => Verdict | null;

/** A fault in the caller's terms, once for all. */
export function translateFault(service: Service, fault: Fault, classify: Classify): ModelError {
  switch (fault.kind) {
    case 'status': {
      const said = readErrorBody(fault.body);
      const verdict = judge(service, classify, said, fault.status);
      const retryAfterMs = verdict.retryable ? readRetryAfterMs(fault.headers, service.now()) : undefined;
      const words = isHtml(fault.body) ? ' with a web page' : quoted(service, said.message);
      return serviceError(service, `answered ${fault.status}${words}`, { ...verdict, retryAfterMs });
    }
    case 'error-body': {
      const said = readErrorBody(fault.body);
      const verdict = judge(service, classify, said, said.status);
      return serviceError(service, `answered with an error${quoted(service, said.message)}`, verdict);
    }
    case 'connection':
      return connectionError(service, fault);
    case 'empty':
      return serviceError(service, 'answered with nothing that is an answer', AGAIN);
    case 'no-end':
      return serviceError(service, 'ended its answer before it was complete', AGAIN);
    case 'no-json':
      return serviceError(service, 'sent something that is not JSON', AGAIN);
    case 'shape':
      return serviceError(service, `sent an answer of an unknown shape${quoted(service, fault.what)}`, {
        ...NEVER,
        advice: CHECK_URL,
      });
    case 'html':
      return serviceError(service, 'answered with a web page', { ...NEVER, advice: CHECK_URL });
    case 'too-large':
      return serviceError(service, 'sent an answer without an end', NEVER);
    default:
      return assertNever(fault);
  }
}

const AGAIN = { code: 'api_error', retryable: true } as const;
const NEVER = { code: 'api_error', retryable: false } as const;
const CHECK_URL = 'check base_url, it must name the API itself';

function judge(service: Service, classify: Classify, said: ErrorBody, status: number | null): Verdict {
  if (isOverflow(said)) return TOO_LONG;
  return classify(said, status) ?? (status === null ? AGAIN : verdictOf(service, status));
}

const TOO_LONG: Verdict = { code: 'context_length', retryable: false };

function verdictOf({ advice }: Service, status: number): Verdict {
  if (status === 401) return { code: 'auth', retryable: false, advice: `check the key, ${advice.key}` };
  if (status === 403)
    return { code: 'auth', retryable: false, advice: `check what the key may be used for, ${advice.key}` };
  if (status === 404) return { ...NEVER, advice: advice.notFound };
  if (status === 402) return { ...NEVER, advice: NO_CREDIT };
  if (status === 413) return TOO_LONG;
  if (status === 429) return { code: 'rate_limit', retryable: true };
  if (status === 408 || status === 504 || status === 524) return { code: 'timeout', retryable: true };
  if (status === 409 || status >= 500) return AGAIN;
  return status < 400
    ? { ...NEVER, advice: 'it is elsewhere, and requests follow no redirect: check base_url' }
    : NEVER;
}

/** For accounts that must be paid first. */
export const NO_CREDIT = 'the account has nothing left to spend, and trying again does not help';

const TIMEOUT_CODES = /^(?:ETIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT)$/;
const CERTIFICATE_CODES = /CERT|^UNABLE_TO_|^ERR_TLS_|^ERR_SSL_/;

function connectionError(
  service: Service,
  { codes, detail }: { readonly codes: readonly string[]; readonly detail: string },
): ModelError {
  const code = codes.at(-1);
  const words = quoted(service, code ?? detail);
  if (codes.some((one) => TIMEOUT_CODES.test(one))) {
    return serviceError(service, `did not answer in time${words}`, { code: 'timeout', retryable: true });
  }
  switch (code) {
    case 'ECONNREFUSED':
      return serviceError(service, `cannot be reached${words}`, { ...AGAIN, advice: service.advice.refused });
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return serviceError(service, `cannot be found${words}`, {
        ...AGAIN,
        advice: 'check base_url and the network',
      });
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return serviceError(service, `broke the connection off${words}`, AGAIN);
    default:
      break;
  }
  if (codes.some((one) => CERTIFICATE_CODES.test(one))) {
    return serviceError(service, `has a certificate that is not trusted${words}`, {
      ...NEVER,
      advice: 'NODE_EXTRA_CA_CERTS names a file with more authorities',
    });
  }
  return serviceError(service, `cannot be reached${words}`, AGAIN);
}

const UNSUPPORTED_CODES: ReadonlySet<string> = new Set([
  'unsupported_parameter',
  'unsupported_value',
  'unknown_parameter',
]);
const UNSUPPORTED_WORDS =
  /unsupported|not (?:be )?(?:supported|permitted|allowed|accepted|recogni[sz]ed)|(?:does|do)(?: not|n't) (?:support|accept)|unrecogni[sz]ed|unknown|unexpected|deprecated|no longer/i;

/** Whether a service refused a request for one of these parameters as such, not for its value being too large. */
export function namesUnsupported(fault: Fault, names: readonly string[]): boolean {
  if (fault.kind !== 'status' || (fault.status !== 400 && fault.status !== 422)) return false;
  const said = readErrorBody(fault.body);
  if (isOverflow(said)) return false;
  const isNamed = (name: string): boolean =>
    said.param === null ? new RegExp(`\\b${name}\\b`).test(said.text) : said.param.split('.')[0] === name;
  return (UNSUPPORTED_CODES.has(said.code ?? '') || UNSUPPORTED_WORDS.test(said.text)) && names.some(isNamed);
}

/**
 * How long a service asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date (RFC 9110, 10.2.3). Undefined where it
 * says nothing that can be read; a date that is over means at once.
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
 * How services say that a request is too long, by the words in which they do. A rate limit that a single request exceeds by itself is
 * one of them: waiting does not help there, a smaller request does.
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

/** Codes and types that say the same without words. */
const OVERFLOW_CODES: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'model_context_window_exceeded',
  'request_too_large',
  'string_above_max_length',
]);

export function isOverflow(said: {
  readonly text: string;
  readonly type: string | null;
  readonly code: string | null;
}): boolean {
  if ([said.type, said.code].some((name) => name !== null && OVERFLOW_CODES.has(name))) return true;
  return OVERFLOW_TEXTS.some(({ pattern }) => pattern.test(said.text));
}
