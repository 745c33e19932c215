import { originOf } from '../../core/clip-archive.ts';
import type { ConversationPlan } from '../../core/plan/plan.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { describeUnder } from '../../core/tokens.ts';
import type { Archive } from '../../ports/archive.ts';
import type { FileStamp } from '../../ports/files.ts';
import { type WritingDeps, isInterrupted } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import type { CompactReport, SkipReason } from '../contract/reports.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import { createOriginalDecoder, NO_MATERIAL, readLineage } from '../read/lineage.ts';
import { checkAge, isOlder, lastWrite, tooRecent } from '../read/last-time.ts';
import { type Prepared, prepareTranscript } from '../read/prepare.ts';
import { applyDroppedRules } from './dropped-rules.ts';
import type { SummaryDeps } from '../summarize/summarize-chunk.ts';
import { createSummaryDeps } from '../summarize/summarizer.ts';
import { costOf } from '../summarize/usage.ts';
import { targetPath } from '../write/deliver.ts';
import { againWhileChanging, isSameFile, isSameStamp } from '../write/look-again.ts';
import { checkArchivePlace, openForStoring, openSettled, openUnsettled } from '../write/settle.ts';
import { checkReplaceable, withTargetLock } from '../write/target.ts';
import { beginEarly, type EarlyStore } from './archive-lines.ts';
import { planReport, previewReport } from './plan-report.ts';
import { describeSettings, isGainCertain } from './plan.ts';
import { describeMissing, tokensNow } from './report.ts';
import { checkReusable, explicitPath, findWriterOf, hasFallback, leaveUnchanged, reuseCompaction } from './reuse.ts';
import { reportUsage, storeCompaction, type StoreInput } from './store.ts';
import { attemptConversation, type Attempted, breakerOpen, findLosses, planFirst } from './summarize-conversation.ts';

const NOTHING_NEW = 'nothing was said since it was compacted';

/** Compacts one transcript file. If it ends early, the file stays as it was. */
export async function compactFile(
  deps: WritingDeps,
  request: CompactFileRequest,
): Promise<Result<CompactReport, Failure>> {
  return againWhileChanging(() =>
    attempt({ file: request.input.name, progress: deps.progress }, () => compactOnce(deps, request)),
  );
}

async function compactOnce(deps: WritingDeps, request: CompactFileRequest): Promise<Result<CompactReport, Failure>> {
  const isDryRun = request.output.kind === 'none';
  // Report a place where no archive can be created before reading a large transcript.
  const place = await checkArchivePlace(deps, request, { isLenient: true });
  if (!place.ok) return place;
  // First append what a killed run could not append: it is part of what is read.
  const cleared =
    request.output.kind === 'in-place' ? await deps.files.clearLeftovers(request.input.path) : ok(undefined);
  if (!cleared.ok) return err({ kind: 'file', failure: cleared.error });
  const wanted = await checkAge(deps, request);
  if (!wanted.ok) return wanted;
  const before = await deps.files.stamp(request.input.path);
  const prepared = await prepareTranscript(deps, request.input, {
    policy: request.policy,
    archive: () => (isDryRun ? openUnsettled(deps) : openSettled(deps, 'existing')),
  });
  if (!prepared.ok) {
    const isUnsettled = isMaybeUnfinished(prepared.error) && (await hasChanged(deps, request, before));
    return isUnsettled ? err({ kind: 'source-changed', file: request.input.name }) : prepared;
  }
  const { title, whyReadOnly } = prepared.value.codec.format;
  try {
    if (whyReadOnly !== undefined) {
      return err({ kind: 'read-only-format', file: request.input.name, title, reason: whyReadOnly });
    }
    if (request.before !== undefined && !isOlder(prepared.value, request.before)) return tooRecent(request.input);
    const sign = await findSessionUser(deps, request, prepared.value);
    const done = await compactPrepared(deps, request, { transcript: prepared.value, sign });
    const hasNote = done.ok && done.value.result === 'compacted' && sign !== null;
    return hasNote
      ? ok({ ...done.value, notes: [...done.value.notes, `${sign}, and notices nothing until it opens it again`] })
      : done;
  } finally {
    prepared.value.source.close();
  }
}

async function compactPrepared(
  deps: WritingDeps,
  given: CompactFileRequest,
  { transcript, sign }: { readonly transcript: Prepared; readonly sign: string | null },
): Promise<Result<CompactReport, Failure>> {
  const skip = async (reason: SkipReason, ...notes: readonly string[]): Promise<Result<CompactReport, Failure>> => {
    const path = explicitPath(given);
    const untouched = path === null ? targetPath(given) : null;
    if (untouched !== null) await deps.files.clearLeftovers(untouched);
    return withTargetLock(deps, path, (lock) =>
      leaveUnchanged(deps, { request: given, transcript, reason, notes, lock }),
    );
  };
  deps.reached('read');
  const tokens = tokensNow(transcript);
  const limit = given.policy.ifOverTokens;
  if (limit !== null && tokens <= limit) return skip('under-limit', describeUnder(tokens, { what: 'limit', limit }));
  if (isBeingWritten(transcript))
    return skip('in-use', 'its last line is neither ended nor whole, so a program may still be writing it');
  // Whoever named the file knows what is open.
  if (sign !== null && given.minIdleMs !== undefined) return skip('in-use', sign);
  const changedMinutes = findRecentChange(deps, given, transcript);
  if (changedMinutes !== null)
    return skip(
      'in-use',
      `it changed ${countMinutes(changedMinutes)} ago, and this system does not tell whether a program has it open (min_idle_minutes)`,
    );
  if (given.policy.isFresh !== true && transcript.conversations.some((one) => one.isArchiveMissing))
    return skip('archive-missing', describeMissing(deps.archivePath));
  const dropped = await applyDroppedRules(deps, given, transcript);
  if (!dropped.ok) return dropped;
  const request = dropped.value;
  const { policy, provider, modelName } = request;
  const { service } = request.summarizer;
  const masked = service === undefined ? {} : { isMasked: service.createRedactor !== null };
  const settings = describeSettings({ format: transcript.codec.format.name, policy, provider, modelName, ...masked });
  const settingsSha256 = deps.runtime.sha256(settings);
  if (request.output.kind === 'none') {
    const known = await openUnsettled(deps);
    if (!known.ok) return known;
    const isDone = known.value !== null && (await findWriterOf(transcript, settingsSha256, known.value)) !== null;
    return isDone ? skip('nothing-new', NOTHING_NEW) : ok(planReport(transcript, request));
  }
  // Checked before anything is created or locked: if there is nothing to do, nothing has to be writable.
  const existing = await openSettled(deps, 'existing');
  if (!existing.ok) return existing;
  const writer = existing.value === null ? null : await findWriterOf(transcript, settingsSha256, existing.value);
  if (existing.value !== null && writer !== null) {
    // A copy of what was compacted: what is decided about its path concerns that compaction too.
    if (!existing.value.isReadOnly) await existing.value.runs.notePath(writer, deps.files.absolute(request.input.path));
    return skip('nothing-new', NOTHING_NEW);
  }
  const plans = transcript.conversations.map((one) => planFirst(transcript, one, request));
  const idle = plans.find((plan) => plan.kind === 'skip');
  if (idle !== undefined && plans.every((plan) => plan.kind === 'skip')) return skip(idle.reason, idle.detail);
  deps.reached('planned');
  // A missing archive is created later, when there is something to store. Here we only check that it can be.
  const isMissing = existing.value === null;
  const archive = isMissing ? await checkArchivePlace(deps, request, { isLenient: false }) : await openForStoring(deps);
  if (!archive.ok) return archive;
  const held = { request, transcript, settings, settingsSha256, archive: archive.value, plans };
  const done = await withTargetLock(deps, targetPath(request), (lock) => compactHeld(deps, { ...held, lock }));
  // This is not a failure: the next run may find the file free.
  const user = done.ok ? null : findUser(request, done.error);
  return user === null ? done : skip('in-use', user);
}

/** Who is at work on the file, for people; null: the failure has another reason, or an output that was named cannot be written. */
function findUser(request: CompactFileRequest, failure: Failure): string | null {
  if (failure.kind === 'in-use') return `${failure.name} (process ${failure.processId}) has it open for writing`;
  const isHeld = failure.kind === 'file' && failure.failure.kind === 'held' && explicitPath(request) === null;
  return isHeld ? 'another run of compact is working on it' : null;
}

/**
 * Whether the last line is half a record of a format with several records in a line: what it will be is known only when it is whole. In other
 * formats half a line can be carried along, and is continued where it stands.
 */
function isBeingWritten({ codec, recordIndex, readLine }: Prepared): boolean {
  if (codec.records === undefined || codec.format.layout.kind === 'document') return false;
  const last = recordIndex.entries.at(-1);
  return last?.kind === 'opaque' && readLine(last).at(-1) !== LF;
}

const LF = 0x0a;
const MINUTE_MS = 60_000;

/** The producer's process that has a session open which would be replaced, as a sentence; null: none is to be seen. */
async function findSessionUser(
  { files }: WritingDeps,
  { output, minIdleMs }: CompactFileRequest,
  { source, codec }: Prepared,
): Promise<string | null> {
  if (output.kind !== 'in-place' && minIdleMs === undefined) return null;
  const user = await files.findSessionUser(source.path, codec.format.openSigns ?? []);
  return user === null ? null : `${user.name} (process ${user.processId}) has this session open`;
}

/** How many minutes ago a file changed that a program may still have open; null: it is old enough, or nobody has it open as far as can be seen. */
function findRecentChange(
  { files, runtime }: WritingDeps,
  { minIdleMs = 0 }: CompactFileRequest,
  { source }: Prepared,
): number | null {
  if (minIdleMs === 0 || files.showsWriters()) return null;
  const idleMs = runtime.now().getTime() - lastWrite(source).getTime();
  return idleMs < minIdleMs ? Math.max(0, Math.floor(idleMs / MINUTE_MS)) : null;
}

function countMinutes(minutes: number): string {
  return minutes === 0 ? 'less than a minute' : `${minutes} minute${minutes === 1 ? '' : 's'}`;
}

type Held = Omit<StoreInput, 'attempts' | 'archive' | 'early'> & {
  /** Null: there is no archive yet. */
  readonly archive: Archive | null;
  readonly plans: readonly ConversationPlan[];
};

/** Runs while no other run may write the target. */
async function compactHeld(deps: WritingDeps, held: Held): Promise<Result<CompactReport, Failure>> {
  const { request, transcript, settingsSha256, lock } = held;
  const { service, breaker } = request.summarizer;
  if (await isReplaced(deps, transcript)) return err({ kind: 'source-changed', file: request.input.name });
  // Another run may have created the archive while this one waited for the lock.
  const opened = held.archive === null ? await openUnsettled(deps) : ok(held.archive);
  if (!opened.ok) return opened;
  const archive = opened.value;
  const replaceable = await checkReplaceable(deps, { request, transcript, archive });
  if (!replaceable.ok) return replaceable;
  const same = (await archive?.findSame(transcript.recordIndex.sha256, settingsSha256)) ?? null;
  // Summaries that were made offline because the model failed are made again once there is a model.
  const usedFallback = service !== undefined && same !== null && hasFallback(same);
  const mayReuse = same !== null && request.output.kind !== 'preview' && !usedFallback;
  const ledger = mayReuse && archive !== null ? await checkReusable(deps, { same, transcript, archive }) : null;
  if (same !== null && archive !== null && ledger !== null)
    return reuseCompaction(deps, { request, transcript, same, ledger, archive, lock, replaceable: replaceable.value });
  if (breaker.isOpen()) return err(breakerOpen(request.input.name));
  // This is checked again right before the file is replaced. Checking here avoids paying for summaries or creating an archive in vain.
  const isCostly = service !== undefined || archive === null;
  const writer =
    isCostly && request.output.kind === 'in-place' ? await deps.files.findWriter(transcript.source.stamp) : null;
  if (writer !== null) return err({ kind: 'in-use', file: request.input.name, ...writer });
  // Needed before the first request: each paid summary is stored as soon as it arrives.
  const store = service === undefined ? ok(null) : await openForStoring(deps);
  if (!store.ok) return store;
  const summaries = createSummaryDeps(deps, request, store.value);
  service?.later?.onRead({ ...transcript, settingsSha256 });
  const early = await beginStoring(deps, held);
  if (!early.ok) return early;
  try {
    return await summarizeAndStore(deps, held, { archive, summaries, early: early.value });
  } finally {
    await early.value?.abandon();
  }
}

/** Begins to store the lines that will leave if the archive has its own thread and the plan is final; null: it is too early. */
async function beginStoring(deps: WritingDeps, held: Held): Promise<Result<EarlyStore | null, Failure>> {
  const { policy, summarizer, output } = held.request;
  const isPlanFinal = policy.compaction.summaryTokens !== undefined && policy.targetTokens === null;
  // A paid summary may take minutes, and others could not write meanwhile.
  const isOffline = summarizer.service === undefined && summarizer.model.isVerbatim === true;
  if (deps.storesAside !== true || !isPlanFinal || !isOffline || output.kind === 'preview') return ok(null);
  if (!isGainCertain(held, policy)) return ok(null);
  const storing = await openForStoring(deps);
  if (!storing.ok) return storing;
  if (!storing.value.isReadableWhileStoring) return ok(null);
  return ok(await beginEarly(deps, storing.value, held));
}

type Summarizing = {
  readonly archive: Archive | null;
  readonly summaries: SummaryDeps;
  readonly early: EarlyStore | null;
};

async function summarizeAndStore(
  deps: WritingDeps,
  held: Held,
  { archive, summaries, early }: Summarizing,
): Promise<Result<CompactReport, Failure>> {
  const { request, transcript, settingsSha256 } = held;
  const { breaker } = request.summarizer;
  const originKey = deps.runtime.sha256(originOf(transcript.recordIndex.sha256, settingsSha256));
  const headers = transcript.recordIndex.entries.filter(({ kind, list }) => kind === 'header' && list === undefined);
  const decode = createOriginalDecoder(
    deps.formats,
    transcript.codec,
    headers.map((header) => transcript.readJson(header)),
  );
  const attempts: Attempted[] = [];
  let waiting: Failure | null = null; // requests of all conversations go into one batch
  for (const [index, one] of transcript.conversations.entries()) {
    const attempted = await attemptConversation(deps, one, {
      transcript,
      request,
      originKey,
      plan: held.plans[index],
      summaries,
      readLineage: async (cycle) => (archive === null ? NO_MATERIAL : readLineage(archive, cycle, decode)),
    });
    if (await isInterrupted(deps)) return err({ kind: 'interrupted' });
    // If no summary was requested, the model has neither failed nor succeeded.
    if (!attempted.ok) breaker.record('failure');
    else if (attempted.value.kind === 'compacted') breaker.record('success');
    if (attempted.ok) attempts.push(attempted.value);
    else if (summaries.isWaiting?.() === true) waiting ??= attempted.error;
    else return err(withSpending(attempted.error, summaries, request));
  }
  if (waiting !== null) return err(waiting);
  const idle = attempts.filter((one) => one.kind === 'skipped');
  // The reason of a conversation whose summaries were made and then dropped is the most helpful one.
  const skipped = idle.find(({ wasted }) => wasted !== undefined) ?? idle[0];
  if (idle.length === attempts.length && skipped !== undefined) {
    const left = await leaveUnchanged(deps, { ...held, reason: skipped.reason, notes: [skipped.detail] });
    const wasted = idle.flatMap((one) => one.wasted ?? []);
    return left.ok && wasted.length > 0 ? ok({ ...left.value, usage: reportUsage(wasted, request) }) : left;
  }
  const losses = findLosses(attempts, request);
  if (losses !== null) return err(withSpending(losses, summaries, request));
  if (request.output.kind === 'preview') return ok(previewReport(transcript, attempts, request));
  // Opening it again would wait for the storing that began early.
  const storing = early === null ? await openForStoring(deps) : ok(early.archive);
  return storing.ok ? storeCompaction(deps, { ...held, archive: storing.value, attempts, early }) : storing;
}

/** A failed run may still have cost something. */
function withSpending(failure: Failure, { meter }: SummaryDeps, { price }: CompactFileRequest): Failure {
  const usage = meter?.total();
  if (usage === undefined || usage.calls === 0) return failure;
  if (failure.kind !== 'no-summary' && failure.kind !== 'low-retention') return failure;
  return { ...failure, usage: { ...usage, cost: costOf(usage, price) } };
}

/** An invalid line or a truncated compressed file may be one that is still being written. */
function isMaybeUnfinished(failure: Failure): boolean {
  return failure.kind === 'bad-line' || (failure.kind === 'file' && failure.failure.kind === 'damaged');
}

async function hasChanged(
  { files }: WritingDeps,
  { input }: CompactFileRequest,
  before: Result<FileStamp, unknown>,
): Promise<boolean> {
  const now = await files.stamp(input.path);
  return !before.ok || !now.ok || !isSameStamp(before.value, now.value);
}

/** Another run may have replaced the source between reading and locking. */
async function isReplaced({ files }: WritingDeps, { source }: Prepared): Promise<boolean> {
  const stamped = await files.stamp(source.path);
  return !stamped.ok || !isSameFile(stamped.value, source.stamp);
}
