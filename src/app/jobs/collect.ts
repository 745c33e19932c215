import type { CachedSummary } from '../../ports/archive.ts';
import type { BatchResult, RemoteBatch } from '../../ports/batch.ts';
import { isInterrupted } from '../contract/deps.ts';
import { advanceFile, endFile, findElsewhere, isReady } from './advance.ts';
import {
  answerKey,
  type BatchDeps,
  type BatchRequest,
  changeOf,
  eachRecord,
  findRecords,
  listRecords,
  OPEN_FILES,
  type RecordOf,
  UNCOLLECTED,
} from './records.ts';
import { createOutbox, type Outbox, requestsOf, runningAs, settlesIn, warnUnclear, withdraw } from './send.ts';

/** The most times one request is sent. */
const MAX_TRIES = 3;
/** Providers keep results for about this long, unless they say when they delete them. */
const RESULTS_MS = 30 * 86_400_000;
/** Answers are recorded in portions of this size. */
const PORTION = 200;
/** Warn this long before results are deleted. */
const EXPIRY_WARNING_MS = 3 * 86_400_000;

export type CollectReport = {
  readonly answers: number;
  /** Sent again because they were not answered. */
  readonly batches: number;
  readonly requests: number;
  /** Requests that may have been sent: the provider did not confirm them. */
  readonly unclear: number;
  /** Custom ids of answers that nobody asked for. */
  readonly unknown: readonly string[];
};

/** Fetches the results of all batches that have ended, compacts the transcripts that have their answers, and sends what is still needed. */
export async function collectBatches(deps: BatchDeps): Promise<CollectReport> {
  const fetched: Fetched = { answers: 0, unknown: [] };
  for (const batch of await refreshBatches(deps)) {
    if (await isInterrupted(deps)) break;
    if (batch.state !== 'ended') continue;
    await deps.ask(() => fetchResults(deps, batch, fetched));
  }
  const outbox = createOutbox(deps);
  for await (const file of eachRecord(deps.archive, 'file', OPEN_FILES)) {
    if (await isInterrupted(deps)) break;
    await advanceReady(deps, file, outbox);
  }
  await outbox.flush();
  if (outbox.sent().unclear > 0) await warnUnclear(deps);
  return { ...fetched, ...outbox.sent() };
}

async function advanceReady(deps: BatchDeps, file: RecordOf<'file'>, outbox: Outbox): Promise<void> {
  const ready = await isReady(deps.archive, file);
  if (ready === 'canceled') return endFile(deps, file, { state: 'canceled', note: 'its batch was canceled' });
  if (ready === 'run') await advanceFile(deps, file, { outbox, isNew: false });
}

/** The batches that were not collected yet, as their provider sees them now. */
export async function refreshBatches(deps: BatchDeps): Promise<readonly RecordOf<'batch'>[]> {
  const batches: RecordOf<'batch'>[] = [];
  for (const known of await listRecords(deps.archive, 'batch', UNCOLLECTED)) {
    if (await isInterrupted(deps)) break;
    const elsewhere = findElsewhere(known.value, deps);
    if (elsewhere !== null) {
      deps.onWarning(`batch ${nameOf(known)} was sent to ${elsewhere}`);
      continue;
    }
    const batch = await deps.ask(async () => {
      const settled = known.state === 'sending' ? await settleSending(deps, known) : known;
      return settled?.state === 'running' ? look(deps, settled) : settled;
    });
    if (batch === null) continue;
    const warning = expiryWarning(batch, deps.runtime.now());
    if (warning !== null) deps.onWarning(warning);
    batches.push(batch);
  }
  return batches;
}

function nameOf({ key, value }: RecordOf<'batch'>): string {
  return value.remoteId ?? `${key} (sent ${value.sentAt})`;
}

/** Null: it is not about to lose its results. */
export function expiryWarning(batch: RecordOf<'batch'>, now: Date): string | null {
  const { resultsExpireAt } = batch.value;
  if (resultsExpireAt === null || batch.state !== 'ended') return null;
  const leftMs = Date.parse(resultsExpireAt) - now.getTime();
  if (leftMs > EXPIRY_WARNING_MS) return null;
  const when = leftMs > 0 ? `are deleted at ${resultsExpireAt}` : `were to be deleted at ${resultsExpireAt}`;
  return `the results of batch ${nameOf(batch)} ${when}. Run 'compact batch collect'.`;
}

/** Finds out whether a batch was created whose id never arrived. Null: it was not, or that is not known yet. */
async function settleSending(deps: BatchDeps, batch: RecordOf<'batch'>): Promise<RecordOf<'batch'> | null> {
  const { archive, service, runtime } = deps;
  const sentAt = new Date(batch.value.sentAt);
  const now = runtime.now();
  if (now.getTime() < Date.parse(batch.value.settlesAt)) {
    deps.onWarning(
      `It is not known yet whether batch ${nameOf(batch)} reached the provider. Run this again ${settlesIn(batch, now)}.`,
    );
    return null;
  }
  const known = new Set((await listRecords(archive, 'batch')).flatMap(({ value }) => value.remoteId ?? []));
  const isOurs = async (customId: string): Promise<boolean> =>
    (await findRecords(archive, 'request', [customId])).some(({ value }) => value.batch === batch.key);
  const found = await service.find({ mark: batch.key, sentAt, requests: batch.value.requests }, { isOurs, known });
  if (found.kind === 'found') return update(deps, batch, found.batch);
  if (found.kind === 'absent') {
    if (batch.value.keyHash === service.keyHash) await withdraw(deps, batch, 'it never arrived');
    else
      deps.onWarning(
        `batch ${nameOf(batch)} was sent with another key. Run this with that key to find out whether it arrived.`,
      );
  } else
    deps.onWarning(
      `batch ${nameOf(batch)} may be ${found.ids.join(' or ')}. Run 'compact batch collect' when they have ended.`,
    );
  return null;
}

async function update(
  { archive }: BatchDeps,
  batch: RecordOf<'batch'>,
  remote: RemoteBatch,
): Promise<RecordOf<'batch'> | null> {
  const next = { key: batch.key, ...runningAs(batch.value, remote) };
  const value = remote.problem === null ? next.value : { ...next.value, note: remote.problem };
  const changed = { ...next, value };
  return (await archive.batches.change([changeOf('batch', batch, changed)])) ? changed : null;
}

async function look(deps: BatchDeps, batch: RecordOf<'batch'>): Promise<RecordOf<'batch'> | null> {
  const remote = await deps.service.look(batch.value.remoteId ?? '');
  if (remote !== null) return update(deps, batch, remote);
  await loseResults(deps, batch);
  return null;
}

/** What was paid can no longer be fetched. People decide whether to pay again. */
async function loseResults(deps: BatchDeps, batch: RecordOf<'batch'>): Promise<void> {
  const { resultsExpireAt, sentAt, keyHash } = batch.value;
  const deletedMs = resultsExpireAt === null ? Date.parse(sentAt) + RESULTS_MS : Date.parse(resultsExpireAt);
  if (deps.runtime.now().getTime() < deletedMs) {
    const { address } = deps.service;
    const unknown = `${address} does not know batch ${nameOf(batch)}`;
    return deps.onProblem(
      keyHash === deps.service.keyHash
        ? `${unknown}. Check the workspace of the key: the results should be there until ${new Date(deletedMs).toISOString()}.`
        : `${unknown}, which was sent with another key. Run this with that key.`,
    );
  }
  const note = `the provider has deleted the results of batch ${nameOf(batch)}: submitting the file again pays again`;
  const error = { code: 'api_error', problem: note } as const;
  const open = await requestsOf(deps.archive, batch);
  const done = await deps.archive.batches.change([
    changeOf('batch', batch, { ...batch, state: 'gone', value: { ...batch.value, note } }),
    ...open.map((one) => changeOf('request', one, { ...one, state: 'failed', value: { ...one.value, error } })),
  ]);
  if (done) deps.onProblem(note);
}

type Fetched = { answers: number; readonly unknown: string[] };

async function fetchResults(deps: BatchDeps, batch: RecordOf<'batch'>, fetched: Fetched): Promise<void> {
  const { archive, service } = deps;
  let portion: BatchResult[] = [];
  const seen = new Set<string>();
  const keepPortion = async (): Promise<void> => {
    const results = portion;
    portion = [];
    for (const id of await keepResults(deps, batch, { results, fetched })) seen.add(id);
  };
  const isThere = await service.results(batch.value.remoteId ?? '', async (result) => {
    portion.push(result);
    if (portion.length >= PORTION) await keepPortion();
  });
  await keepPortion();
  if (!isThere) return loseResults(deps, batch);
  const { note } = batch.value;
  if (note !== null) deps.onWarning(`batch ${nameOf(batch)}: ${note}`);
  const unseen = seen.size < batch.value.requests ? await requestsOf(archive, batch) : [];
  const missing = unseen.map((request) =>
    changeOf('request', request, notAnswered(request, note ?? 'its batch has no result for it')),
  );
  await archive.batches.change([changeOf('batch', batch, { ...batch, state: 'collected' }), ...missing]);
}

function notAnswered({ key, value }: RecordOf<'request'>, problem: string): RecordOf<'request'> {
  const error = { code: 'api_error', problem } as const;
  return { key, state: value.tries >= MAX_TRIES ? 'failed' : 'again', value: { ...value, error } };
}

/**
 * Answers first, then what is known of their requests: after a kill in between, the same results are fetched again. Gives the ids that belong
 * to the batch.
 */
async function keepResults(
  deps: BatchDeps,
  batch: RecordOf<'batch'>,
  { results, fetched }: { readonly results: readonly BatchResult[]; readonly fetched: Fetched },
): Promise<readonly string[]> {
  const { archive, runtime, provider } = deps;
  const ids = [...new Set(results.map(({ customId }) => customId))];
  const requests = new Map((await findRecords(archive, 'request', ids)).map((one) => [one.key, one]));
  const changes = new Map<string, ReturnType<typeof changeOf>>();
  const answers: { readonly request: string; readonly summary: CachedSummary }[] = [];
  const own: string[] = [];
  for (const { customId, outcome } of results) {
    const request = requests.get(customId);
    if (request === undefined || request.value.batch !== batch.key) {
      fetched.unknown.push(customId);
      continue;
    }
    own.push(customId);
    // Collected before.
    if (request.state !== 'open' || changes.has(customId)) continue;
    const change = (next: RecordOf<'request'>): void => void changes.set(customId, changeOf('request', request, next));
    const value = (more: Partial<BatchRequest>): BatchRequest => ({ ...request.value, ...more });
    switch (outcome.kind) {
      case 'answered': {
        const { content, usage, stop_reason: stopReason } = outcome.response;
        const text = content.map((block) => block.text).join('');
        const summary = { provider, model: 'batch', text, usage, createdAt: runtime.now() };
        answers.push({ request: answerKey(runtime, customId), summary });
        change({ key: customId, state: 'answered', value: value({ stopReason, error: null }) });
        break;
      }
      case 'failed': {
        const { code, problem } = outcome;
        change({ key: customId, state: 'failed', value: value({ error: { code, problem } }) });
        break;
      }
      case 'again':
        change(notAnswered(request, outcome.problem));
        break;
      default:
        change({ key: customId, state: 'canceled', value: request.value });
    }
  }
  await archive.summaries.keepAll(answers);
  deps.onStep('answers-stored');
  if (await archive.batches.change([...changes.values()])) fetched.answers += answers.length;
  deps.onStep('answers-recorded');
  return own;
}
