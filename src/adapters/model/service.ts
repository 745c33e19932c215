import { ModelError, type ModelErrorCode } from '../../core/model-request.ts';
import { err, ok, type Result } from '../../core/result.ts';

/** Common options of the providers that use the network. */
export type ServiceOptions = {
  readonly apiKey: string | null;
  readonly baseUrl: string;
  /** Receives the SDK's log lines, without keys. By default nothing is logged. */
  readonly log?: (line: string) => void;
  /** The clock, for `retry-after` headers with a date. */
  readonly now?: () => Date;
};

export type ReachableService = { readonly service: Service; readonly base: BaseUrl; readonly key: string | null };

/** Checks the options. The error is what every call of the provider rejects with. */
export function openService(
  { apiKey, baseUrl, now = () => new Date() }: ServiceOptions,
  advice: Service['advice'],
): Result<ReachableService, ModelError> {
  const base = parseBaseUrl(baseUrl);
  if (!base.ok) return err(new ModelError('api_error', base.error, { retryable: false }));
  const trimmed = apiKey?.trim() ?? '';
  const key = trimmed === '' ? null : trimmed;
  // A header cannot hold other characters, and the error message of fetch would show the key.
  if (key !== null && !/^[\u0021-\u007e]+$/.test(key)) {
    const message = `the key for ${base.value.host} has spaces, line ends or letters in it that no key has: look at ${advice.key}`;
    return err(new ModelError('auth', message, { retryable: false }));
  }
  const service = { host: base.value.host, mask: createMask(key), now, advice };
  return ok({ service, base: base.value, key });
}

/** A logger for both SDKs. It drops the logged values, which may be bodies. */
export function createSdkLogger({ mask }: Service, log: (line: string) => void): Record<SdkLevel, SdkLog> {
  const say = (message: string): void => log(mask.maskShown(message));
  return { error: say, warn: say, info: say, debug: say };
}

type SdkLevel = 'error' | 'warn' | 'info' | 'debug';
type SdkLog = (message: string, ...rest: readonly unknown[]) => void;

/** The only headers that are sent. */
export function requestHeaders(key: string | null): Readonly<Record<string, string>> {
  return {
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': 'compact-transcript',
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
  };
}

/** `url` has no slash at its end; `host` is what messages name, with a non-default port. */
type BaseUrl = { readonly url: string; readonly host: string; readonly hostname: string };

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

/** Replaces a key wherever it would be maskShown. */
const MASK = '[key]';

/**
 * Keys of local servers are often words such as `none` or `ollama`, so shorter keys are masked only as separate words.
 */
const MIN_SECRET_CHARS = 8;
/** In an answer, a shorter key may be meant as a word. */
const MIN_UNMISTAKABLE_CHARS = 16;

type Mask = {
  /** For errors and log lines. */
  readonly maskShown: (text: string) => string;
  /** For what a model wrote. */
  readonly maskAnswer: (text: string) => string;
};

/** Masks a key in texts, also where a server echoes it in a URL or in JSON. */
export function createMask(key: string | null): Mask {
  if (key === null || key === '') return { maskShown: (text) => text, maskAnswer: (text) => text };
  const forms = [...new Set([key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)])];
  const any = forms.map((form) => form.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)).join('|');
  const pattern = new RegExp(key.length < MIN_SECRET_CHARS ? `(?<![A-Za-z0-9])(?:${any})(?![A-Za-z0-9])` : any, 'g');
  const maskShown = (text: string): string => text.replace(pattern, MASK);
  return { maskShown, maskAnswer: key.length < MIN_UNMISTAKABLE_CHARS ? (text) => text : maskShown };
}

/** A service, as its errors need it. */
export type Service = {
  readonly host: string;
  readonly mask: Mask;
  readonly now: () => Date;
  readonly advice: {
    /** Where its key comes from. */
    readonly key: string;
    /** What to check if the model or path is unknown. */
    readonly notFound: string;
    /** What to try if the connection is refused. */
    readonly refused: string;
  };
};

/** What an error means to the caller, and what people may try. */
export type Verdict = {
  readonly code: ModelErrorCode;
  readonly retryable: boolean;
  readonly advice?: string;
};

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
export function quote({ mask }: Service, text: string | null): string {
  const line = mask
    .maskShown(text ?? '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  if (line === '') return '';
  return ` (${line.length <= MAX_QUOTED_CHARS ? line : `${line.slice(0, MAX_QUOTED_CHARS)}…`})`;
}
