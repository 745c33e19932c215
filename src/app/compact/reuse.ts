import { estimateTokensByBytes } from '../../core/tokens.ts';
import type { Archive, StoredCompaction, StoredLine } from '../../ports/archive.ts';
import type { FileStamp } from '../../ports/files.ts';
import type { WritingDeps } from '../contract/deps.ts';
import { attemptDamaged, attemptStep, must, stop } from '../contract/failure.ts';
import type { CompactReport, ConversationReport, Ledger } from '../contract/reports.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import { insertedRecords } from '../read/lineage.ts';
import type { Prepared } from '../read/prepare.ts';
import { keptHashes } from '../read/records.ts';
import { deliver, describeWritten, targetPath } from '../write/deliver.ts';
import { isOutputThere } from '../write/settle.ts';
import { findUnprovable } from './archive-lines.ts';
import { outputBytes } from './compose.ts';
import { planPrepared } from './plan.ts';
import {
  buildReport,
  noteWritten,
  planNotes,
  reportBatch,
  reportConversation,
  reportUnchanged,
  reportUsage,
} from './report.ts';
import type { StoreInput } from './store.ts';

/** The compaction whose output a transcript is, byte for byte, if the settings are the same: compacting it again would change nothing. */
export async function findWriterOf(
  { conversations, recordIndex }: Pick<Prepared, 'conversations' | 'recordIndex'>,
  settingsSha256: string,
  archive: Pick<Archive, 'loadCompaction'>,
): Promise<number | null> {
  const writers = new Set(
    conversations.flatMap(({ prior }) => (prior.kind === 'lineage' ? [prior.cycle.compactionId] : [])),
  );
  for (const id of writers) {
    const writer = await archive.loadCompaction(id);
    const isSame = writer?.output.sha256 === recordIndex.sha256 && writer.settingsSha256 === settingsSha256;
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
  if (hasFallback && request.summarizer.service !== undefined) return null;
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
    readonly same: StoredCompaction;
    readonly ledger: Ledger;
    readonly replaceable: FileStamp | null;
  },
): Promise<CompactReport> {
  const path = targetPath(request);
  const outputPath = path === null ? null : deps.files.absolute(path);
  // Recorded first: a run that is killed in between can still be undone.
  const file = { compactionId: same.id, sourcePath: deps.files.absolute(request.input.path), outputPath };
  const fileId = await archive.runs.record(deps.run, file);
  // It was erased meanwhile: its output must not replace the original any more.
  if (fileId === null) return stop({ kind: 'source-changed', file: request.input.name });
  const pieces = outputBytes(same, transcript);
  const delivered = await attemptStep(() => deliver(deps, { request, transcript, pieces, lock, replaceable }));
  if (!delivered.ok && !(await isOutputThere(deps, { outputPath: path, output: same.output })))
    await archive.runs.forget(fileId);
  const written = must(delivered);
  const hashOf = keptHashes(same);
  const clipTokens = clipTokensByHash(deps, transcript, same);
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
  return buildReport(transcript, request.input, {
    result: 'compacted',
    notes: [...notesAgain(transcript, request, conversations), REUSED, ...noteWritten(transcript, request, written)],
    output: path ?? '-',
    after: await describeWritten(deps, { request, planned: same.output, ...written }),
    conversations,
    ledger,
    archive: archive.path,
    archiveBytes: 0,
    usage: reportUsage([], request),
  });
}

/**
 * Counts the lines of a stored compaction after restoring its whole source and comparing it; null: the archive is damaged, so the result must
 * not be reused.
 */
async function checkReusable(
  { runtime }: Pick<WritingDeps, 'runtime'>,
  {
    same,
    transcript,
    archive,
  }: { readonly same: StoredCompaction; readonly transcript: Prepared; readonly archive: Archive },
): Promise<Ledger | null> {
  const hash = runtime.createHash();
  for (const piece of outputBytes(same, transcript)) hash.update(piece);
  if (hash.digest() !== same.output.sha256) return null;
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

function clipTokensByHash(
  deps: WritingDeps,
  { session }: Prepared,
  same: StoredCompaction,
): (sha256: string) => number {
  const recordOf = insertedRecords(deps, same);
  return (sha256) => {
    const record = recordOf(sha256);
    const decoded = record === undefined ? null : session.decode(record, 0);
    return decoded !== null && 'message' in decoded ? estimateTokensByBytes(decoded.message?.content ?? '') : 0;
  };
}
