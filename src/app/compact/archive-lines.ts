import type { LineOutcome } from '../../core/plan/line-outcomes.ts';
import type { PlanMessage } from '../../core/plan/view.ts';
import type { Archive, CompactionDraft, LineDraft, StoredCompaction, StoredLine } from '../../ports/archive.ts';
import type { WritingDeps } from '../contract/deps.ts';
import type { Prepared } from '../read/prepare.ts';
import { readRecords } from '../read/records.ts';
import { findRestoreProblem } from '../read/restored-lines.ts';
import { outputBytes, type OutputParts } from './compose.ts';
import type { CompactedConversation } from './summarize-conversation.ts';

/** What the lines of a conversation are stored with. */
export type Leaving = Pick<CompactedConversation, 'prepared' | 'batchOf'>;

/**
 * Every line that leaves the transcript, in order, with its bytes and the message that search finds. The source is read once, from front to
 * end; a line's bytes are valid only until the next line is requested.
 */
export function* archivedLines(
  transcript: Prepared,
  outcomes: readonly LineOutcome[],
  compacted: readonly Leaving[],
): Generator<LineDraft> {
  const places = compacted.map(({ prepared }) => createPlaceFinder(prepared));
  const numberOf = new Map(transcript.conversations.map((prepared, number) => [prepared, number]));
  const positionOf = new Map(compacted.map(({ prepared }, position) => [numberOf.get(prepared), position]));
  const lines = readRecords(transcript.source, transcript.codec);
  for (const [at, entry] of transcript.recordIndex.entries.entries()) {
    const raw = lines.next();
    const outcome = outcomes[at];
    if (outcome === undefined || outcome.kind === 'kept') continue;
    const { line } = entry;
    // If the file was truncated meanwhile, there are fewer lines and these bytes are wrong. The change is detected before the output gets its name.
    const bytes = raw.done === true ? transcript.readLine(entry) : raw.value.bytes;
    const cycle = outcome.conversation === null ? null : (positionOf.get(outcome.conversation) ?? null);
    const result = cycle === null ? undefined : compacted[cycle];
    const batch = outcome.kind === 'summarized' ? (result?.batchOf.get(outcome.index) ?? null) : null;
    // A summary that another program wrote and later replaced. Our own summaries are found as batches, and so is the one that represents the
    // messages before it.
    const isReplaced = entry.kind === 'summary' && entry.sha256 === undefined && entry !== result?.prepared.view.prior;
    const isSaid = entry.kind === 'message' || entry.kind === 'instruction' || isReplaced;
    const index = cycle === null ? 0 : (places[cycle]?.(line) ?? 0);
    const facts = isSaid ? transcript.messageFacts(entry, bytes) : null;
    yield { line, bytes, outcome: outcome.kind, cycle, batch, message: facts && { ...facts, index } };
  }
}

/** The 1-based position of a line's message in the whole conversation; 0: the line has no message. Must be called for lines in ascending order. */
function createPlaceFinder({ view, compressedBefore }: CompactedConversation['prepared']): (line: number) => number {
  const messages: readonly PlanMessage[] = view.messages;
  const lineOf = (index: number | undefined): number => (index === undefined ? 0 : (messages[index]?.line ?? 0));
  const byLine = Int32Array.from(messages.keys()).sort((a, b) => lineOf(a) - lineOf(b));
  let at = 0;
  return (line) => {
    while (at < byLine.length && lineOf(byLine[at]) < line) at += 1;
    const index = byLine[at];
    return index !== undefined && lineOf(index) === line ? compressedBefore + index + 1 : 0;
  };
}

/** Stores a compaction as prepared. The bytes of a line need only be valid until the next line is requested. */
export async function storeLines(archive: Pick<Archive, 'begin'>, draft: CompactionDraft, lines: Iterable<LineDraft>) {
  const writer = await archive.begin({ batchCounts: draft.cycles.map(({ newBatches }) => newBatches.length) });
  try {
    await writer.append(lines);
    return await writer.commit(draft);
  } finally {
    await writer.abandon();
  }
}

type StoredProof = {
  readonly transcript: Prepared;
  readonly archive: Archive;
  readonly compaction: StoredCompaction;
  /** The output that is about to be written. */
  readonly parts: OutputParts;
  /** Called for every line that was read back. */
  readonly onArchived?: (line: StoredLine) => void;
};

/**
 * Restores the source in one pass from the archive and the planned output, before the output exists, and compares it with the hash of what was
 * read. Returns why it cannot be restored; null: every byte can. Throws whatever reading the archive throws.
 */
export async function findUnprovable(
  { runtime }: Pick<WritingDeps, 'runtime'>,
  { transcript, archive, compaction, parts, onArchived }: StoredProof,
): Promise<string | null> {
  const { codec, recordIndex, source } = transcript;
  const { sha256, lineCount } = compaction.source;
  if (sha256 !== recordIndex.sha256 || lineCount !== recordIndex.lineCount) return 'it is of another source';
  const restoring = {
    compaction,
    archive,
    runtime,
    output: async function* output(): AsyncGenerator<Iterable<Uint8Array>> {
      yield outputBytes(parts, transcript);
    },
    codec,
    ...(onArchived !== undefined && { onArchived }),
  };
  // Compare with what was read, not with what the row says.
  const original = { sha256: recordIndex.sha256, sizeBytes: source.sizeBytes, lineCount, hasBom: source.bomLength > 0 };
  return (await findRestoreProblem(restoring, original))?.message ?? null;
}
