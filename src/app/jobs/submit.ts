import type { Count, IsoTime } from '../../core/units.ts';
import type { Archive } from '../../ports/archive.ts';
import { isInterrupted } from '../contract/deps.ts';
import { advanceFile, endFile, findElsewhere, isUnsent } from './advance.ts';
import {
  type BatchDeps,
  type BatchFile,
  type BatchState,
  eachRecord,
  entry,
  type FileState,
  findRecords,
  listRecords,
  OPEN_FILES,
  type RecordOf,
  type RequestState,
  step,
  take,
} from './records.ts';
import { expiryWarning, refreshBatches, warnUnclear } from './collect.ts';
import { createOutbox } from './send.ts';

/** A transcript to submit: `path` is absolute. */
export type SubmittedFile = Omit<
  BatchFile,
  'planned' | 'waitsFor' | 'asked' | 'isCanceling' | 'note' | 'scope' | 'provider' | 'address'
> & {
  readonly path: string;
};

export type SubmitReport = {
  readonly files: number;
  readonly batches: number;
  readonly requests: number;
  /** Requests that may have been sent: the provider did not confirm them. */
  readonly unclear: number;
};

/** Plans transcripts and sends their first requests. Those that a killed run has planned and not sent are sent too. */
export async function submitBatches(deps: BatchDeps, files: readonly SubmittedFile[]): Promise<SubmitReport> {
  const outbox = createOutbox(deps);
  let planned = 0;
  for (const file of files) {
    if (await isInterrupted(deps)) break;
    const registered = await register(deps, file);
    if (registered === null) deps.onWarning(`${file.name}: already submitted; see 'compact batch status'`);
    else {
      planned += 1;
      await advanceFile(deps, registered, { outbox, isNew: true });
    }
  }
  await outbox.flush();
  await warnUnclear(deps);
  return { files: planned, ...outbox.sent() };
}

/** Null: it was submitted before, and a provider has requests of it or has answered them. */
async function register({ archive, provider, service, summarizer }: BatchDeps, { path, ...file }: SubmittedFile) {
  const [known = null] = await findRecords(archive, 'file', [path]);
  // A planned file was not read before the run was killed, so nothing was sent for it.
  if (known?.state === 'waiting' && !(await isUnsent(archive, known))) return null;
  const value: BatchFile = {
    ...file,
    provider,
    address: service.address,
    scope: summarizer.service.paidAs.scope,
    planned: null,
    waitsFor: [],
    asked: [],
    isCanceling: false,
    note: null,
  };
  const record: RecordOf<'file'> = { key: path, state: 'planned', value };
  return (await take({ archive }, entry('file', record, known?.state))) ? record : null;
}

export type BatchStatusReport = {
  readonly schema: 'compact/batch-status@1';
  /** Oldest first. */
  readonly batches: readonly {
    readonly provider: string;
    /** The provider's name of the batch; null: its answer did not arrive. */
    readonly id: string | null;
    readonly state: BatchState | 'canceling';
    readonly requests: Count;
    readonly sentAt: IsoTime;
    /** Null: not known yet. */
    readonly resultsExpireAt: IsoTime | null;
    readonly note: string | null;
    /** It was not created, its results are gone, or the provider refused it, and its requests were not sent again. */
    readonly isFailed: boolean;
  }[];
  /** In the order of their paths. */
  readonly files: readonly {
    readonly file: string;
    readonly state: FileState;
    /** The requests of its last round, how many of them have an answer, and how many will be sent by the next submit or collect. */
    readonly requests: Count;
    readonly answered: Count;
    readonly unsent: Count;
    readonly note: string | null;
  }[];
  readonly warnings: readonly string[];
};

/** What the archive knows of batches and transcripts. */
export async function batchStatus(archive: Archive, now: Date): Promise<BatchStatusReport> {
  const batches = await listRecords(archive, 'batch');
  const files = await listRecords(archive, 'file');
  const requests = new Map<string, RequestState>();
  const unanswered = new Set<string>();
  for await (const { key, state, value } of eachRecord(archive, 'request')) {
    requests.set(key, state);
    if (state !== 'answered' && state !== 'canceled') unanswered.add(value.batch);
  }
  const countIn = (keys: readonly string[], states: readonly string[]): number =>
    keys.filter((key) => states.includes(requests.get(key) ?? 'again')).length;
  return {
    schema: 'compact/batch-status@1',
    batches: batches
      .map(({ key, state, value }) => ({
        provider: value.provider,
        id: value.remoteId,
        state: value.isCanceling && state === 'running' ? ('canceling' as const) : state,
        requests: value.requests,
        sentAt: value.sentAt,
        resultsExpireAt: value.resultsExpireAt,
        note: value.note,
        isFailed: unanswered.has(key) && (value.note !== null || state === 'refused' || state === 'gone'),
      }))
      .toSorted((a, b) => (a.sentAt < b.sentAt ? -1 : 1)),
    files: files.map(({ key, state, value: { waitsFor, note } }) => ({
      file: key,
      state,
      requests: waitsFor.length,
      answered: countIn(waitsFor, ['answered', 'failed']),
      unsent: countIn(waitsFor, ['again']),
      note,
    })),
    warnings: batches.flatMap((batch) => expiryWarning(batch, now) ?? []),
  };
}

/** Asks the provider to cancel every batch that runs, and sends nothing more for transcripts. Answers given by then are used. */
export async function cancelBatches(deps: BatchDeps): Promise<number> {
  let canceled = 0;
  for (const batch of await refreshBatches(deps)) {
    const { remoteId } = batch.value;
    if (batch.state !== 'running' || remoteId === null) continue;
    if ((await deps.ask(() => deps.service.cancel(remoteId))) === null) continue;
    if (await take(deps, step('batch', batch, batch.state, { isCanceling: true }))) canceled += 1;
  }
  for await (const file of eachRecord(deps.archive, 'file', OPEN_FILES))
    if (file.state === 'planned' || (await isUnsent(deps.archive, file)))
      await endFile(deps, file, { state: 'canceled', note: 'no batch was working on it' });
    else if (findElsewhere(file.value, deps) === null)
      await take(deps, step('file', file, file.state, { isCanceling: true }));
  return canceled;
}
