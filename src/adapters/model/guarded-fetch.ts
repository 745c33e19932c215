import { connectionFault, ServiceFault } from './fault.ts';

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
