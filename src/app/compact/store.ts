import type { Archive, CompactionDraft, StoredAs, StoredCompaction, StoredLine } from '../../ports/archive.ts';
import type { FileLock, FileStamp } from '../../ports/files.ts';
import { isInterrupted, type WritingDeps } from '../contract/deps.ts';
import { attemptDamaged, attemptStep, carriedFailure, must, stop, stoppedBy } from '../contract/failure.ts';
import { checkReplaceable, deliver, describeWritten, targetPath } from '../write/deliver.ts';
import { lookAgain } from '../write/write-output.ts';
import { archivedLines, findUnprovable, storeLines } from './archive-lines.ts';
import { type ComposedOutput, composeOutput, measure, outputBytes } from './compose.ts';
import { planOutcomes, planPrepared } from './plan.ts';
import {
  buildReport,
  countLedger,
  noteWritten,
  planNotes,
  reportBatch,
  reportConversation,
  reportRetention,
  reportUnchanged,
  reportUsage,
} from './report.ts';
import { type Attempted, type CompactedConversation, planOf, reportAttempts } from './summarize-conversation.ts';
import { netBytesFreed } from '../../core/disk.ts';
import { estimateTokensByBytes } from '../../core/tokens.ts';
import type { CompactReport, ConversationReport, Ledger } from '../contract/reports.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import { insertedRecords } from '../read/lineage.ts';
import type { Prepared } from '../read/prepare.ts';
import { findTitle } from '../read/title.ts';
import { keptHashes } from '../read/records.ts';
import { type Content, isOutputThere } from '../write/settle.ts';
import { netInPlace } from './plan-report.ts';

export type StoreInput = {
  readonly request: CompactFileRequest;
  readonly transcript: Prepared;
  readonly attempts: readonly Attempted[];
  readonly settings: string;
  readonly settingsSha256: string;
  readonly archive: Archive;
  /** The lock on the target; null: standard output. */
  readonly lock: FileLock | null;
};

/**
 * The effects of a compaction: the archive first (prepared), then the file, then the archive again (applied). If it stops anywhere, the source
 * is as it was, or the archive is complete.
 */
export async function storeCompaction(deps: WritingDeps, input: StoreInput): Promise<CompactReport> {
  const { transcript, attempts, archive, request, lock } = input;
  const { outcomes, insertBefore } = planOutcomes(transcript, attempts.map(planOf));
  const compacted = attempts.flatMap((one, index) => {
    const before = insertBefore[index] ?? null;
    return one.kind !== 'compacted' || before === null ? [] : [{ result: one.result, insertBefore: before }];
  });
  const results = compacted.map(({ result }) => result);
  const isUsers = request.policy.summaryIsUsers === true;
  const { settingsSha256 } = input;
  const output = composeOutput(deps.runtime, { transcript, outcomes, compacted, isUsers, settingsSha256 });
  if (await isInterrupted(deps)) stop({ kind: 'interrupted' });
  // Making summaries may have taken minutes, and another file may have appeared at the output's path.
  const replaceable = await checkReplaceable(deps, { request, transcript, archive });
  if (lock === null && (await hasChangedSince(deps, transcript)))
    stop({ kind: 'source-changed', file: request.input.name });
  const draft = draftCompaction(deps, input, { results, output });
  const storing: Storing = {
    archive,
    store: () => storeLines(archive, draft, archivedLines(transcript, outcomes, results)),
    prove: (id) => proveStored(deps, { archive, id, transcript, output }),
  };
  const { id: prepared, archiveBytes } = await storing.store();
  deps.reached('prepared');
  // Standard output has no lock, so another run may have discarded what was prepared for it: `confirm` then stores and proves it again.
  const isStdout = draft.outputPath === null;
  if (!isStdout || (await archive.loadCompaction(prepared)) !== null) await storing.prove(prepared);
  // We cannot check later what became of standard output, so its archive must be applied before the first byte is written.
  const ready = isStdout ? await confirm(storing, prepared) : prepared;
  const planned = await archive.loadCompaction(ready);
  const pieces = outputBytes(output, transcript);
  const written = await deliver(deps, { request, transcript, pieces, lock, replaceable }).catch(
    async (error: unknown) => {
      // An error may come after the rename.
      if (await isOutputThere(deps, draft)) await archive.markApplied(prepared);
      else await archive.discard(prepared);
      throw error;
    },
  );
  const told = isStdout ? { id: ready, notes: [] } : await tellReplaced(storing, prepared, request.input.name);
  deps.reached('applied');
  const after = await describeWritten(deps, { request, planned: output, ...written });
  const cycles = (told.id === ready ? planned : await archive.loadCompaction(told.id))?.cycles ?? [];
  return buildReport(transcript, request.input, {
    result: 'compacted',
    notes: [
      ...attempts.flatMap((one) => (one.kind === 'compacted' ? one.notes : [])),
      ...noteWritten(transcript, request, written),
      ...(transcript.conversations.some((one) => one.isArchiveMissing) ? [OTHER_ARCHIVE] : []),
      ...told.notes,
    ],
    output: targetPath(request) ?? '-',
    after,
    // With the labels that the archive assigned.
    conversations: reportAttempts(transcript, attempts, (cycle) => (cycles[cycle]?.live ?? []).map(reportBatch)),
    ledger: countLedger(outcomes),
    archive: archive.path,
    archiveBytes,
    netBytes: netOf(input, after, archiveBytes),
    usage: reportUsage(results, request),
    ...reportRetention(results, (cycle, position) => cycles[cycle]?.made[position]?.label ?? ''),
  });
}

/** A new file takes room, and only a file that is replaced makes any. */
function netOf(
  { request: { output }, transcript }: Pick<StoreInput, 'request' | 'transcript'>,
  { sizeBytes }: Content,
  archive: number,
): number {
  if (output.kind === 'in-place') return netInPlace(transcript, { after: sizeBytes, archive });
  return netBytesFreed({ before: 0, after: output.kind === 'stdout' ? 0 : sizeBytes, archive });
}

const OTHER_ARCHIVE =
  'this archive does not have its earlier compaction; only the archive that was used then can restore what that removed';

/** What was written to standard output cannot be taken back, so the source is checked first. Appended lines do not matter. */
async function hasChangedSince(deps: WritingDeps, { source, recordIndex, codec }: Prepared): Promise<boolean> {
  const { stamp, sizeBytes } = source;
  const isDocument = codec.format.layout.kind === 'document';
  const look = await lookAgain(deps, source, { stamp, sizeBytes, sha256: recordIndex.sha256, isDocument });
  if (look.kind === 'grown') look.close();
  return look.kind === 'changed';
}

type Storing = {
  readonly archive: Archive;
  readonly store: () => Promise<StoredAs>;
  /** Ends the run unless the archive gives back every byte. */
  readonly prove: (id: number) => Promise<void>;
};

/** Ends the run if the archive cannot give back what was just stored, and removes that again. Nothing has been replaced at that point. */
async function proveStored(
  deps: WritingDeps,
  {
    archive,
    id,
    transcript,
    output,
  }: Pick<StoreInput, 'archive' | 'transcript'> & { id: number; output: ComposedOutput },
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

/**
 * Tells the archive that the file was replaced, and gives the id of what it has of it: another one if it had to be stored again. If the archive
 * is busy or full, the next command that opens it sees the file.
 */
async function tellReplaced(storing: Storing, id: number, replaced: string) {
  try {
    await storing.archive.markApplied(id);
    return { id, notes: [] };
  } catch (error) {
    const kind = carriedFailure(error)?.kind;
    if (kind === 'busy' || kind === 'no-space') {
      const later = 'the archive has every line, and the next command that opens it records that the file was replaced';
      return { id, notes: [later] };
    }
  }
  try {
    return { id: await confirm(storing, id), notes: [] };
  } catch (error) {
    const stopped = stoppedBy(error);
    const failure = stopped?.kind === 'archive' ? stopped.failure : carriedFailure(error);
    throw failure === null ? error : stop({ kind: 'archive', failure, replaced });
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

/** A row of a list shows no more. */
const MAX_TITLE_CHARS = 80;

function draftCompaction(
  deps: WritingDeps,
  { request, transcript, settings, settingsSha256 }: StoreInput,
  { results, output }: { results: readonly CompactedConversation[]; output: ComposedOutput },
): CompactionDraft {
  const { recordIndex, source, codec } = transcript;
  const path = targetPath(request);
  return {
    format: codec.format.name,
    run: deps.run,
    sourcePath: request.input.storedAs ?? deps.files.absolute(request.input.path),
    ...(request.input.storedAs === undefined && { realPath: deps.files.realPath(request.input.path) }),
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
    cycles: results.map((result, index) => ({
      ...result.draft,
      clipSha256: output.clipSha256[index] ?? '',
      title: index === 0 ? findTitle(transcript, MAX_TITLE_CHARS) : null,
    })),
    inserted: output.inserted,
    kept: output.kept,
    carried: results.flatMap((result, cycle) => result.carried.map((line) => ({ ...line, cycle }))),
  };
}

/**
 * The compaction whose output a transcript is, byte for byte, if the settings are the same: compacting it again would change nothing. `settingsAt`: the hash of
 * the settings with what was pinned by then, because a pin changes nothing in an output that has the message.
 */
export async function findWriterOf(
  { conversations, recordIndex }: Pick<Prepared, 'conversations' | 'recordIndex'>,
  settingsAt: (time: Date) => string,
  archive: Pick<Archive, 'loadCompaction'>,
): Promise<number | null> {
  const writers = new Set(
    conversations.flatMap(({ prior }) => (prior.kind === 'lineage' ? [prior.cycle.compactionId] : [])),
  );
  for (const id of writers) {
    const writer = await archive.loadCompaction(id);
    const isSame =
      writer?.output.sha256 === recordIndex.sha256 && writer.settingsSha256 === settingsAt(writer.createdAt);
    if (isSame) return id;
  }
  return null;
}

/** A stored compaction of the same bytes with the same settings, with the count of its lines; null: there is none that can be used. */
export async function findReusable(
  deps: WritingDeps,
  {
    request,
    transcript,
    settingsSha256,
    archive,
  }: Pick<StoreInput, 'request' | 'transcript' | 'settingsSha256' | 'archive'>,
): Promise<{ readonly same: StoredCompaction; readonly ledger: Ledger; readonly archive: Archive } | null> {
  const same = await archive.findSame(transcript.recordIndex.sha256, settingsSha256);
  if (same === null || request.output.kind === 'preview') return null;
  // Summaries that were made offline because the model failed are made again once there is a model.
  const hasFallback = same.cycles.some(({ made }) => made.some(({ level }) => level === 'fallback'));
  const { service } = request.summarizer;
  if (service !== undefined && (hasFallback || service.paidAs.asksAgain === true)) return null;
  const ledger = await checkReusable(deps, { same, transcript, archive });
  return ledger === null ? null : { same, ledger, archive };
}

/** Writes the stored result for the same input and settings: the same bytes, without model calls or new rows. */
export async function reuseCompaction(
  deps: WritingDeps,
  {
    request,
    transcript,
    same,
    ledger,
    archive,
    lock,
    replaceable,
  }: Pick<StoreInput, 'request' | 'transcript' | 'archive' | 'lock'> & {
    same: StoredCompaction;
    ledger: Ledger;
    replaceable: FileStamp | null;
  },
): Promise<CompactReport> {
  const path = targetPath(request);
  const outputPath = path === null ? null : deps.files.absolute(path);
  // Recorded first: a run that is killed in between can still be undone.
  const sourcePath = request.input.storedAs ?? deps.files.absolute(request.input.path);
  const fileId = await archive.runs.record(deps.run, { compactionId: same.id, sourcePath, outputPath });
  // It was erased meanwhile: its output must not replace the original any more.
  if (fileId === null) return stop({ kind: 'source-changed', file: request.input.name });
  if (request.input.storedAs === undefined) await archive.runs.notePath(same.id, deps.files.realPath(sourcePath));
  const pieces = outputBytes(same, transcript);
  const delivered = await attemptStep(() => deliver(deps, { request, transcript, pieces, lock, replaceable }));
  if (!delivered.ok && !(await isOutputThere(deps, { outputPath: path, output: same.output })))
    await archive.runs.forget(fileId);
  const written = must(delivered);
  const hashOf = keptHashes(same);
  const clipTokens = await clipTokensByHash(deps, transcript, same);
  const cycles = new Map(same.cycles.map((cycle) => [cycle.conversationId, cycle]));
  const conversations = transcript.conversations.map((prepared) => {
    const cycle = cycles.get(prepared.id);
    if (cycle === undefined) return reportUnchanged(prepared);
    return reportConversation(prepared, (line) => hashOf(line) !== undefined, {
      cycles: cycle.cycle,
      clipTokens: clipTokens(cycle.clipSha256),
      batches: cycle.live.map(reportBatch),
    });
  });
  const after = await describeWritten(deps, { request, planned: same.output, ...written });
  return buildReport(transcript, request.input, {
    result: 'compacted',
    notes: [...notesAgain(transcript, request, conversations), REUSED, ...noteWritten(transcript, request, written)],
    output: path ?? '-',
    after,
    conversations,
    ledger,
    archive: archive.path,
    archiveBytes: 0,
    netBytes: netOf({ request, transcript }, after, 0),
    usage: reportUsage([], request),
  });
}

/**
 * Counts the lines of a stored compaction after restoring its whole source and comparing it; null: the archive is damaged, so the result must
 * not be reused.
 */
async function checkReusable(
  { runtime }: Pick<WritingDeps, 'runtime'>,
  { same, transcript, archive }: { same: StoredCompaction; transcript: Prepared; archive: Archive },
): Promise<Ledger | null> {
  if (measure(runtime, outputBytes(same, transcript)).sha256 !== same.output.sha256) return null;
  const counts = { summarized: 0, quoted: 0, other: 0 };
  const onArchived = ({ outcome }: StoredLine): void => {
    counts[outcome] += 1;
  };
  const checked = await attemptDamaged(() =>
    findUnprovable({ runtime }, { transcript, archive, compaction: same, parts: same, onArchived }),
  );
  if (!checked.ok || checked.value !== null) return null;
  const kept = same.kept.reduce((sum, run) => sum + run.lineCount, 0);
  return { kept, ...counts, total: same.source.lineCount };
}

const REUSED = 'the same input was compacted with the same settings before: the stored summaries were used';

/** The notes of the first run: the plan is the same. */
function notesAgain(
  transcript: Prepared,
  { policy }: CompactFileRequest,
  conversations: readonly ConversationReport[],
): readonly string[] {
  return transcript.conversations.flatMap((prepared, index) => {
    const plan = planPrepared(transcript, prepared, { policy });
    if (plan.kind === 'skip') return [];
    const tokensAfter = conversations[index]?.tokens.after ?? 0;
    return planNotes(prepared, plan, { tokensAfter, targetTokens: policy.targetTokens });
  });
}

async function clipTokensByHash(deps: WritingDeps, { session }: Prepared, same: StoredCompaction) {
  const recordOf = await insertedRecords(deps, same);
  return (sha256: string): number => {
    const record = recordOf(sha256);
    const decoded = record === undefined ? null : session.decode(record, 0);
    return decoded !== null && 'message' in decoded ? estimateTokensByBytes(decoded.message?.content ?? '') : 0;
  };
}
