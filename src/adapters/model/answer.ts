import type { z } from 'zod';
import { connectionFault, faultBehind, isHtml, parseJson, ServiceFault } from './fault.ts';

/** An answer as it came: piece by piece, or whole from a server that does not stream. */
export type Answered =
  | { readonly kind: 'events'; readonly events: AsyncIterable<unknown> }
  | { readonly kind: 'whole'; readonly value: unknown };

/**
 * What a response with a success status holds. `errorBody` gives what an SDK's error for an error event carries, undefined for any
 * other error.
 */
export async function openAnswer(
  { data, response }: { readonly data: AsyncIterable<unknown>; readonly response: Response },
  errorBody: (error: unknown) => unknown,
): Promise<Answered> {
  const type = response.headers.get('content-type') ?? '';
  if (/\bhtml\b/i.test(type)) throw new ServiceFault({ kind: 'html' });
  if (!/\bjson\b/i.test(type)) return { kind: 'events', events: guardEvents(data, errorBody) };
  const text = await response.text().catch((error: unknown) => {
    throw brokenOff(error);
  });
  if (text.trim() === '') throw new ServiceFault({ kind: 'empty' });
  if (isHtml(text)) throw new ServiceFault({ kind: 'html' });
  const value = parseJson(text);
  if (value === undefined) throw new ServiceFault({ kind: 'no-json' });
  if (isErrorValue(value)) throw new ServiceFault({ kind: 'error-body', body: value });
  return { kind: 'whole', value };
}

async function* guardEvents(
  events: AsyncIterable<unknown>,
  errorBody: (error: unknown) => unknown,
): AsyncIterable<unknown> {
  try {
    yield* events;
  } catch (error) {
    const body = errorBody(error);
    throw body === undefined ? brokenOff(error) : new ServiceFault({ kind: 'error-body', body });
  }
}

/** Nothing but the stream of a response is at work where this is asked: what fails there is the connection or the bytes. */
function brokenOff(error: unknown): unknown {
  return faultBehind(error) === null ? new ServiceFault(connectionFault(error)) : error;
}

function isErrorValue(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return ('error' in value && value.error !== null) || ('type' in value && value.type === 'error');
}

/** A value that a service sent, checked; what it has beyond the schema is let be. `what` names it in the error. */
export function checked<T extends z.ZodType>(schema: T, value: unknown, what: string): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const path = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new ServiceFault({ kind: 'shape', what: path === '' ? what : `${what}.${path}` });
}

type Fetch = typeof globalThis.fetch;

/** An error's body beyond this is not read. */
const MAX_ERROR_CHARS = 20_000;
/** A stream of a summary has a few hundred kilobytes; this much is an answer that does not end. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * A fetch for an SDK that sends exactly these headers, whatever the SDK found in the environment, and follows no redirect: the
 * request goes to the host that was configured or nowhere. Whatever is no success rejects with a `ServiceFault`.
 */
export function createGuardedFetch(headers: Readonly<Record<string, string>>): Fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, headers, redirect: 'manual' }).catch((error: unknown) => {
      throw init?.signal?.aborted === true ? error : new ServiceFault(connectionFault(error));
    });
    if (!response.ok) throw new ServiceFault(await statusFault(response));
    const { body, status } = response;
    if (body === null) throw new ServiceFault({ kind: 'empty' });
    return new Response(body.pipeThrough(limitBytes(MAX_ANSWER_BYTES)), { status, headers: response.headers });
  };
}

async function statusFault({ status, headers, body }: Response) {
  return { kind: 'status', status, headers, body: body === null ? '' : await readStart(body) } as const;
}

/** The beginning of a text; a body that breaks off has said what it said. */
async function readStart(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let chars = 0;
  try {
    for await (const bytes of body) {
      const part = decoder.decode(bytes, { stream: true });
      parts.push(part);
      chars += part.length;
      if (chars > MAX_ERROR_CHARS) break;
    }
  } catch {
    // the status is known, and it is what counts
  }
  return parts.join('').slice(0, MAX_ERROR_CHARS);
}

function limitBytes(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) controller.error(new ServiceFault({ kind: 'too-large' }));
      else controller.enqueue(chunk);
    },
  });
}
