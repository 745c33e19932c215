import type { LineOutcome } from '../../core/plan/line-outcomes.ts';
import { estimateTokensByBytes } from '../../core/tokens.ts';
import type { Archive, CompactionDraft, StoredCycle, StoredAs } from '../../ports/archive.ts';
import type { FileLock, FileStamp } from '../../ports/files.ts';
import { type WritingDeps, isInterrupted } from '../contract/deps.ts';
import { attemptDamaged, carriedFailure, must, stop, stoppedBy } from '../contract/failure.ts';
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

/**
 * The effects of a compaction: the archive first (prepared), then the file, then the archive again (applied). If it stops anywhere, the source
 * is as it was, or the archive is complete.
 */
export async function storeCompaction(deps: WritingDeps, input: StoreInput): Promise<CompactReport> {
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
  if (await isInterrupted(deps)) stop({ kind: 'interrupted' });
  // Making summaries may have taken minutes, and another file may have appeared at the output's path.
  const replaceable = await checkReplaceable(deps, { request, transcript, archive });
  if (input.lock === null && (await hasChangedSince(deps, transcript)))
    stop({ kind: 'source-changed', file: request.input.name });
  const draft = draftCompaction(deps, input, { results, output });
  const storing: Storing = {
    archive,
    store: () => storeLines(archive, draft, archivedLines(transcript, outcomes, results)),
    prove: (id) => proveStored(deps, { archive, id, transcript, output }),
  };
  const { id: prepared, archiveBytes } = (await input.early?.finish(draft, results)) ?? (await storing.store());
  deps.reached('prepared');
  // Standard output has no lock, so another run may have discarded what was prepared for it: `confirm` then stores and proves it again.
  const isStdout = draft.outputPath === null;
  if (!isStdout || (await archive.loadCompaction(prepared)) !== null) await storing.prove(prepared);
  // We cannot check later what became of standard output, so its archive must be applied before the first byte is written.
  const early = isStdout ? await confirm(storing, prepared) : null;
  const named = (await archive.loadCompaction(early ?? prepared))?.cycles ?? [];
  const written = await deliverOrDiscard(deps, input, { id: prepared, draft, output, replaceable });
  const told =
    early === null ? await tellReplaced(storing, prepared, request.input.name) : { id: early, note: undefined };
  deps.reached('applied');
  const file = await describeWritten(deps, { request, planned: output, ...written });
  const stored = told.id === prepared ? named : ((await archive.loadCompaction(told.id))?.cycles ?? []);
  return {
    ...reportBase(transcript, request.input.name),
    result: 'compacted',
    notes: [
      ...attempts.flatMap((one) => (one.kind === 'compacted' ? one.notes : [])),
      ...file.notes,
      ...noteOtherNames(transcript, request),
      ...noteOtherArchive(transcript),
      ...(told.note === undefined ? [] : [told.note]),
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
  };
}

type Storing = {
  readonly archive: Archive;
  /** Stores the compaction as prepared. */
  readonly store: () => Promise<StoredAs>;
  /** Ends the run unless the archive gives back every byte. */
  readonly prove: (id: number) => Promise<void>;
};

/** What an earlier compaction removed is in the archive that was used then, and cannot be restored from this one. */
function noteOtherArchive({ conversations }: Prepared): readonly string[] {
  return conversations.some((one) => one.isArchiveMissing)
    ? [
        'this archive does not have its earlier compaction; only the archive that was used then can restore what that removed',
      ]
    : [];
}

/** Ends the run if the archive cannot give back what was just stored, and removes that again. Nothing has been replaced at that point. */
async function proveStored(
  deps: WritingDeps,
  {
    archive,
    id,
    transcript,
    output,
  }: Pick<StoreInput, 'archive' | 'transcript'> & { readonly id: number; readonly output: ComposedOutput },
): Promise<void> {
  let isProven = false;
  try {
    const compaction = await archive.loadCompaction(id);
    const problem =
      compaction === null
        ? 'it is gone'
        : await findUnprovable(deps, { transcript, archive, compaction, parts: output });
    isProven = problem === null;
    const reason = `what was just stored does not come back from it (${problem}), so nothing was replaced`;
    if (!isProven) stop({ kind: 'archive', failure: { kind: 'damaged', path: archive.path, reason } });
  } finally {
    if (!isProven) await archive.discard(id);
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
 * Tells the archive that the file was replaced, and gives the id of what it has of it: another one if it had to be stored again. If the archive
 * is busy or full, the next command that opens it sees the file.
 */
async function tellReplaced(
  storing: Storing,
  id: number,
  replaced: string,
): Promise<{ readonly id: number; readonly note: string | undefined }> {
  try {
    await storing.archive.markApplied(id);
    return { id, note: undefined };
  } catch (error) {
    const failure = carriedFailure(error);
    if (failure === null) throw error;
    if (failure.kind === 'busy' || failure.kind === 'no-space')
      return {
        id,
        note: 'the archive has every line, and the next command that opens it records that the file was replaced',
      };
    if (failure.kind !== 'damaged') return stop({ kind: 'archive', failure, replaced });
  }
  try {
    return { id: await confirm(storing, id), note: undefined };
  } catch (error) {
    const failure = stoppedBy(error);
    throw failure?.kind === 'archive' ? stop({ ...failure, replaced }) : error;
  }
}

/**
 * Another run may have considered this one dead (on a file system without locks) and discarded what it had prepared. The open source still has
 * the original lines, so they are stored again. Gives the id of what was applied.
 */
async function confirm({ archive, store, prove }: Storing, prepared: number): Promise<number> {
  const marked = await attemptDamaged(() => archive.markApplied(prepared));
  if (marked.ok) return prepared;
  const { id } = await store();
  await prove(id);
  await archive.markApplied(id);
  return id;
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
): Promise<Written> {
  const settle = async (): Promise<void> => {
    if (await isOutputThere(deps, draft)) await archive.markApplied(id);
    else await archive.discard(id);
  };
  try {
    const pieces = outputBytes(output, transcript);
    return must(await deliver(deps, { request, transcript, pieces, lock, replaceable }));
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
