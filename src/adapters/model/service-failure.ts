import { z } from 'zod';
import type { ModelErrorCode } from '../../core/model-request.ts';
import { parseJson } from '../../core/result.ts';

/** What can go wrong between a request and a complete answer, before it is classified. */
export type ServiceFailure =
  /** An HTTP status other than success, with the start of its body. */
  | { readonly kind: 'status'; readonly status: number; readonly headers: Headers; readonly body: string }
  /** An error instead of an answer, or in the middle of one. */
  | { readonly kind: 'error-body'; readonly body: unknown }
  /** No answer, or an interrupted one. `codes` come from the system and from fetch, outermost first. */
  | { readonly kind: 'connection'; readonly codes: readonly string[]; readonly detail: string }
  | { readonly kind: 'empty' | 'html' | 'no-json' | 'no-end' | 'too-large' }
  /** JSON of an unexpected shape. */
  | { readonly kind: 'shape'; readonly what: string };

/** Carries a failure out of a call. Its message is constant, because the SDKs parse error messages. */
export class ServiceFailureError extends Error {
  readonly failure: ServiceFailure;

  constructor(failure: ServiceFailure) {
    super('the service did not answer as it should');
    this.name = 'ServiceFailureError';
    this.failure = failure;
  }
}

const MAX_CAUSES = 8; // a deeper chain is a loop

/** The failure behind an error of fetch, of a stream or of an SDK; null: another error. */
export function failureBehind(error: unknown): ServiceFailure | null {
  const chain = causesOf(error);
  const known = chain.find((one) => one instanceof ServiceFailureError);
  if (known !== undefined) return known.failure;
  if (chain.some((one) => one instanceof SyntaxError)) return { kind: 'no-json' };
  return null;
}

/** The failure behind a rejection of fetch, or of the body that it returned. */
export function connectionFailure(error: unknown): ServiceFailure {
  const chain = causesOf(error);
  const codes = chain.flatMap((one) => ('code' in one && typeof one.code === 'string' ? [one.code] : []));
  return { kind: 'connection', codes, detail: chain.at(-1)?.message ?? String(error) };
}

/** The error and its causes; if every address of a host failed, those of the first. */
function causesOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let one = error; one instanceof Error && chain.length < MAX_CAUSES;) {
    chain.push(one);
    one = one instanceof AggregateError && one.cause === undefined ? one.errors[0] : one.cause;
  }
  return chain;
}

/** What a service says is wrong, wherever it says it in the body. */
export type ErrorBody = {
  /** Null if it contains no message for people. */
  readonly message: string | null;
  readonly type: string | null;
  readonly code: string | null;
  /** The name of the request parameter that is at failure. */
  readonly param: string | null;
  /** An HTTP status inside the body, which OpenRouter sends with a 200. */
  readonly status: number | null;
  /** Everything that may tell the kind of error: its message, and that of an upstream service. */
  readonly text: string;
};

const text = z.string().optional().catch(undefined);
const scalar = z.union([z.string(), z.number()]).nullish().catch(undefined);
const details = z.looseObject({
  message: text,
  type: text,
  code: scalar,
  status: scalar,
  param: z.string().nullish().catch(undefined),
  metadata: z.looseObject({ raw: text }).optional().catch(undefined),
});
const violation = z.looseObject({ msg: text, loc: z.array(z.union([z.string(), z.number()])).catch([]) });
/**
 * `{ error: { … } }` of OpenAI and Anthropic, the inner object alone, `{ detail }` of FastAPI, and Gemini's one-element
 * list.
 */
const envelope = z.looseObject({
  error: z.union([z.string(), details]).optional().catch(undefined),
  detail: z
    .union([z.string(), z.array(violation)])
    .optional()
    .catch(undefined),
});

/** Parses an error's body, given as text or as parsed JSON. Never fails: text of unknown form is the message. */
export function readErrorBody(body: unknown): ErrorBody {
  const value = typeof body === 'string' ? parseJson(body) : body;
  if (value === undefined) return plain(typeof body === 'string' ? body : '');
  const one: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof one === 'string') return plain(one);
  const outer = envelope.safeParse(one);
  if (!outer.success) return plain('');
  const { error, detail } = outer.data;
  if (typeof error === 'string') return plain(error);
  if (error === undefined && detail !== undefined) return fromDetail(detail);
  return fromDetails(error ?? details.parse(one));
}

function fromDetail(detail: string | readonly z.infer<typeof violation>[]): ErrorBody {
  if (typeof detail === 'string') return plain(detail);
  const names = detail.flatMap(({ loc }) => loc.slice(-1)).filter((part) => typeof part === 'string');
  const body = detail.map(({ msg, loc }) => `${loc.join('.')}: ${msg ?? ''}`).join('; ');
  return { ...plain(body), param: names[0] ?? null };
}

function fromDetails({ message, type, code, status, param, metadata }: z.infer<typeof details>): ErrorBody {
  const inner = [code, status].map(Number).find((number) => number >= 400 && number < 600);
  return {
    message: message === undefined || message.trim() === '' ? null : message,
    type: type ?? null,
    code: code === undefined || code === null ? null : String(code),
    param: param ?? null,
    status: inner ?? null,
    text: [message ?? '', metadata?.raw ?? ''].join('\n'),
  };
}

/** A proxy's web page is not shown. */
function plain(body: string): ErrorBody {
  const isShown = body.trim() !== '' && !isHtml(body);
  return { message: isShown ? body : null, type: null, code: null, param: null, status: null, text: body };
}

export function isHtml(text: string): boolean {
  return /^\s*<(?:!doctype|html|head|body)\b/i.test(text);
}

/** What an error means to the caller, and what people may try. */
export type Verdict = {
  readonly code: ModelErrorCode;
  readonly retryable: boolean;
  readonly advice?: string;
};

/** Maps a vendor's own names for errors; null: the status decides. `status` is null for an error inside an answer. */
export type Classify = (body: ErrorBody, status: number | null) => Verdict | null;

/** For accounts without credit. */
export const NO_CREDIT = 'the account is out of credit, so trying again does not help';

/** Maps the Messages API's own error types, if they say more than the status or come without one. */
export function classifyAnthropic({ type, text }: ErrorBody, status: number | null): Verdict | null {
  if (type === 'billing_error' || /credit balance is too low/i.test(text)) {
    return { code: 'api_error', retryable: false, advice: NO_CREDIT };
  }
  return status === null ? (VERDICTS_IN_ANSWERS[type ?? ''] ?? null) : null;
}

/** An error that interrupts an answer has a type but no status. */
const VERDICTS_IN_ANSWERS: Readonly<Record<string, Verdict>> = {
  authentication_error: { code: 'auth', retryable: false },
  permission_error: { code: 'auth', retryable: false },
  rate_limit_error: { code: 'rate_limit', retryable: true },
  timeout_error: { code: 'timeout', retryable: true },
  overloaded_error: { code: 'api_error', retryable: true },
  api_error: { code: 'api_error', retryable: true },
  invalid_request_error: { code: 'api_error', retryable: false },
  not_found_error: { code: 'api_error', retryable: false },
};

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

export function isOverflow(body: Pick<ErrorBody, 'text' | 'type' | 'code'>): boolean {
  if ([body.type, body.code].some((name) => name !== null && OVERFLOW_CODES.has(name))) return true;
  return OVERFLOW_TEXTS.some(({ pattern }) => pattern.test(body.text));
}
