import type { z } from 'zod';
import { connectionFailure, failureBehind, isHtml, ServiceFailureError } from './service-failure.ts';
import { MAX_TIMER_MS, type Service, type ServiceOptions } from './service.ts';
import { parseJson } from '../../core/result.ts';

/** An answer: events from a stream, or one value from a server that does not stream. */
export type Answer =
  | { readonly kind: 'events'; readonly events: AsyncIterable<unknown> }
  | { readonly kind: 'whole'; readonly value: unknown };

/** Opens a response with a success status. */
export async function openAnswer({
  data,
  response,
}: {
  readonly data: AsyncIterable<unknown>;
  readonly response: Response;
}): Promise<Answer> {
  const type = response.headers.get('content-type') ?? '';
  if (/\bhtml\b/i.test(type)) throw new ServiceFailureError({ kind: 'html' });
  if (/\bjson\b/i.test(type)) return { kind: 'whole', value: await readValue(response) };
  return { kind: 'events', events: guardEvents(data) };
}

/** Reads a response as one value of JSON. */
export async function readValue(response: Response): Promise<unknown> {
  const text = await response.text().catch((error: unknown) => {
    throw asConnectionFailure(error);
  });
  if (text.trim() === '') throw new ServiceFailureError({ kind: 'empty' });
  if (isHtml(text)) throw new ServiceFailureError({ kind: 'html' });
  const value = parseJson(text);
  if (value === undefined) throw new ServiceFailureError({ kind: 'no-json' });
  const { error = null, type } = Object(value);
  if (error !== null || type === 'error') throw new ServiceFailureError({ kind: 'error-body', body: value });
  return value;
}

async function* guardEvents(events: AsyncIterable<unknown>): AsyncIterable<unknown> {
  try {
    yield* events;
  } catch (error) {
    // Both SDKs attach the body of an error event, or the inner object of `{ error }`.
    const body = error instanceof Error && 'error' in error ? error.error : undefined;
    throw body === undefined ? asConnectionFailure(error) : new ServiceFailureError({ kind: 'error-body', body });
  }
}

/** Only the stream of a response can have failed here, so any unknown error is one of the connection. */
function asConnectionFailure(error: unknown): unknown {
  return failureBehind(error) === null ? new ServiceFailureError(connectionFailure(error)) : error;
}

/** Validates a value that a service sent; extra keys are kept. `what` names the value in the error. */
export function validate<T extends z.ZodType>(schema: T, value: unknown, what: string): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const path = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new ServiceFailureError({ kind: 'shape', what: path === '' ? what : `${what}.${path}` });
}

export type ClientOptions = Pick<ServiceOptions, 'log'> & { readonly maxAnswerBytes?: number };

/** What both SDKs are created with: they take nothing from the environment, and our own time limit always comes first. */
export function clientOptions(service: Service, { log, maxAnswerBytes }: ClientOptions, headers: HeaderValues = {}) {
  return {
    // Our fetch sends the real header.
    apiKey: service.key ?? 'none',
    baseURL: service.url,
    maxRetries: 0,
    timeout: MAX_TIMER_MS,
    logger: createSdkLogger(service, log ?? (() => undefined)),
    logLevel: log === undefined ? 'off' : 'info',
    fetch: createGuardedFetch(service, headers, maxAnswerBytes),
  } as const;
}

type SdkLog = (message: string, ...rest: readonly unknown[]) => void;

/** A logger for both SDKs. It drops the logged values, which may be bodies. */
export function createSdkLogger(
  { mask }: Pick<Service, 'mask'>,
  log: (line: string) => void,
): Record<'error' | 'warn' | 'info' | 'debug', SdkLog> {
  const say = (message: string): void => log(mask.maskShown(message));
  return { error: say, warn: say, info: say, debug: say };
}

type HeaderValues = Readonly<Record<string, string>>;

/** No more of an error's body is read. */
const MAX_ERROR_CHARS = 20_000;
/** A streamed summary has a few hundred kilobytes; an answer of this size does not end. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * A fetch that sends exactly our headers, whatever an SDK found in the environment, and follows no redirect, so a request goes to the configured
 * host or nowhere. Rejects with a `ServiceFailureError` unless the status is a success.
 */
export function createGuardedFetch(
  { key }: Pick<Service, 'key'>,
  headers: HeaderValues = {},
  maxAnswerBytes = MAX_ANSWER_BYTES,
): typeof globalThis.fetch {
  const ours = {
    accept: 'application/json',
    'user-agent': 'compact-transcript',
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...headers,
  };
  return async (input, init) => {
    // A form brings its own type, with the boundary of its parts.
    const type = init?.body instanceof FormData ? {} : { 'content-type': 'application/json' };
    const sent = { ...init, headers: { ...ours, ...type }, redirect: 'manual' } as const;
    const response = await fetch(input, sent).catch((error: unknown) => {
      throw init?.signal?.aborted === true ? error : new ServiceFailureError(connectionFailure(error));
    });
    const { body, status } = response;
    if (!response.ok) {
      const start = body === null ? '' : await readStart(body);
      throw new ServiceFailureError({ kind: 'status', status, headers: response.headers, body: start });
    }
    if (body === null) throw new ServiceFailureError({ kind: 'empty' });
    return new Response(body.pipeThrough(limitBytes(maxAnswerBytes)), { status, headers: response.headers });
  };
}

/** Reads the start of a text; if the body breaks off, what came before that. */
async function readStart(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const bytes of body) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length > MAX_ERROR_CHARS) break;
    }
  } catch {
    // the status is known, and that is enough
  }
  return text.slice(0, MAX_ERROR_CHARS);
}

function limitBytes(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) controller.error(new ServiceFailureError({ kind: 'too-large' }));
      else controller.enqueue(chunk);
    },
  });
}
