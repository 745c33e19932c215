import { ModelError } from '../../core/model-request.ts';
import { err, ok, type Result } from '../../core/result.ts';
import {
  type Classify,
  classifyOpenAi,
  type ErrorBody,
  failureBehind,
  isHtml,
  isOverflow,
  NO_CREDIT,
  readErrorBody,
  type ServiceFailure,
  type Verdict,
} from './service-failure.ts';

/** Common options of the providers that use the network. */
export type ServiceOptions = {
  readonly apiKey: string | null;
  readonly baseUrl: string;
  /** Receives the SDK's log lines, without keys. By default nothing is logged. */
  readonly log?: (line: string) => void;
  /** The clock, for `retry-after` headers with a date. */
  readonly now?: () => Date;
};

/** How a vendor's errors are understood, and what people may try. */
type Vendor = {
  readonly classify: Classify;
  readonly advice: {
    /** Where its key comes from. */
    readonly key: string;
    /** What to check if the model or path is unknown. */
    readonly notFound: string;
    /** What to try if the connection is refused. */
    readonly refused: string;
  };
};

/** Servers of OpenAI's kind. */
export const OPENAI_VENDORS: Readonly<Record<'openai' | 'ollama', Vendor>> = {
  openai: {
    classify: classifyOpenAi,
    advice: {
      key: 'OPENAI_API_KEY or what api_key_env names',
      notFound: 'check the name of the model, and base_url, which mostly ends in /v1',
      refused: 'check base_url, and whether a server runs there',
    },
  },
  ollama: {
    classify: classifyOpenAi,
    advice: {
      key: 'api_key or what api_key_env names',
      notFound: '`ollama list` shows the installed models, `ollama pull` installs one; base_url ends in /v1',
      refused: 'is Ollama running? `ollama serve` starts it',
    },
  },
};

/** `url` has no slash at its end; `host` is what messages name, with a non-default port. */
type BaseUrl = { readonly url: string; readonly host: string; readonly hostname: string };

export type Service = BaseUrl &
  Vendor & { readonly key: string | null; readonly mask: ReturnType<typeof createMask>; readonly now: () => Date };

/** Checks the options. The error is what every call of the provider rejects with. */
export function openService(
  { apiKey, baseUrl, now = () => new Date() }: ServiceOptions,
  vendor: Vendor,
): Result<Service, ModelError> {
  const base = parseBaseUrl(baseUrl);
  if (!base.ok) return err(new ModelError('api_error', base.error, { retryable: false }));
  const trimmed = apiKey?.trim() ?? '';
  const key = trimmed === '' ? null : trimmed;
  // A header cannot hold other characters, and the error message of fetch would show the key.
  if (key !== null && !/^[\u0021-\u007e]+$/.test(key)) {
    const message = `the key for ${base.value.host} has spaces, line ends or letters in it that no key has: look at ${vendor.advice.key}`;
    return err(new ModelError('auth', message, { retryable: false }));
  }
  return ok({ ...base.value, ...vendor, key, mask: createMask(key), now });
}

/**
 * Accepts an http or https URL without a password, query or fragment. The error is a sentence that shows nothing
 * secret.
 */
function parseBaseUrl(text: string): Result<BaseUrl, string> {
  const parsed = URL.parse(text);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return err('base_url is not an http or https URL');
  if (parsed.username !== '' || parsed.password !== '') {
    return err('base_url has a user or a password in it, which cannot be sent: give the key as api_key or api_key_env');
  }
  if (parsed.search !== '' || parsed.hash !== '') {
    return err('base_url has a query or a fragment, and paths are added at its end: leave them out');
  }
  const url = `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '');
  return ok({ url, host: parsed.host, hostname: parsed.hostname });
}

/** Replaces a key wherever it would be shown. */
const MASK = '[key]';
/**
 * Keys of local servers are often words such as `none` or `ollama`, so shorter keys are masked only as separate words.
 */
const MIN_SECRET_CHARS = 8;
/** In an answer, a shorter key may be meant as a word. */
const MIN_UNMISTAKABLE_CHARS = 16;

/** Masks a key in texts, also where a server echoes it in a URL or in JSON: in errors and log lines, and in what a model wrote. */
export function createMask(key: string | null): Record<'maskShown' | 'maskAnswer', (text: string) => string> {
  if (key === null || key === '') return { maskShown: (text) => text, maskAnswer: (text) => text };
  const forms = [...new Set([key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)])];
  const any = forms.map((form) => form.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)).join('|');
  const pattern = new RegExp(key.length < MIN_SECRET_CHARS ? `(?<![A-Za-z0-9])(?:${any})(?![A-Za-z0-9])` : any, 'g');
  const maskShown = (text: string): string => text.replace(pattern, MASK);
  return { maskShown, maskAnswer: key.length < MIN_UNMISTAKABLE_CHARS ? (text) => text : maskShown };
}

/** For requests without a limit; the default of the SDKs. */
const DEFAULT_TIMEOUT_MS = 600_000;

type CallLimits = {
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  /** What to try if it takes longer. */
  readonly lateAdvice?: string;
};

/**
 * Makes one call within its time limit. Rejects with a `ModelError` for failures of the service; errors of this program
 * pass through.
 */
export async function callService<T>(
  service: Service,
  { timeoutMs = DEFAULT_TIMEOUT_MS, signal, lateAdvice = 'compaction_timeout allows more' }: CallLimits,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    const outcome = await withDeadline(work, { signal, timeoutMs });
    if (outcome.kind === 'done') return outcome.value;
    if (outcome.kind === 'aborted') throw new ModelError('api_error', 'it was interrupted', { retryable: false });
    const limit = `did not complete its answer within ${timeoutMs / 1000} s`;
    throw serviceError(service, limit, { code: 'timeout', retryable: true, advice: lateAdvice });
  } catch (error) {
    const failure = failureBehind(error);
    throw failure === null ? error : toModelError(service, failure);
  }
}

/**
 * Asks again if a failure shows that the service takes requests only in another form, and keeps what it learned in
 * `state`. `adapt` returns the changes to `used`, or null, and must run out of changes.
 */
export async function askAdapting<Form extends object, T>(
  state: { form: Form },
  ask: (form: Form) => Promise<T>,
  adapt: (used: Form, failure: ServiceFailure) => Partial<Form> | null,
): Promise<T> {
  for (;;) {
    const used = state.form;
    try {
      return await ask(used);
    } catch (error) {
      const failure = failureBehind(error);
      const change = failure === null ? null : adapt(used, failure);
      if (change === null) throw error;
      state.form = { ...state.form, ...change };
    }
  }
}

type DeadlineOutcome<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'late' | 'aborted' };

/** The longest delay of a timer. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs `work` until it is done, `timeoutMs` have passed or `signal` aborts, and waits no longer: the signal passed to
 * `work` is aborted, and its late result is ignored. Errors of `work` pass through.
 */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { signal, timeoutMs }: { readonly signal: AbortSignal | undefined; readonly timeoutMs: number },
): Promise<DeadlineOutcome<T>> {
  if (signal?.aborted === true) return { kind: 'aborted' };
  const own = new AbortController();
  const stopped = Promise.withResolvers<DeadlineOutcome<T>>();
  const onAbort = (): void => stopped.resolve({ kind: 'aborted' });
  const timer = setTimeout(() => stopped.resolve({ kind: 'late' }), Math.min(timeoutMs, MAX_TIMER_MS));
  signal?.addEventListener('abort', onAbort, { once: true });
  const done = work(own.signal).then((value): DeadlineOutcome<T> => ({ kind: 'done', value }));
  try {
    return await Promise.race([stopped.promise, done]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    own.abort();
  }
}

/** `happened` completes the host's name: "answered 401". */
export function serviceError(
  { host }: Service,
  happened: string,
  { code, retryable, advice, retryAfterMs }: Verdict & { readonly retryAfterMs?: number },
): ModelError {
  const message = `${host} ${happened}${advice === undefined ? '' : `: ${advice}`}`;
  return new ModelError(code, message, { retryable, retryAfterMs });
}

const MAX_QUOTED_CHARS = 300;

/** A service's own words for a message: without keys, on one line, shortened; '' if there are none. */
function quote({ mask }: Service, text: string | null): string {
  const line = mask
    .maskShown(text ?? '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  if (line === '') return '';
  return ` (${line.length <= MAX_QUOTED_CHARS ? line : `${line.slice(0, MAX_QUOTED_CHARS)}…`})`;
}

const RETRY = { code: 'api_error', retryable: true } as const;
const NO_RETRY = { code: 'api_error', retryable: false } as const;
const LATE = { code: 'timeout', retryable: true } as const;
const TOO_LONG = { code: 'context_length', retryable: false } as const;
const NOT_THE_API = { ...NO_RETRY, advice: 'check base_url, it must name the API itself' };

/** Failures that have no details. */
const PLAIN_FAILURES: Readonly<
  Record<'empty' | 'no-end' | 'no-json' | 'html' | 'too-large', readonly [happened: string, Verdict]>
> = {
  empty: ['sent an empty answer', RETRY],
  'no-end': ['ended its answer before it was complete', RETRY],
  'no-json': ['sent something that is not JSON', RETRY],
  html: ['answered with a web page', NOT_THE_API],
  'too-large': ['sent an answer that is too large', NO_RETRY],
};

/** Turns a failure into the caller's error, in this one place. */
export function toModelError(service: Service, failure: ServiceFailure): ModelError {
  const happened = serviceError.bind(null, service);
  switch (failure.kind) {
    case 'status': {
      const body = readErrorBody(failure.body);
      const verdict = judge(service, body, failure.status);
      const retryAfterMs = verdict.retryable ? readRetryAfterMs(failure.headers, service.now()) : undefined;
      const words = isHtml(failure.body) ? ' with a web page' : quote(service, body.message);
      return happened(`answered ${failure.status}${words}`, { ...verdict, retryAfterMs });
    }
    case 'error-body': {
      const body = readErrorBody(failure.body);
      return happened(`answered with an error${quote(service, body.message)}`, judge(service, body, body.status));
    }
    case 'connection': {
      const [words, verdict] = describeConnection(service, failure.codes);
      return happened(`${words}${quote(service, failure.codes.at(-1) ?? failure.detail)}`, verdict);
    }
    case 'shape':
      return happened(`sent an answer of an unknown shape${quote(service, failure.what)}`, NOT_THE_API);
    default:
      return happened(...PLAIN_FAILURES[failure.kind]);
  }
}

function judge(service: Service, body: ErrorBody, status: number | null): Verdict {
  if (isOverflow(body)) return TOO_LONG;
  return service.classify(body, status) ?? (status === null ? RETRY : verdictOf(service, status));
}

function verdictOf({ advice }: Service, status: number): Verdict {
  if (status === 401) return { code: 'auth', retryable: false, advice: `check the key, ${advice.key}` };
  if (status === 403)
    return { code: 'auth', retryable: false, advice: `check the permissions of the key, ${advice.key}` };
  if (status === 404) return { ...NO_RETRY, advice: advice.notFound };
  if (status === 402) return { ...NO_RETRY, advice: NO_CREDIT };
  if (status === 413) return TOO_LONG;
  if (status === 429) return { code: 'rate_limit', retryable: true };
  if (status === 408 || status === 504 || status === 524) return LATE;
  if (status === 409 || status >= 500) return RETRY;
  return status < 400
    ? { ...NO_RETRY, advice: 'it redirects, and redirects are not followed: check base_url' }
    : NO_RETRY;
}

const TIMEOUT_CODES = /^(?:ETIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT)$/;
const CERTIFICATE_CODES = /CERT|^UNABLE_TO_|^ERR_TLS_|^ERR_SSL_/;

function describeConnection({ advice }: Service, codes: readonly string[]): readonly [words: string, verdict: Verdict] {
  if (codes.some((one) => TIMEOUT_CODES.test(one))) return ['did not answer in time', LATE];
  switch (codes.at(-1)) {
    case 'ECONNREFUSED':
      return ['cannot be reached', { ...RETRY, advice: advice.refused }];
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return ['cannot be found', { ...RETRY, advice: 'check base_url and the network' }];
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return ['closed the connection', RETRY];
    default:
      if (!codes.some((one) => CERTIFICATE_CODES.test(one))) return ['cannot be reached', RETRY];
      return [
        'has a certificate that is not trusted',
        { ...NO_RETRY, advice: 'NODE_EXTRA_CA_CERTS names a file with more authorities' },
      ];
  }
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
