import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAiCompletion } from '../support/model-server/openai-wire.ts';
import { answer } from '../support/model-server/reply.ts';

/** All times are in ms since the epoch. */
export type Call = {
  /** The process that asked. */
  readonly worker: number;
  /** Identifies the bytes of the request. */
  readonly request: string;
  readonly text: string;
  readonly askedMs: number;
  /** When the last byte of the answer was handed to the system; null: the connection was closed before. */
  readonly answeredMs: number | null;
};

export type PaidModel = Awaited<ReturnType<typeof servePaidModel>>;

/** Answers every request after a while with a text of its own, and writes the calls down. Each worker has a URL of its own. */
export async function servePaidModel(options: { readonly summary: string; readonly answerMs: number }) {
  const calls: Call[] = [];
  const state = { answers: 0 };
  const server = createServer(async (request, response) => {
    const worker = Number(request.url?.split('/')[1]);
    const askedMs = Date.now();
    const body = await readText(request).catch(() => null);
    await sleep(options.answerMs);
    const key = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    if (body === null || response.destroyed) {
      calls.push({ worker, request: key, text: '', askedMs, answeredMs: null });
      return;
    }
    state.answers += 1;
    const text = `${options.summary} This is answer ${state.answers}.`;
    const usage = { input: Math.ceil(body.length / 4), output: 20 };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(openAiCompletion(answer(text, { usage }))));
    calls.push({ worker, request: key, text, askedMs, answeredMs: Date.now() });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the model server has no port');
  return {
    urlFor: (worker: number) => `http://127.0.0.1:${address.port}/${worker}/v1`,
    calls,
    close: () => server.close(),
  };
}

/** Why a request was answered twice. */
export type Repeat =
  /** The worker was killed while it waited, and this server had not noticed when it answered. */
  | { readonly kind: 'unheard' }
  /** The worker was killed so long after the answer was sent, and the answer was not stored. */
  | { readonly kind: 'lost'; readonly afterMs: number }
  /** A bug: the second worker asked while the first was alive. */
  | { readonly kind: 'two-workers' }
  /** A bug: the first answer is in the archive. */
  | { readonly kind: 'not-found' };

/** `endOf`: when a worker died or ended. `stored`: the texts in the archive. */
export function classifyRepeats(
  calls: readonly Call[],
  { endOf, stored }: { readonly endOf: ReadonlyMap<number, number>; readonly stored: ReadonlySet<string> },
): readonly Repeat[] {
  const paid = calls.filter((call) => call.answeredMs !== null);
  return [...Map.groupBy(paid, ({ request }) => request).values()].flatMap((same) =>
    same.slice(1).map((second, at): Repeat => {
      const first = same[at] ?? second;
      const endedMs = endOf.get(first.worker) ?? Infinity;
      if (second.askedMs < endedMs) return { kind: 'two-workers' };
      if (stored.has(first.text)) return { kind: 'not-found' };
      const afterMs = endedMs - (first.answeredMs ?? endedMs);
      return afterMs <= 0 ? { kind: 'unheard' } : { kind: 'lost', afterMs };
    }),
  );
}

/** The value below which this part of the numbers is. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
}
