import { originOf } from '../../core/clip-archive.ts';
import type { ConversationPlan } from '../../core/plan/plan.ts';
import { ok, type Result } from '../../core/result.ts';
import type { Archive } from '../../ports/archive.ts';
import type { FileStamp } from '../../ports/files.ts';
import { type WritingDeps, isInterrupted } from '../contract/deps.ts';
import { attempt, type Failure, must, stop } from '../contract/failure.ts';
import type { CompactReport } from '../contract/reports.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import { checkAge, isOlder, tooRecent } from '../read/last-time.ts';
import { createOriginalDecoder, NO_MATERIAL, readLineage } from '../read/lineage.ts';
import { type Prepared, prepareTranscript } from '../read/prepare.ts';
import type { SummaryDeps } from '../summarize/summarize-chunk.ts';
import { createSummaryDeps } from '../summarize/summarizer.ts';
import { costOf } from '../summarize/usage.ts';
import { targetPath } from '../write/deliver.ts';
import { againWhileChanging, isSameFile, isSameStamp } from '../write/look-again.ts';
import { checkArchivePlace, openForStoring, openSettled, openUnsettled } from '../write/settle.ts';
import { checkReplaceable, withTargetLock } from '../write/target.ts';
import { beginEarly, type EarlyStore } from './archive-lines.ts';
import { applyDroppedRules } from './dropped-rules.ts';
import { leave, leaveUnchanged, leaveUnlessDue, reasonToLeave } from './leave.ts';
import { planReport, previewReport } from './plan-report.ts';
import { describeSettings, isGainCertain } from './plan.ts';
import { checkReusable, findWriterOf, hasFallback, reuseCompaction } from './reuse.ts';
import { reportUsage, storeCompaction, type StoreInput } from './store.ts';
import { attemptConversation, type Attempted, breakerOpen, findLosses, planFirst } from './summarize-conversation.ts';

/** Compacts one transcript file. If it ends early, the file stays as it was. */
export async function compactFile(
  deps: WritingDeps,
  request: CompactFileRequest,
): Promise<Result<CompactReport, Failure>> {
  return againWhileChanging(() =>
    attempt({ file: request.input.name, progress: deps.progress }, async () => ok(await compactOnce(deps, request))),
  );
}

/**
 * The steps of a run, in their order. Each ends the run with `stop` if it fails, and with `leave` if there is nothing to do. Until the swap,
 * which is a part of `storeCompaction`, the source stays as it was; from then on the archive is complete.
 */
async function compactOnce(deps: WritingDeps, given: CompactFileRequest): Promise<CompactReport> {
  await prepareToRead(deps, given);
  const transcript = await read(deps, given);
  try {
    checkWritable(transcript, given);
    const sign = await findSessionUser(deps, given, transcript);
    deps.reached('read');
    leaveUnlessDue(deps, given, { transcript, sign });
    const run = await describeRun(deps, await applyDroppedRules(deps, given, transcript), transcript);
    if (given.output.kind === 'none') return planReport(transcript, run.request);
    const plans = planAll(run);
    deps.reached('planned');
    await checkStorable(deps, run);
    const done = await withTargetLock(deps, targetPath(given), (lock) => compactHeld(deps, { ...run, plans, lock }));
    return sign === null || done.result !== 'compacted'
      ? done
      : { ...done, notes: [...done.notes, `${sign}, and notices nothing until it opens it again`] };
  } catch (error) {
    const skip = reasonToLeave(error, given);
    if (skip === null) throw error;
    return await leaveUnchanged(deps, given, { transcript, skip });
  } finally {
    transcript.source.close();
  }
}

async function prepareToRead(deps: WritingDeps, request: CompactFileRequest): Promise<void> {
  const { input, output } = request;
  // Report a place where no archive can be created before reading a large transcript.
  await checkArchivePlace(deps, request, { isLenient: true });
  // Append what a killed run could not append: it is part of what is read.
  const cleared = output.kind === 'in-place' ? await deps.files.clearLeftovers(input.path) : ok(undefined);
  if (!cleared.ok) stop({ kind: 'file', failure: cleared.error });
  must(await checkAge(deps, request));
}

async function read(deps: WritingDeps, { input, policy, output }: CompactFileRequest): Promise<Prepared> {
  const before = await deps.files.stamp(input.path);
  const prepared = await prepareTranscript(deps, input, {
    policy,
    archive: () => (output.kind === 'none' ? openUnsettled(deps) : openSettled(deps, 'existing')),
  });
  if (prepared.ok) return prepared.value;
  const isUnsettled = isMaybeUnfinished(prepared.error) && (await hasChanged(deps, input, before));
  return stop(isUnsettled ? { kind: 'source-changed', file: input.name } : prepared.error);
}

/** An invalid line or a truncated compressed file may be one that is still being written. */
function isMaybeUnfinished(failure: Failure): boolean {
  return failure.kind === 'bad-line' || (failure.kind === 'file' && failure.failure.kind === 'damaged');
}

async function hasChanged(
  { files }: WritingDeps,
  { path }: CompactFileRequest['input'],
  before: Result<FileStamp, unknown>,
): Promise<boolean> {
  const now = await files.stamp(path);
  return !before.ok || !now.ok || !isSameStamp(before.value, now.value);
}

function checkWritable(transcript: Prepared, { input, before }: CompactFileRequest): void {
  const { title, whyReadOnly } = transcript.codec.format;
  if (whyReadOnly !== undefined) stop({ kind: 'read-only-format', file: input.name, title, reason: whyReadOnly });
  if (before !== undefined && !isOlder(transcript, before)) must(tooRecent(input));
}

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

type Run = Pick<StoreInput, 'request' | 'transcript' | 'settings' | 'settingsSha256'> & {
  /** Null: there is no archive yet. */
  readonly archive: Archive | null;
};

/** The settings of a run. It ends here if the transcript is what the same settings made of it. */
async function describeRun(deps: WritingDeps, request: CompactFileRequest, transcript: Prepared): Promise<Run> {
  const { policy, provider, modelName, summarizer, output, input } = request;
  const { service } = summarizer;
  const masked = service === undefined ? {} : { isMasked: service.createRedactor !== null };
  const settings = describeSettings({ format: transcript.codec.format.name, policy, provider, modelName, ...masked });
  const settingsSha256 = deps.runtime.sha256(settings);
  // Checked before anything is created or locked: if there is nothing to do, nothing has to be writable.
  const isDryRun = output.kind === 'none';
  const archive = await (isDryRun ? openUnsettled(deps) : openSettled(deps, 'existing'));
  const writer = archive === null ? null : await findWriterOf(transcript, settingsSha256, archive);
  if (archive === null || writer === null) return { request, transcript, settings, settingsSha256, archive };
  // A copy of what was compacted: what is decided about its path concerns that compaction too.
  if (!isDryRun && !archive.isReadOnly) await archive.runs.notePath(writer, deps.files.absolute(input.path));
  return leave({ reason: 'nothing-new', notes: ['nothing was said since it was compacted'] });
}

function planAll({ request, transcript }: Run): readonly ConversationPlan[] {
  const plans = transcript.conversations.map((one) => planFirst(transcript, one, request));
  const idle = plans.find((plan) => plan.kind === 'skip');
  if (idle !== undefined && plans.every((plan) => plan.kind === 'skip'))
    leave({ reason: idle.reason, notes: [idle.detail] });
  return plans;
}

/** A missing archive is created later, when there is something to store. Here we only check that it can be. */
async function checkStorable(deps: WritingDeps, { request, archive }: Run): Promise<void> {
  if (archive === null) await checkArchivePlace(deps, request, { isLenient: false });
  else await openForStoring(deps);
}

type Held = Run & Pick<StoreInput, 'lock'> & { readonly plans: readonly ConversationPlan[] };

/** The steps while no other run may write the target. */
async function compactHeld(deps: WritingDeps, held: Held): Promise<CompactReport> {
  const { request, transcript, settingsSha256, lock } = held;
  const { service } = request.summarizer;
  if (await isReplaced(deps, transcript)) stop({ kind: 'source-changed', file: request.input.name });
  // Another run may have created the archive while this one waited for the lock.
  const archive = held.archive ?? (await openUnsettled(deps));
  const replaceable = await checkReplaceable(deps, { request, transcript, archive });
  const reusable = archive === null ? null : await findReusable(deps, held, archive);
  if (archive !== null && reusable !== null)
    return reuseCompaction(deps, { request, transcript, ...reusable, archive, lock, replaceable });
  await checkBeforePaying(deps, held, archive);
  // Needed before the first request: each paid summary is stored as soon as it arrives.
  const summaries = createSummaryDeps(deps, request, service === undefined ? null : await openForStoring(deps));
  service?.later?.onRead({ ...transcript, settingsSha256 });
  const early = await beginStoring(deps, held);
  try {
    const attempts = await summarizeAll(deps, held, { archive, summaries });
    if (request.output.kind === 'preview') return previewReport(transcript, attempts, request);
    // Opening it again would wait for the storing that began early.
    const storing = early?.archive ?? (await openForStoring(deps));
    return await storeCompaction(deps, { ...held, archive: storing, attempts, early });
  } finally {
    await early?.abandon();
  }
}

/** Another run may have replaced the source between reading and locking. */
async function isReplaced({ files }: WritingDeps, { source }: Prepared): Promise<boolean> {
  const stamped = await files.stamp(source.path);
  return !stamped.ok || !isSameFile(stamped.value, source.stamp);
}

/** A stored compaction of the same bytes with the same settings; null: there is none that can be used. */
async function findReusable(
  deps: WritingDeps,
  { request, transcript, settingsSha256 }: Held,
  archive: Archive,
): Promise<Pick<Parameters<typeof reuseCompaction>[1], 'same' | 'ledger'> | null> {
  const same = await archive.findSame(transcript.recordIndex.sha256, settingsSha256);
  // Summaries that were made offline because the model failed are made again once there is a model.
  const usedFallback = request.summarizer.service !== undefined && same !== null && hasFallback(same);
  if (same === null || request.output.kind === 'preview' || usedFallback) return null;
  const ledger = await checkReusable(deps, { same, transcript, archive });
  return ledger === null ? null : { same, ledger };
}

/** This is checked again right before the file is replaced. Checking here avoids paying for summaries or creating an archive in vain. */
async function checkBeforePaying(
  { files }: WritingDeps,
  { request, transcript }: Held,
  archive: Archive | null,
): Promise<void> {
  const { input, output, summarizer } = request;
  if (summarizer.breaker.isOpen()) stop(breakerOpen(input.name));
  if (output.kind !== 'in-place' || (summarizer.service === undefined && archive !== null)) return;
  const writer = await files.findWriter(transcript.source.stamp);
  if (writer !== null) stop({ kind: 'in-use', file: input.name, ...writer });
}

/** Begins to store the lines that will leave if the archive has its own thread and the plan is final; null: it is too early. */
async function beginStoring(deps: WritingDeps, held: Held): Promise<EarlyStore | null> {
  const { policy, summarizer, output } = held.request;
  const isPlanFinal = policy.compaction.summaryTokens !== undefined && policy.targetTokens === null;
  // A paid summary may take minutes, and others could not write meanwhile.
  const isOffline = summarizer.service === undefined && summarizer.model.isVerbatim === true;
  if (deps.storesInThread !== true || !isPlanFinal || !isOffline || output.kind === 'preview') return null;
  if (!isGainCertain(held, policy)) return null;
  const storing = await openForStoring(deps);
  return storing.isReadableWhileStoring ? beginEarly(deps, storing, held) : null;
}

/** The summaries of all conversations, each checked. */
async function summarizeAll(
  deps: WritingDeps,
  { request, transcript, settingsSha256, plans }: Held,
  { archive, summaries }: { readonly archive: Archive | null; readonly summaries: SummaryDeps },
): Promise<readonly Attempted[]> {
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
      plan: plans[index],
      summaries,
      readLineage: async (cycle) => (archive === null ? NO_MATERIAL : readLineage(archive, cycle, decode)),
    });
    if (await isInterrupted(deps)) stop({ kind: 'interrupted' });
    // If no summary was requested, the model has neither failed nor succeeded.
    if (!attempted.ok) breaker.record('failure');
    else if (attempted.value.kind === 'compacted') breaker.record('success');
    if (attempted.ok) attempts.push(attempted.value);
    else if (summaries.isWaiting?.() === true) waiting ??= attempted.error;
    else stop(withSpending(attempted.error, summaries, request));
  }
  if (waiting !== null) stop(waiting);
  leaveIfIdle(attempts, request);
  const losses = findLosses(attempts, request);
  if (losses !== null) stop(withSpending(losses, summaries, request));
  return attempts;
}

function leaveIfIdle(attempts: readonly Attempted[], request: CompactFileRequest): void {
  const idle = attempts.filter((one) => one.kind === 'skipped');
  // The reason of a conversation whose summaries were made and then dropped is the most helpful one.
  const skipped = idle.find(({ wasted }) => wasted !== undefined) ?? idle[0];
  if (idle.length < attempts.length || skipped === undefined) return;
  const wasted = idle.flatMap((one) => one.wasted ?? []);
  leave({
    reason: skipped.reason,
    notes: [skipped.detail],
    ...(wasted.length > 0 && { usage: reportUsage(wasted, request) }),
  });
}

/** A failed run may still have cost something. */
function withSpending(failure: Failure, { meter }: SummaryDeps, { price }: CompactFileRequest): Failure {
  const usage = meter?.total();
  if (usage === undefined || usage.calls === 0) return failure;
  if (failure.kind !== 'no-summary' && failure.kind !== 'low-retention') return failure;
  return { ...failure, usage: { ...usage, cost: costOf(usage, price) } };
}
