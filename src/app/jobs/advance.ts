import { ModelError, type ModelRequest, type ModelResponse } from '../../core/model-request.ts';
import { ok, type Result } from '../../core/result.ts';
import type { Archive } from '../../ports/archive.ts';
import { compactFile } from '../compact/compact-file.ts';
import type { LaterAnswers } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import type { CompactReport } from '../contract/reports.ts';
import { hashPrefix } from '../read/records.ts';
import { createBreaker, createRateLimiter } from '../summarize/limits.ts';
import { addPriced, priced, usageOf } from '../summarize/usage.ts';
import { openSettled } from '../write/settle.ts';
import {
  answerKey,
  type BatchDeps,
  type BatchFile,
  type BatchRequest,
  type FileState,
  findRecords,
  type FinishedFile,
  OPEN_FILES,
  type RecordOf,
  type RequestState,
  step,
  take,
} from './records.ts';
import type { Outbox } from './send.ts';

/** Whether no request of a waiting transcript has reached a provider, or every one that did was refused or failed. */
export async function isUnsent(archive: Archive, { value }: RecordOf<'file'>): Promise<boolean> {
  const known = await findRecords(archive, 'request', value.waitsFor);
  return known.every(({ state }) => state !== 'open' && state !== 'answered');
}

/** What may be done with a transcript now. */
export async function isReady(archive: Archive, { state, value }: RecordOf<'file'>) {
  if (state === 'planned') return 'run';
  const known = await findRecords(archive, 'request', value.waitsFor);
  const has = (one: RequestState): boolean => known.some((request) => request.state === one);
  if (has('canceled')) return has('open') ? 'wait' : 'canceled';
  if (known.length < new Set(value.waitsFor).size || has('again')) return 'run';
  return has('open') ? 'wait' : 'run';
}

/**
 * Compacts a transcript if all answers are there; otherwise, requests without an answer go into the outbox. `isNew`: it was just submitted, so
 * requests that failed or were canceled are sent again.
 */
export async function advanceFile(
  deps: BatchDeps,
  file: RecordOf<'file'>,
  { outbox, isNew }: { outbox: Outbox; isNew: boolean },
): Promise<void> {
  const { archive } = deps;
  const mismatch = findMismatch(file.value, deps);
  if (mismatch !== null) return deps.onFile({ ...namesOf(file), state: file.state, result: null, note: mismatch });
  const changed = await findChange(deps, file);
  if (changed !== null) return endFile(deps, file, changed);
  const answers = createAnswers(deps, isNew);
  const request = {
    input: {
      path: file.key,
      name: file.value.name,
      format: file.value.format,
      ...(file.value.planned === null ? {} : { planned: file.value.planned }),
    },
    output: file.value.output,
    policy: file.value.policy,
    provider: file.value.provider,
    modelName: file.value.model,
    summarizer: {
      ...deps.summarizer,
      breaker: createBreaker(Infinity),
      // Nothing is sent while it runs.
      service: {
        ...deps.summarizer.service,
        limiter: createRateLimiter(deps.runtime, UNLIMITED),
        inFlight: new Map(),
        price: await deps.priceOf(file.value.model),
        later: answers.later,
      },
    },
  };
  const result = await attempt({ file: file.value.name, progress: deps.progress }, () =>
    compactFile({ ...deps, openArchive: async () => ({ ok: true, value: archive }) }, request),
  );
  if (!result.ok && result.error.kind === 'interrupted') return;
  if (answers.later.isWaiting() && file.value.isCanceling) {
    if ([...answers.deferred.values()].some(({ before }) => before?.state === 'open')) return;
    return endFile(deps, file, { state: 'canceled', note: 'it needs more requests' });
  }
  if (answers.later.isWaiting()) {
    const waitsFor = [...answers.deferred.keys()];
    const asked = [...new Set([...file.value.asked, ...waitsFor])];
    await take(deps, step('file', file, 'waiting', { planned: answers.read(), waitsFor, asked }));
    deps.onStep('planned');
    for (const [key, { request, before }] of answers.deferred)
      if (request !== null) await outbox.add(key, request, before);
    return;
  }
  const state = endOf(result) ?? file.state;
  const note = state === 'left' && !result.ok ? CHANGED : describe(result);
  await endFile(deps, file, { state, note }, state === 'left' && !result.ok ? null : result);
  deps.onStep('collected');
}

/** Null: it may go better the next time, and nothing is lost until then. */
function endOf(result: Result<CompactReport, Failure>): FileState | null {
  if (result.ok) {
    if (result.value.result === 'compacted') return 'collected';
    return result.value.reason === 'in-use' ? null : 'left';
  }
  if (result.error.kind === 'source-changed') return 'left';
  return FINAL_FAILURES[result.error.kind] === undefined ? null : 'failed';
}

/** What to say of failures that will happen again. */
const FINAL_FAILURES: { readonly [kind in Failure['kind']]?: string } = {
  'no-summary': 'it has no summary',
  'low-retention': 'its summaries keep too few facts',
  'bad-line': 'a line cannot be read',
  'not-a-transcript': 'it is not a transcript',
  'unknown-format': 'its format is unknown',
  'mixed-formats': 'its lines are of several formats',
  'no-messages': 'it has no messages',
  'no-text': 'its messages have no text',
  'output-exists': 'its output exists already',
};

const CHANGED = 'it was compacted or changed after it was submitted';

type End = { readonly state: FileState; readonly note: string | null };

/** How a transcript ends if its planned part has changed. Null: it has not, or the file cannot be opened, and compacting it will say why. */
async function findChange(deps: BatchDeps, { key, value: { planned } }: RecordOf<'file'>): Promise<End | null> {
  const { files, runtime, archive } = deps;
  const opened = planned === null ? null : await files.open(key);
  if (planned === null || opened?.ok !== true) return null;
  const beginsWith = (content: { readonly sizeBytes: number; readonly sha256: string }): boolean =>
    hashPrefix(runtime, opened.value, content.sizeBytes) === content.sha256;
  try {
    if (beginsWith(planned)) return null;
    // A run may have been killed after it compacted the file and before it recorded that.
    await openSettled({ ...deps, openArchive: async () => ok(archive) }, 'existing');
    const same = await archive.findSame(planned.sha256, planned.settingsSha256);
    if (same !== null && beginsWith(same.output)) return { state: 'collected', note: null };
    return { state: 'left', note: CHANGED };
  } finally {
    opened.value.close();
  }
}

/** Records what became of a transcript, and tells of it. */
export async function endFile(deps: EndDeps, file: RecordOf<'file'>, end: End, result: FinishedFile['result'] = null) {
  if (!(await take(deps, step('file', file, end.state, { note: end.note })))) return;
  const isOpen = OPEN_FILES.includes(end.state);
  deps.onFile({ ...namesOf(file), ...end, result, ...(!isOpen && { wasted: await sumWasted(deps, file, end.state) }) });
}

type EndDeps = Pick<BatchDeps, 'archive' | 'onFile' | 'priceOf' | 'runtime'>;

/** What the answers cost of which nothing has become. A summary that was used is remembered under its request. */
async function sumWasted(
  { archive, runtime, priceOf }: EndDeps,
  { value: { asked, model } }: RecordOf<'file'>,
  state: FileState,
): Promise<FinishedFile['wasted']> {
  let wasted: FinishedFile['wasted'];
  for (const { key, state: answered } of await findRecords(archive, 'request', asked)) {
    const answer = answered === 'answered' ? await archive.summaries.find(answerKey(runtime, key)) : null;
    const used = state === 'collected' ? await archive.summaries.find(key) : null;
    if (answer === null || (used?.usage.output_tokens ?? 0) > 0) continue;
    wasted = addPriced(wasted, priced(usageOf(answer.usage), await priceOf(model)));
  }
  return wasted;
}

function namesOf({ key, value }: RecordOf<'file'>): { readonly path: string; readonly name: string } {
  return { path: key, name: value.name };
}

/** The provider or address that something was sent to, and how to reach it; null: this run reaches it. */
export function findElsewhere(
  { provider, address }: Pick<BatchFile, 'provider' | 'address'>,
  deps: Pick<BatchDeps, 'provider' | 'service'>,
): string | null {
  if (provider !== deps.provider) return `${provider}. Run this with --provider ${provider}.`;
  return address === deps.service.address ? null : `${address}. Run this with --base-url ${address}.`;
}

/** Another provider or other masks would make other requests, which would be paid again. */
function findMismatch(file: BatchFile, deps: BatchDeps): string | null {
  const elsewhere = findElsewhere(file, deps);
  if (elsewhere !== null) return `it was submitted to ${elsewhere}`;
  const { scope } = file;
  const { paidAs } = deps.summarizer.service;
  if (scope === paidAs.scope) return null;
  return scope === 'masked'
    ? 'it was submitted with secrets masked, and this run masks none: set redact = true'
    : 'it was submitted without masking secrets, and this run masks them: set redact = false';
}

function describe(result: Result<CompactReport, Failure>): string | null {
  if (result.ok) return result.value.result === 'skipped' ? (result.value.notes[0] ?? null) : null;
  const { error } = result;
  return 'problem' in error && typeof error.problem === 'string' ? error.problem : (FINAL_FAILURES[error.kind] ?? null);
}

const UNLIMITED = { requestsPerMinute: null, inputTokensPerMinute: null, outputTokensPerMinute: null };

type Deferred = {
  /** Null: it was sent before, and its answer has not come yet. */
  readonly request: ModelRequest | null;
  readonly before: RecordOf<'request'> | null;
};

function createAnswers({ archive, runtime }: BatchDeps, isNew: boolean) {
  const deferred = new Map<string, Deferred>();
  const known = new Map<string, RecordOf<'request'> | null>();
  const state: { read: BatchFile['planned'] } = { read: null };
  const later: LaterAnswers = {
    find: async (key) => {
      const [request = null] = await findRecords(archive, 'request', [key]);
      known.set(key, request);
      if (request?.state === 'answered') {
        const answer = await readAnswer(archive, answerKey(runtime, key), request.value);
        if (answer !== null || isNew) return answer;
        const problem = 'an answer was erased from the archive. Submit the file again to pay for a new one';
        throw new ModelError('api_error', problem, { retryable: false });
      }
      if (request?.state !== 'failed' || (isNew && request.value.error?.code !== 'context_length')) return null;
      const { code = 'api_error', problem = 'it failed' } = request.value.error ?? {};
      throw new ModelError(code, problem, { retryable: false });
    },
    defer: (key, request) => {
      const before = known.get(key) ?? null;
      const isSent = before?.state === 'open' || (before?.state === 'canceled' && !isNew);
      deferred.set(key, { request: isSent ? null : request, before });
    },
    isWaiting: () => deferred.size > 0,
    onRead: ({ source, recordIndex, settingsSha256 }) => {
      state.read = { sizeBytes: source.sizeBytes, sha256: recordIndex.sha256, settingsSha256 };
    },
  };
  return { later, deferred, read: () => state.read };
}

/** Null: it was erased. */
async function readAnswer(archive: Archive, key: string, { stopReason }: BatchRequest): Promise<ModelResponse | null> {
  const kept = await archive.summaries.find(key);
  if (kept === null) return null;
  const content = kept.text === '' ? [] : [{ type: 'text', text: kept.text } as const];
  return { content, stop_reason: stopReason ?? 'other', usage: kept.usage };
}
