import { isArchiveUrl } from '../../core/paths.ts';
import type { ModelRequest } from '../../core/model-request.ts';
import { MAX_BATCH_CALL_MS, type RemoteBatch } from '../../ports/batch.ts';
import {
  type BatchDeps,
  type BatchSent,
  eachRecord,
  entry,
  findRecords,
  type RecordOf,
  step,
  take,
} from './records.ts';

/** Collects requests and sends them as batches within the provider's limits. */
export type Outbox = {
  /** `before`: what is known of the request; null: nothing. Sends a batch when one is full. */
  readonly add: (key: string, request: ModelRequest, before: RecordOf<'request'> | null) => Promise<void>;
  /** Sends what is left. */
  readonly flush: () => Promise<void>;
  /** What the provider has confirmed; `unclear`: requests that it may or may not have. */
  readonly sent: () => { readonly batches: number; readonly requests: number; readonly unclear: number };
};

type Item = { readonly line: string; readonly model: string; readonly before: RecordOf<'request'> | null };

/** How long a provider may take to list a new batch. */
export const LISTED_MS = 120_000;

/** The separator of two lines, and the brackets around all of them. */
const FRAME_BYTES = 2;

export function createOutbox(deps: BatchDeps): Outbox {
  const { service, runtime } = deps;
  const state = { bytes: 0, batches: 0, requests: 0, unclear: 0, isRefused: false };
  const items = new Map<string, Item>();
  const flush = async (): Promise<void> => {
    const batch = new Map(items);
    items.clear();
    state.bytes = 0;
    // After a refusal the next batch would be refused as well.
    if (batch.size === 0 || state.isRefused || deps.signal.aborted) return;
    const sent = await sendBatch(deps, batch);
    if (sent.kind === 'refused') {
      state.isRefused = true;
      deps.onProblem(sent.problem);
      return;
    }
    if (sent.kind === 'unclear') {
      state.unclear += sent.requests;
      return;
    }
    state.batches += sent.requests > 0 ? 1 : 0;
    state.requests += sent.requests;
  };
  return {
    add: async (key, request, before) => {
      if (items.has(key)) return;
      const line = service.write(key, request);
      const bytes = runtime.utf8Length(line) + FRAME_BYTES;
      if (items.size >= service.maxRequests || (items.size > 0 && state.bytes + bytes > service.maxBytes))
        await flush();
      items.set(key, { line, model: request.model, before });
      state.bytes += bytes;
    },
    flush,
    sent: () => ({ batches: state.batches, requests: state.requests, unclear: state.unclear }),
  };
}

type Sent =
  | { readonly kind: 'sent'; readonly requests: number }
  /** Whether the provider has them is not known: `settleSending` finds out later. */
  | { readonly kind: 'unclear'; readonly requests: number }
  | { readonly kind: 'refused'; readonly problem: string };

/** First the intention, then the batch, then its id. A kill in between leaves `sending`, which `settleSending` resolves. */
async function sendBatch(deps: BatchDeps, items: ReadonlyMap<string, Item>): Promise<Sent> {
  const { runtime, files } = deps;
  const mark = runtime.sha256(`${runtime.now().toISOString()} ${runtime.random()}`).slice(0, 32);
  const path = pathToLock(deps, mark);
  const locked = path === null ? null : await files.lock(path);
  try {
    return await sendLocked(deps, items, { mark, lockedPath: locked?.ok === true ? path : null });
  } finally {
    if (locked?.ok === true) locked.value.release();
  }
}

/** Null: a lock would mean nothing, because other machines may use the archive. */
function pathToLock({ archive, archivePath }: BatchDeps, mark: string): string | null {
  return isArchiveUrl(archivePath) || !archive.isReadableWhileStoring ? null : `${archivePath}-sending-${mark}`;
}

async function sendLocked(
  deps: BatchDeps,
  items: ReadonlyMap<string, Item>,
  sender: Pick<BatchSent, 'lockedPath'> & { readonly mark: string },
): Promise<Sent> {
  const { archive, service, runtime, provider } = deps;
  const claimed = await claim(deps, items, sender);
  if (claimed === null) return { kind: 'sent', requests: 0 };
  const { batch, lines } = claimed;
  deps.onStep('claimed');
  const intent = { mark: batch.key, sentAt: new Date(batch.value.sentAt), requests: lines.length };
  const created = await deps.ask(() => service.create(intent, lines));
  if (created === null) {
    await take(deps, step('batch', batch, batch.state, { settlesAt: addMs(runtime.now(), LISTED_MS).toISOString() }));
    return { kind: 'unclear', requests: lines.length };
  }
  deps.onStep('sent');
  if ('refused' in created) {
    await withdraw(deps, batch, created.refused);
    return { kind: 'refused', problem: created.refused };
  }
  if (!(await take(deps, runningAs(batch, created))) && !(await isRecorded(archive, batch.key, created.id))) {
    const canceled = await deps.ask(() => service.cancel(created.id));
    const what = canceled === null ? 'should be canceled at the provider' : 'was canceled';
    deps.onProblem(`batch ${created.id} ${what}: another run gave it up and may have sent its requests again`);
    return { kind: 'sent', requests: 0 };
  }
  deps.onStep('recorded');
  deps.notice?.(
    `${provider}: sent batch ${created.id} with ${lines.length} ${lines.length === 1 ? 'request' : 'requests'} at ${runtime.now().toISOString()}`,
  );
  return { kind: 'sent', requests: lines.length };
}

/** Whether another run has found the batch meanwhile. */
async function isRecorded(archive: BatchDeps['archive'], key: string, remoteId: string): Promise<boolean> {
  const [batch] = await findRecords(archive, 'batch', [key]);
  return batch?.value.remoteId === remoteId;
}

export function addMs(time: Date, ms: number): Date {
  return new Date(time.getTime() + ms);
}

/** What a batch becomes when its provider says how it is. */
export function runningAs(batch: RecordOf<'batch'>, { id, status, resultsExpireAt, problem }: RemoteBatch) {
  return step('batch', batch, status === 'ended' ? 'ended' : 'running', {
    remoteId: id,
    isCanceling: batch.value.isCanceling || status === 'canceling',
    resultsExpireAt: resultsExpireAt?.toISOString() ?? null,
    ...(problem !== null && { note: problem }),
  });
}

/** Records the intention to send these requests, without those that another run has sent meanwhile; null: none is left. */
async function claim(
  { archive, runtime, provider, service: { address, keyHash } }: BatchDeps,
  items: ReadonlyMap<string, Item>,
  { mark, lockedPath }: Pick<BatchSent, 'lockedPath'> & { mark: string },
) {
  for (let left = items; left.size > 0; left = await withoutTaken(archive, left)) {
    const now = runtime.now();
    const sentAt = now.toISOString();
    const value: BatchSent = {
      provider,
      address,
      keyHash,
      remoteId: null,
      requests: left.size,
      sentAt,
      // If this run is killed, its call may have gone on until then, and another run cannot know.
      settlesAt: addMs(now, MAX_BATCH_CALL_MS + LISTED_MS).toISOString(),
      lockedPath,
      resultsExpireAt: null,
      isCanceling: false,
      note: null,
    };
    const batch: RecordOf<'batch'> = { key: mark, state: 'sending', value };
    const requests = [...left].map(([key, { model, before }]) => {
      const tries = (before?.state === 'again' ? before.value.tries : 0) + 1;
      const open = { model, batch: mark, tries, stopReason: null, error: null };
      return entry('request', { key, state: 'open', value: open }, before?.state);
    });
    if (await take({ archive }, entry('batch', batch), ...requests))
      return { batch, lines: [...left.values()].map(({ line }) => line) };
  }
  return null;
}

async function withoutTaken(archive: BatchDeps['archive'], items: ReadonlyMap<string, Item>) {
  const now = new Map((await findRecords(archive, 'request', [...items.keys()])).map((one) => [one.key, one]));
  return new Map([...items].filter(([key, { before }]) => (now.get(key)?.state ?? null) === (before?.state ?? null)));
}

/** A batch that was not created: its requests can be sent again and have cost nothing. */
export async function withdraw({ archive }: Pick<BatchDeps, 'archive'>, batch: RecordOf<'batch'>, note: string) {
  const open = await requestsOf(archive, batch);
  return take(
    { archive },
    step('batch', batch, 'refused', { note }),
    ...open.map((request) => step('request', request, 'again', { tries: request.value.tries - 1 })),
  );
}

/** The open requests of a batch. Reads all open requests, so it is for rare cases. */
export async function requestsOf(archive: BatchDeps['archive'], { key }: RecordOf<'batch'>) {
  const requests: RecordOf<'request'>[] = [];
  for await (const request of eachRecord(archive, 'request', ['open']))
    if (request.value.batch === key) requests.push(request);
  return requests;
}
