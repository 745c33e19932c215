import { estimateTokensByBytes } from '../../core/tokens.ts';
import type { Archive, StoredCompaction, StoredLine } from '../../ports/archive.ts';
import type { FileLock, FileStamp } from '../../ports/files.ts';
import type { WritingDeps } from '../contract/deps.ts';
import { attemptDamaged, stop } from '../contract/failure.ts';
import type { CompactReport, ConversationReport, Ledger } from '../contract/reports.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import type { Prepared } from '../read/prepare.ts';
import { parseRecord, trimRecord } from '../read/records.ts';
import { costOf, NO_USAGE } from '../summarize/usage.ts';
import { deliver, describeWritten, targetPath } from '../write/deliver.ts';
import { isOutputThere } from '../write/settle.ts';
import { findUnprovable } from './archive-lines.ts';
import { keptLineLookup, outputBytes } from './compose.ts';
import { planPrepared } from './plan.ts';
import { noteOtherNames, planNotes, reportBase, reportBatch, reportConversation, reportUnchanged } from './report.ts';

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

/** Writes the stored result for the same input and settings: the same bytes, without model calls or new rows. */
export async function reuseCompaction(
  deps: WritingDeps,
  input: {
    readonly request: CompactFileRequest;
    readonly transcript: Prepared;
    readonly same: StoredCompaction;
    /** The result of `checkReusable`. */
    readonly ledger: Ledger;
    readonly archive: Archive;
    readonly lock: FileLock | null;
    readonly replaceable: FileStamp | null;
  },
): Promise<CompactReport> {
  const { request, transcript, same, ledger, archive, lock, replaceable } = input;
  const pieces = outputBytes(same, transcript);
  const path = targetPath(request);
  // Recorded first: a run that is killed in between can still be undone.
  const fileId = await archive.runs.record(deps.run, {
    compactionId: same.id,
    sourcePath: deps.files.absolute(request.input.path),
    outputPath: path === null ? null : deps.files.absolute(path),
  });
  // It was erased meanwhile: its output must not replace the original any more.
  if (fileId === null) return stop({ kind: 'source-changed', file: request.input.name });
  const delivered = await deliver(deps, { request, transcript, pieces, lock, replaceable });
  if (!delivered.ok) {
    const isThere = path !== null && (await isOutputThere(deps, { outputPath: path, output: same.output }));
    if (!isThere) await archive.runs.forget(fileId);
    return stop(delivered.error);
  }
  const file = await describeWritten(deps, { request, planned: same.output, ...delivered.value });
  const isKept = keptLineLookup(same);
  const clipTokens = clipTokensByHash(deps, transcript, same);
  const cycles = new Map(same.cycles.map((cycle) => [cycle.conversationId, cycle]));
  const conversations = transcript.conversations.map((prepared) => {
    const cycle = cycles.get(prepared.id);
    if (cycle === undefined) return reportUnchanged(prepared);
    return reportConversation(prepared, isKept, {
      cycles: cycle.cycle,
      clipTokens: clipTokens(cycle.clipSha256),
      batches: cycle.live.map(reportBatch),
    });
  });
  return {
    ...reportBase(transcript, request.input.name),
    result: 'compacted',
    notes: [
      ...notesAgain(transcript, request, conversations),
      REUSED,
      ...file.notes,
      ...noteOtherNames(transcript, request),
    ],
    output: targetPath(request) ?? '-',
    sha256: { before: transcript.recordIndex.sha256, after: file.sha256 },
    bytes: { before: transcript.source.sizeBytes, after: file.sizeBytes },
    conversations,
    ledger,
    archive: archive.path,
    archiveBytes: 0,
    usage: { ...NO_USAGE, cost: costOf(NO_USAGE, request.price) },
  };
}

/**
 * Counts the lines of a stored compaction after restoring its whole source and comparing it; null: the archive is damaged, so the result must
 * not be reused.
 */
export async function checkReusable(
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
  return checked.ok && checked.value === null ? ledgerOf(same, counts) : null;
}

export function hasFallback({ cycles }: StoredCompaction): boolean {
  return cycles.some(({ made }) => made.some(({ level }) => level === 'fallback'));
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
  { session, codec }: Prepared,
  { inserted }: StoredCompaction,
): (sha256: string) => number {
  const lines = new Map(
    inserted.map(({ bytes }) => trimRecord(codec, bytes)).map((line) => [deps.runtime.sha256(line), line]),
  );
  return (sha256) => {
    const line = lines.get(sha256);
    const parsed = line === undefined ? null : parseRecord(deps.formats, codec, line);
    if (parsed === null || !parsed.ok) return 0;
    const decoded = session.decode(parsed.value, 0);
    return 'problem' in decoded ? 0 : estimateTokensByBytes(decoded.message?.content ?? '');
  };
}

function ledgerOf(
  { kept, source }: StoredCompaction,
  { summarized, quoted, other }: { readonly [outcome in StoredLine['outcome']]: number },
): Ledger {
  const stay = kept.reduce((sum, run) => sum + run.lineCount, 0);
  return { kept: stay, summarized, quoted, other, total: source.lineCount };
}
