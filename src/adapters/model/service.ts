import { ModelError } from '../../core/model-error.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { type BaseUrl, parseBaseUrl } from './base-url.ts';
import { createMask } from './mask.ts';
import type { Service } from './service-error.ts';

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
