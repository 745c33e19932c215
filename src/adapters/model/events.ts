import { isHtml, parseJson } from './error-body.ts';
import { connectionFault, faultBehind, ServiceFault } from './fault.ts';

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
