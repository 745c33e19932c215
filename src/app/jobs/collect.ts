import type { CachedSummary } from '../../ports/archive.ts';
import { assertNever } from '../../core/result.ts';
import type { BatchChange, BatchOutcome, BatchResult } from '../../ports/batch.ts';
import { advanceFile, endFile, findElsewhere, isReady } from './advance.ts';
import {
  answerKey,
  type BatchDeps,
  eachRecord,
  findRecords,
  listRecords,
  OPEN_FILES,
  type RecordOf,
  step,
  take,
  toRecord,
  UNCOLLECTED,
} from './records.ts';
import { addMs, createOutbox, LISTED_MS, type Outbox, requestsOf, runningAs, withdraw } from './send.ts';
import { isInterrupted } from '../contract/deps.ts';
import { addPriced, priced, type PricedUsage, usageOf } from '../summarize/usage.ts';

/** The most times one request is sent. */
const MAX_TRIES = 3;
/** Answers are recorded in portions of this size. */
const PORTION = 200;

export type CollectReport = {
  /** Batches that have not ended. */
  readonly running: number;
  readonly answers: number;
  /** What the answers cost; undefined: none came. */
  readonly usage?: PricedUsage | undefined;
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
  const batches = await refreshBatches(deps);
  const running = batches.filter(({ state }) => state === 'running').length;
  for (const batch of batches) {
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
  return { running, ...fetched, ...outbox.sent() };
}

async function advanceReady(deps: BatchDeps, file: RecordOf<'file'>, outbox: Outbox): Promise<void> {
  const ready = await isReady(deps.archive, file);
  if (ready === 'canceled') return endFile(deps, file, { state: 'canceled', note: 'its batch was canceled' });
  if (ready === 'run') await advanceFile(deps, file, { outbox, isNew: false });
}

type Fetched = { answers: number; usage?: PricedUsage | undefined; readonly unknown: string[] };

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
  const missing = unseen.map((request) => unanswered(request, note ?? 'its batch has no result for it'));
  await take(deps, step('batch', batch, 'collected'), ...missing);
}

function unanswered(request: RecordOf<'request'>, problem: string): BatchChange {
  const isLast = request.value.tries >= MAX_TRIES;
  return step('request', request, isLast ? 'failed' : 'again', { error: { code: 'api_error', problem } });
}

/**
 * Answers first, then what is known of their requests: after a kill in between, the same results are fetched again. Gives the ids that belong
 * to the batch.
 */
async function keepResults(
  deps: BatchDeps,
  batch: RecordOf<'batch'>,
  { results, fetched }: { results: readonly BatchResult[]; fetched: Fetched },
): Promise<readonly string[]> {
  const { archive, runtime, provider } = deps;
  const ids = [...new Set(results.map(({ customId }) => customId))];
  const requests = new Map((await findRecords(archive, 'request', ids)).map((one) => [one.key, one]));
  const changes = new Map<string, BatchChange>();
  const answers: { readonly request: string; readonly summary: CachedSummary }[] = [];
  let { usage } = fetched;
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
    if (outcome.kind === 'answered') {
      const { content, usage: used } = outcome.response;
      const text = content.map((block) => block.text).join('');
      const summary = { provider, model: 'batch', text, usage: used, createdAt: runtime.now() };
      usage = addPriced(usage, priced(usageOf(used), await deps.priceOf(request.value.model)));
      answers.push({ request: answerKey(runtime, customId), summary });
    }
    changes.set(customId, afterOutcome(request, outcome));
  }
  await archive.summaries.keepAll(answers);
  deps.onStep('answers-stored');
  if (await take(deps, ...changes.values())) {
    fetched.answers += answers.length;
    fetched.usage = usage;
  }
  deps.onStep('answers-recorded');
  return own;
}

function afterOutcome(request: RecordOf<'request'>, outcome: BatchOutcome): BatchChange {
  switch (outcome.kind) {
    case 'answered':
      return step('request', request, 'answered', { stopReason: outcome.response.stop_reason, error: null });
    case 'failed':
      return step('request', request, 'failed', { error: { code: outcome.code, problem: outcome.problem } });
    case 'again':
      return unanswered(request, outcome.problem);
    case 'canceled':
      return step('request', request, 'canceled');
    default:
      return assertNever(outcome);
  }
}

/** Providers keep results for about this long, unless they say when they delete them. */
const RESULTS_MS = 30 * 86_400_000;
/** Warn this long before results are deleted. */
const EXPIRY_WARNING_MS = 3 * 86_400_000;
/** How long the system, or a proxy, may go on sending for a program that was killed, until it is listed. */
const DEAD_SENDER_MS = 180_000 + LISTED_MS;

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
  const { sentAt, requests, keyHash } = batch.value;
  const known = new Set((await listRecords(archive, 'batch')).flatMap(({ value }) => value.remoteId ?? []));
  const isOurs = async (customId: string): Promise<boolean> =>
    (await findRecords(archive, 'request', [customId])).some(({ value }) => value.batch === batch.key);
  // What the list has is certain at any time, and what it lacks only later.
  const found = await service.find({ mark: batch.key, sentAt: new Date(sentAt), requests }, { isOurs, known });
  if (found.kind === 'found') return advance(deps, runningAs(batch, found.batch));
  if (keyHash !== service.keyHash) {
    deps.onWarning(
      `batch ${nameOf(batch)} was sent with another key. Run this with that key to find out whether it arrived.`,
    );
    return null;
  }
  const waiting = await settleSooner(deps, batch);
  if (waiting === null) return null;
  if (runtime.now().getTime() < Date.parse(waiting.value.settlesAt))
    deps.onWarning(describeUnclear(waiting, runtime.now()));
  else if (found.kind === 'absent') await withdraw(deps, waiting, 'it never arrived');
  else
    deps.onWarning(
      `batch ${nameOf(batch)} may be ${found.ids.join(' or ')}. Run 'compact batch collect' when they have ended.`,
    );
  return null;
}

/** Waits less for a sender that is dead. Null: another run has changed the batch. */
async function settleSooner(deps: BatchDeps, batch: RecordOf<'batch'>): Promise<RecordOf<'batch'> | null> {
  const { lockedPath, settlesAt } = batch.value;
  const soonest = addMs(deps.runtime.now(), DEAD_SENDER_MS).toISOString();
  if (lockedPath === null || settlesAt <= soonest) return batch;
  const locked = await deps.files.lock(lockedPath);
  if (!locked.ok) return batch;
  const sooner = await advance(deps, step('batch', batch, batch.state, { settlesAt: soonest, lockedPath: null }));
  locked.value.release();
  return sooner;
}

/** The batch after a step; null: another run has changed it. */
async function advance(deps: BatchDeps, change: BatchChange): Promise<RecordOf<'batch'> | null> {
  return (await take(deps, change)) ? toRecord<'batch'>(change) : null;
}

async function look(deps: BatchDeps, batch: RecordOf<'batch'>): Promise<RecordOf<'batch'> | null> {
  const remote = await deps.service.look(batch.value.remoteId ?? '');
  if (remote !== null) return advance(deps, runningAs(batch, remote));
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
  const failed = open.map((one) => step('request', one, 'failed', { error }));
  if (await take(deps, step('batch', batch, 'gone', { note }), ...failed)) deps.onProblem(note);
}

/** What is not known of a batch, and when it will be. */
function describeUnclear({ value: { requests, sentAt, settlesAt } }: RecordOf<'batch'>, now: Date): string {
  const minutes = Math.max(1, Math.ceil((Date.parse(settlesAt) - now.getTime()) / 60_000));
  const [what, they] = requests === 1 ? ['1 request', 'it'] : [`${requests} requests`, 'they'];
  return (
    `The provider has not confirmed ${what} (sent at ${sentAt}), and sending again now could cost twice. ` +
    `Run 'compact batch collect' in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}: then the provider's list of batches shows whether ${they} arrived.`
  );
}

export async function warnUnclear({ archive, onWarning, runtime }: BatchDeps): Promise<void> {
  for (const batch of await listRecords(archive, 'batch', ['sending']))
    onWarning(describeUnclear(batch, runtime.now()));
}
