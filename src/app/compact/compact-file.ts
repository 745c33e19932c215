import type { ConversationPlan } from '../../core/plan/plan.ts';
import { ok, type Result } from '../../core/result.ts';
import type { Archive } from '../../ports/archive.ts';
import type { WritingDeps } from '../contract/deps.ts';
import { againWhileChanging, attempt, type Failure, mustFile, stop } from '../contract/failure.ts';
import type { CompactReport } from '../contract/reports.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import { type Prepared, prepareTranscript } from '../read/prepare.ts';
import { isSameFile } from '../read/records.ts';
import { createSummaryDeps } from '../summarize/summarizer.ts';
import { checkReplaceable, targetPath, withTargetLock } from '../write/deliver.ts';
import { checkArchivePlace, openForStoring, openSettled, openUnsettled } from '../write/settle.ts';
import { applyDroppedRules, withPins } from './choices.ts';
import { describeSettings, planPrepared } from './plan.ts';
import { breakerOpen, leave, leaveUnchanged, leaveUnlessDue, reasonToLeave } from './leave.ts';
import { forecast, planReport, previewReport } from './plan-report.ts';
import { findReusable, findWriterOf, reuseCompaction, storeCompaction, type StoreInput } from './store.ts';
import { summarizeAll } from './summarize-conversation.ts';

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
  const { input, policy, output, before } = given;
  const isDryRun = output.kind === 'none';
  // Report a place where no archive can be created before reading a large transcript.
  await checkArchivePlace(deps, given, { isLenient: true });
  // Append what a killed run could not append: it is part of what is read.
  if (output.kind === 'in-place') mustFile(await deps.files.clearLeftovers(input.path));
  const openEarlier = (): Promise<Archive | null> => (isDryRun ? openUnsettled(deps) : openSettled(deps, 'existing'));
  let transcript = await prepareTranscript(deps, input, { policy, before, archive: openEarlier });
  try {
    const isStored = !isDryRun && output.kind !== 'preview';
    transcript = await withPins(deps, transcript, { input, policy, archive: await openEarlier(), isStored });
    const sign = await leaveUnlessDue(deps, given, transcript);
    const request = await applyDroppedRules(deps, given, transcript);
    const archive = await openEarlier();
    const run = { request, transcript, archive, ...settingsOf(deps, transcript, request) };
    await leaveUnlessNew(deps, run);
    if (isDryRun) return planReport(transcript, request);
    const plans = planAll(run);
    weigh(deps, run, plans);
    deps.reached('planned');
    // A missing archive is created later, when there is something to store. Here we only check that it can be.
    if (archive === null) await checkArchivePlace(deps, request, { isLenient: false });
    else await openForStoring(deps);
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

type Run = Pick<StoreInput, 'request' | 'transcript' | 'settings' | 'settingsSha256'> & {
  /** Null: there is no archive yet. */
  readonly archive: Archive | null;
};

function settingsOf(
  { runtime }: WritingDeps,
  transcript: Prepared,
  request: CompactFileRequest,
  before?: Date,
): Pick<Run, 'settings' | 'settingsSha256'> {
  const { service } = request.summarizer;
  const isMasked = service === undefined ? undefined : service.createRedactor !== null;
  const settings = describeSettings(transcript, { ...request, isMasked }, before);
  return { settings, settingsSha256: runtime.sha256(settings) };
}

/** Before anything is created or locked: a transcript that is what the same settings made of it stays, so nothing has to be writable. */
async function leaveUnlessNew(deps: WritingDeps, { request, transcript, archive }: Run): Promise<void> {
  const { input, output } = request;
  const settingsAt = (time: Date): string => settingsOf(deps, transcript, request, time).settingsSha256;
  const writer = archive === null ? null : await findWriterOf(transcript, settingsAt, archive);
  if (archive === null || writer === null) return;
  // A copy of what was compacted: what is decided about its path concerns that compaction too.
  if (output.kind !== 'none' && !archive.isReadOnly)
    for (const path of [deps.files.absolute(input.path), deps.files.realPath(input.path)])
      await archive.runs.notePath(writer, path);
  leave({ reason: 'nothing-new', notes: ['nothing was said since it was compacted'] });
}

function planAll({ request: { policy }, transcript }: Run): readonly ConversationPlan[] {
  const plans = transcript.conversations.map((one) => planPrepared(transcript, one, { policy }));
  const idle = plans.find((plan) => plan.kind === 'skip');
  if (idle !== undefined && plans.every((plan) => plan.kind === 'skip'))
    leave({ reason: idle.reason, notes: [idle.detail] });
  return plans;
}

/** Leaves what would save too little, and says in time that the disk becomes fuller. */
function weigh(deps: WritingDeps, { request, transcript }: Run, plans: readonly ConversationPlan[]): void {
  const { policy, output, input } = request;
  if (policy.minSaving === undefined && output.kind !== 'in-place') return;
  const expected = forecast(transcript, policy, plans);
  if (expected.kind === 'skip') return leave({ reason: expected.reason, notes: [expected.detail] });
  if (output.kind === 'in-place' && expected.netBytes < 0) deps.tellFuller?.(input.name, -expected.netBytes);
}

type Held = Run & Pick<StoreInput, 'lock'> & { readonly plans: readonly ConversationPlan[] };

/** The steps while no other run may write the target. */
async function compactHeld(deps: WritingDeps, held: Held): Promise<CompactReport> {
  const { request, transcript, settingsSha256 } = held;
  const { service } = request.summarizer;
  // Another run may have replaced the source between reading and locking.
  const stamped = await deps.files.stamp(transcript.source.path);
  if (!stamped.ok || !isSameFile(stamped.value, transcript.source.stamp))
    stop({ kind: 'source-changed', file: request.input.name });
  // Another run may have created the archive while this one waited for the lock.
  const archive = held.archive ?? (await openUnsettled(deps));
  const replaceable = await checkReplaceable(deps, { request, transcript, archive });
  const reusable = archive === null ? null : await findReusable(deps, { ...held, archive });
  if (reusable !== null) return reuseCompaction(deps, { ...held, ...reusable, replaceable });
  await checkBeforePaying(deps, held, archive);
  // Needed before the first request: each paid summary is stored as soon as it arrives.
  const summaries = createSummaryDeps(deps, request, service === undefined ? null : await openForStoring(deps));
  service?.later?.onRead({ ...transcript, settingsSha256 });
  const attempts = await summarizeAll(deps, { ...held, archive, summaries });
  if (request.output.kind === 'preview') return previewReport(transcript, attempts, request);
  return storeCompaction(deps, { ...held, archive: await openForStoring(deps), attempts });
}

/** This is checked again right before the file is replaced. Checking here avoids paying for summaries or creating an archive in vain. */
async function checkBeforePaying({ files }: WritingDeps, { request, transcript }: Held, archive: Archive | null) {
  const { input, output, summarizer } = request;
  if (summarizer.breaker.isOpen()) stop(breakerOpen(input.name));
  if (output.kind !== 'in-place' || (summarizer.service === undefined && archive !== null)) return;
  const writer = await files.findWriter(transcript.source.stamp);
  if (writer !== null && writer !== 'unknown') stop({ kind: 'in-use', file: input.name, user: writer });
}
