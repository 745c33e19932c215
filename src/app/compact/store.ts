import type { LineOutcome } from '../../core/plan/line-outcomes.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { estimateTokensByBytes } from '../../core/tokens.ts';
import type { Archive, ArchiveFailure, CompactionDraft, StoredCycle, StoredAs } from '../../ports/archive.ts';
import type { FileLock, FileStamp } from '../../ports/files.ts';
import { type WritingDeps, isInterrupted } from '../contract/deps.ts';
import { attemptDamaged, carriedFailure, type Failure } from '../contract/failure.ts';
import type { CompactReport, ConversationReport, UsageReport } from '../contract/reports.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import type { Prepared } from '../read/prepare.ts';
import { addUsage, costOf, NO_USAGE } from '../summarize/usage.ts';
import { deliver, describeWritten, targetPath } from '../write/deliver.ts';
import { lookAgain } from '../write/look-again.ts';
import { isOutputThere } from '../write/settle.ts';
import { checkReplaceable } from '../write/target.ts';
import type { Written } from '../write/write-output.ts';
import { archivedLines, type EarlyStore, findUnprovable, storeLines } from './archive-lines.ts';
import { type ComposedOutput, composeOutput, outputBytes } from './compose.ts';
import { planOutcomes } from './plan.ts';
import {
  countLedger,
  noteOtherNames,
  reportBase,
  reportBatch,
  reportConversation,
  reportRetention,
  reportUnchanged,
} from './report.ts';
import type { Attempted, CompactedConversation } from './summarize-conversation.ts';

export type StoreInput = {
  readonly request: CompactFileRequest;
  readonly transcript: Prepared;
  readonly attempts: readonly Attempted[];
  readonly settings: string;
  readonly settingsSha256: string;
  readonly archive: Archive;
  /** The storing that began before the summaries were made; null: none did. */
  readonly early: EarlyStore | null;
  /** The lock on the target; null: standard output. */
  readonly lock: FileLock | null;
};

/** Archive first (prepared), then the file, then applied. If it stops anywhere, the source is as it was, or the archive is complete. */
export async function storeCompaction(deps: WritingDeps, input: StoreInput): Promise<Result<CompactReport, Failure>> {
  const { transcript, attempts, archive, request } = input;
  const plans = attempts.map((one) => (one.kind === 'compacted' ? one.result.plan : null));
  const { outcomes, insertBefore } = planOutcomes(transcript, plans);
  const compacted = attempts.flatMap((one, index) => {
    const before = insertBefore[index];
    return one.kind !== 'compacted' || before === undefined || before === null
      ? []
      : [{ result: one.result, insertBefore: before }];
  });
  const results = compacted.map(({ result }) => result);
  const output = composeOutput(deps.runtime, { transcript, outcomes, compacted, settingsSha256: input.settingsSha256 });
  if (await isInterrupted(deps)) return err({ kind: 'interrupted' });
  // Making summaries may have taken minutes, and another file may have appeared at the output's path.
  const replaceable = await checkReplaceable(deps, { request, transcript, archive });
  if (!replaceable.ok) return replaceable;
  if (input.lock === null && (await hasChangedSince(deps, transcript)))
    return err({ kind: 'source-changed', file: request.input.name });
  const draft = draftCompaction(deps, input, { results, output });
  const store = (): Promise<StoredAs> => storeLines(archive, draft, archivedLines(transcript, outcomes, results));
  const { id: prepared, archiveBytes } = (await input.early?.finish(draft, results)) ?? (await store());
  deps.reached('prepared');
  const prove = (id: number): Promise<ArchiveFailure | null> => findLoss(deps, { archive, id, transcript, output });
  // Standard output has no lock, so another run may have discarded what was prepared for it: `confirm` then stores and proves it again.
  const isDiscarded = draft.outputPath === null && (await archive.loadCompaction(prepared)) === null;
  const unproven = isDiscarded ? null : await prove(prepared);
  if (unproven !== null) return err({ kind: 'archive', failure: unproven });
  // We cannot check later what became of standard output, so its archive must be applied before the first byte is written.
  const early = draft.outputPath === null ? await confirm(archive, prepared, { store, prove }) : null;
  if (early?.ok === false) return early;
  const named = (await archive.loadCompaction(early?.value ?? prepared))?.cycles ?? [];
  const delivered = await deliverOrDiscard(deps, input, {
    id: prepared,
    draft,
    output,
    replaceable: replaceable.value,
  });
  if (!delivered.ok) return delivered;
  const told = early === null ? await tellReplaced(archive, prepared) : 'told';
  const confirmed = told === 'lost' ? await confirm(archive, prepared, { store, prove }) : (early ?? ok(prepared));
  const replaced = request.input.name;
  if (!confirmed.ok)
    return err(confirmed.error.kind === 'archive' ? { ...confirmed.error, replaced } : confirmed.error);
  if (typeof told === 'object') return err({ kind: 'archive', failure: told, replaced });
  deps.reached('applied');
  const file = await describeWritten(deps, { request, planned: output, ...delivered.value });
  const stored = told !== 'lost' ? named : ((await archive.loadCompaction(confirmed.value))?.cycles ?? []);
  return ok({
    ...reportBase(transcript, request.input.name),
    result: 'compacted',
    notes: [
      ...attempts.flatMap((one) => (one.kind === 'compacted' ? one.notes : [])),
      ...file.notes,
      ...noteOtherNames(transcript, request),
      ...noteOtherArchive(transcript),
      ...(told === 'later'
        ? ['the archive has every line, and the next command that opens it records that the file was replaced']
        : []),
    ],
    output: targetPath(request) ?? '-',
    sha256: { before: transcript.recordIndex.sha256, after: file.sha256 },
    bytes: { before: transcript.source.sizeBytes, after: file.sizeBytes },
    conversations: reportConversations(input, outcomes, stored),
    ledger: countLedger(outcomes),
    archive: archive.path,
    archiveBytes,
    usage: reportUsage(results, request),
    ...reportLosses(stored, results),
  });
}

/** What an earlier compaction removed is in the archive that was used then, and cannot be restored from this one. */
function noteOtherArchive({ conversations }: Prepared): readonly string[] {
  return conversations.some((one) => one.isArchiveMissing)
    ? [
        'this archive does not have its earlier compaction; only the archive that was used then can restore what that removed',
      ]
    : [];
}

/**
 * Whether the archive cannot give back what was just stored; if so, it is removed from the archive again. Nothing has been replaced at that
 * point. Null: it gives back every byte.
 */
async function findLoss(
  deps: WritingDeps,
  {
    archive,
    id,
    transcript,
    output,
  }: Pick<StoreInput, 'archive' | 'transcript'> & { readonly id: number; readonly output: ComposedOutput },
): Promise<ArchiveFailure | null> {
  try {
    const compaction = await archive.loadCompaction(id);
    const problem =
      compaction === null
        ? 'it is gone'
        : await findUnprovable(deps, { transcript, archive, compaction, parts: output });
    if (problem === null) return null;
    await archive.discard(id);
    const reason = `what was just stored does not come back from it (${problem}), so nothing was replaced`;
    return { kind: 'damaged', path: archive.path, reason };
  } catch (error) {
    await archive.discard(id);
    throw error;
  }
}

/** What was written to standard output cannot be taken back, so the source is checked first. Appended lines do not matter. */
async function hasChangedSince(deps: WritingDeps, { source, recordIndex, codec }: Prepared): Promise<boolean> {
  const { stamp, sizeBytes } = source;
  const isDocument = codec.format.layout.kind === 'document';
  const look = await lookAgain(deps, source, { stamp, sizeBytes, sha256: recordIndex.sha256, isDocument });
  if (look.kind === 'grown') look.close();
  return look.kind === 'changed';
}

/**
 * Tells the archive that the file was replaced. `lost`: it no longer has the lines. `later`: it is busy or full, and the next command that opens
 * it sees the file. Any other failure is the answer.
 */
async function tellReplaced(archive: Archive, id: number): Promise<'told' | 'lost' | 'later' | ArchiveFailure> {
  try {
    await archive.markApplied(id);
    return 'told';
  } catch (error) {
    const failure = carriedFailure(error);
    if (failure === null) throw error;
    if (failure.kind === 'damaged') return 'lost';
    return failure.kind === 'busy' || failure.kind === 'no-space' ? 'later' : failure;
  }
}

/**
 * Another run may have considered this one dead (on a file system without locks) and discarded what it had prepared. The open source still has
 * the original lines, so they are stored again.
 */
async function confirm(
  archive: Archive,
  prepared: number,
  {
    store,
    prove,
  }: { readonly store: () => Promise<StoredAs>; readonly prove: (id: number) => Promise<ArchiveFailure | null> },
): Promise<Result<number, Failure>> {
  const marked = await attemptDamaged(() => archive.markApplied(prepared));
  if (marked.ok) return ok(prepared);
  const { id } = await store();
  const failure = await prove(id);
  if (failure !== null) return err({ kind: 'archive', failure });
  await archive.markApplied(id);
  return ok(id);
}

/** Discards what was prepared only if the output is not in place: an error may come after the rename. */
async function deliverOrDiscard(
  deps: WritingDeps,
  { request, transcript, archive, lock }: StoreInput,
  {
    id,
    draft,
    output,
    replaceable,
  }: {
    readonly id: number;
    readonly draft: CompactionDraft;
    readonly output: ComposedOutput;
    readonly replaceable: FileStamp | null;
  },
): Promise<Result<Written, Failure>> {
  const settle = async (): Promise<void> => {
    if (await isOutputThere(deps, draft)) await archive.markApplied(id);
    else await archive.discard(id);
  };
  try {
    const pieces = outputBytes(output, transcript);
    const delivered = await deliver(deps, { request, transcript, pieces, lock, replaceable });
    if (!delivered.ok) await settle();
    return delivered;
  } catch (error) {
    await settle();
    throw error;
  }
}

function draftCompaction(
  deps: WritingDeps,
  { request, transcript, settings, settingsSha256 }: StoreInput,
  { results, output }: { readonly results: readonly CompactedConversation[]; readonly output: ComposedOutput },
): CompactionDraft {
  const { recordIndex, source, codec } = transcript;
  const path = targetPath(request);
  return {
    format: codec.format.name,
    run: deps.run,
    sourcePath: deps.files.absolute(request.input.path),
    outputPath: path === null ? null : deps.files.absolute(path),
    source: {
      sha256: recordIndex.sha256,
      sizeBytes: source.sizeBytes,
      lineCount: recordIndex.lineCount,
      hasBom: source.bomLength > 0,
    },
    output: { sha256: output.sha256, sizeBytes: output.sizeBytes },
    settingsSha256,
    settings,
    createdAt: deps.runtime.now(),
    processId: deps.runtime.processId,
    cycles: results.map((result, index) => ({ ...result.draft, clipSha256: output.clipSha256[index] ?? '' })),
    inserted: output.inserted,
    kept: output.kept,
    carried: results.flatMap((result, cycle) => result.carried.map((line) => ({ ...line, cycle }))),
  };
}

/** Uses the labels that the archive assigned. */
function reportConversations(
  { transcript, attempts }: StoreInput,
  outcomes: readonly LineOutcome[],
  stored: readonly StoredCycle[],
): readonly ConversationReport[] {
  const isKept = (line: number): boolean => outcomes[line - 1]?.kind === 'kept';
  let position = 0;
  return attempts.map((attempt, index) => {
    const prepared = transcript.conversations[index];
    if (prepared === undefined) throw new Error(`no conversation ${index}`);
    if (attempt.kind === 'skipped') return reportUnchanged(prepared);
    const cycle = stored[position];
    position += 1;
    return reportConversation(prepared, isKept, {
      cycles: attempt.result.draft.cycle,
      clipTokens: estimateTokensByBytes(attempt.result.text()),
      batches: (cycle?.live ?? []).map(reportBatch),
    });
  });
}

/** The cost of all conversations together. */
export function reportUsage(
  results: readonly CompactedConversation[],
  { price }: Pick<CompactFileRequest, 'price'>,
): UsageReport {
  const usage = results.reduce((sum, one) => addUsage(sum, one.usage), NO_USAGE);
  return { ...usage, cost: costOf(usage, price) };
}

function reportLosses(
  stored: readonly StoredCycle[],
  results: readonly CompactedConversation[],
): Pick<CompactReport, 'retention'> {
  const audited = results.flatMap(({ retentionOf }, at) =>
    [...retentionOf].map(([position, retention]) => ({ label: stored[at]?.made[position]?.label ?? '', retention })),
  );
  const retention = reportRetention(audited);
  return retention === undefined ? {} : { retention };
}
