import { ModelError, type ModelErrorCode } from '../../core/model-request.ts';
import { err, ok, type Result } from '../../core/result.ts';

/** What every provider that is reached over the network is made from. */
export type ServiceOptions = {
  readonly apiKey: string | null;
  readonly baseUrl: string;
  /** Gets what the SDK has to say, a line at a time, without keys. Without it nothing is said. */
  readonly log?: (line: string) => void;
  /** For `retry-after` headers that give a date. */
  readonly now?: () => Date;
};

export type ReachableService = { readonly service: Service; readonly base: BaseUrl; readonly key: string | null };

/** The error is what every call of the provider is to reject with. */
export function openService(
  { apiKey, baseUrl, now = () => new Date() }: ServiceOptions,
  advice: Service['advice'],
): Result<ReachableService, ModelError> {
  const base = parseBaseUrl(baseUrl);
  if (!base.ok) return err(new ModelError('api_error', base.error, { retryable: false }));
  const trimmed = apiKey?.trim() ?? '';
  const key = trimmed === '' ? null : trimmed;
  // Anything else cannot stand in a header, and the error of fetch would show it.
  if (key !== null && !/^[\u0021-\u007e]+$/.test(key)) {
    const message = `the key for ${base.value.host} has spaces, line ends or letters in it that no key has: look at ${advice.key}`;
    return err(new ModelError('auth', message, { retryable: false }));
  }
  const service = { host: base.value.host, mask: createMask(key), now, advice };
  return ok({ service, base: base.value, key });
}

/** What both SDKs take for a logger. Values are left out: they may be bodies. */
export function createSdkLogger({ mask }: Service, log: (line: string) => void): Record<SdkLevel, SdkLog> {
  const say = (message: string): void => log(mask.shown(message));
  return { error: say, warn: say, info: say, debug: say };
}

type SdkLevel = 'error' | 'warn' | 'info' | 'debug';
type SdkLog = (message: string, ...rest: readonly unknown[]) => void;

/** The headers of every request, and no others. */
export function requestHeaders(key: string | null): Readonly<Record<string, string>> {
  return {
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': 'compact-transcript',
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
  };
}

/** `url` has no slash at its end; `host` is what messages name, with the port where it is not the usual one. */
type BaseUrl = { readonly url: string; readonly host: string; readonly hostname: string };

/** An http or https URL without a password, query or fragment in it. The error is a sentence that shows nothing secret. */
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

/** What stands for a key wherever one would be shown. */
const MASK = '[key]';

/** Keys of local servers are often words such as `none` or `ollama`: only as words of their own are they masked. */
const MIN_SECRET_CHARS = 8;
/** In an answer a placeholder may be meant as a word; from here on it is none. */
const MIN_UNMISTAKABLE_CHARS = 16;

type Mask = {
  /** For what is shown: errors, log lines. */
  readonly shown: (text: string) => string;
  /** For what a model wrote. */
  readonly written: (text: string) => string;
};

/** Takes a key out of texts, also where a server echoes it as part of a URL or of JSON. */
export function createMask(key: string | null): Mask {
  if (key === null || key === '') return { shown: (text) => text, written: (text) => text };
  const forms = [...new Set([key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)])];
  const any = forms.map((form) => form.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)).join('|');
  const pattern = new RegExp(key.length < MIN_SECRET_CHARS ? `(?<![A-Za-z0-9])(?:${any})(?![A-Za-z0-9])` : any, 'g');
  const shown = (text: string): string => text.replace(pattern, MASK);
  return { shown, written: key.length < MIN_UNMISTAKABLE_CHARS ? (text) => text : shown };
}

/** A service as errors speak of it. */
export type Service = {
  readonly host: string;
  readonly mask: Mask;
  readonly now: () => Date;
  readonly advice: {
    /** Where its key is taken from. */
    readonly key: string;
    /** What to look at where it knows no such model or path. */
    readonly notFound: string;
    /** What to try where nobody listens. */
    readonly refused: string;
  };
};

/** What an error means to the caller, and what people may try about it. */
export type Verdict = {
  readonly code: ModelErrorCode;
  readonly retryable: boolean;
  readonly advice?: string;
};

/** `happened` is said of the host: "answered 401". */
export function serviceError(
  { host }: Service,
  happened: string,
  { code, retryable, advice, retryAfterMs }: Verdict & { readonly retryAfterMs?: number },
): ModelError {
  const message = `${host} ${happened}${advice === undefined ? '' : `: ${advice}`}`;
  return new ModelError(code, message, { retryable, retryAfterMs });
}

const MAX_QUOTED_CHARS = 300;

/** Words of a service as they may stand in a message: without keys, on one line, not too long; nothing where there are none. */
export function quoted({ mask }: Service, text: string | null): string {
  const line = mask
    .shown(text ?? '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  if (line === '') return '';
  return ` (${line.length <= MAX_QUOTED_CHARS ? line : `${line.slice(0, MAX_QUOTED_CHARS)}…`})`;
}
