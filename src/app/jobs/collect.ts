import type { CachedSummary } from '../../ports/archive.ts';
import type { BatchResult } from '../../ports/batch.ts';
import { isInterrupted } from '../contract/deps.ts';
import { advanceFile, endFile, isReady } from './advance.ts';
import {
  answerKey,
  type BatchDeps,
  type BatchRequest,
  changeOf,
  eachRecord,
  findRecords,
  OPEN_FILES,
  type RecordOf,
} from './records.ts';
import { loseResults, nameOf, refreshBatches, warnUnclear } from './refresh.ts';
import { createOutbox, type Outbox, requestsOf } from './send.ts';

/** The most times one request is sent. */
const MAX_TRIES = 3;
/** Answers are recorded in portions of this size. */
const PORTION = 200;

export type CollectReport = {
  /** Batches that have not ended. */
  readonly running: number;
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
  await archive.providerBatches.change([changeOf('batch', batch, { ...batch, state: 'collected' }), ...missing]);
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
  if (await archive.providerBatches.change([...changes.values()])) fetched.answers += answers.length;
  deps.onStep('answers-recorded');
  return own;
}
