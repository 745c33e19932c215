import type { LineOutcome } from '../../core/plan/line-outcomes.ts';
import type { ConversationPlan } from '../../core/plan/plan.ts';
import type { PlanMessage } from '../../core/plan/view.ts';
import type { Entry } from '../../core/transcript.ts';
import type {
  Archive,
  CompactionDraft,
  StoredAs,
  LineDraft,
  MessageDraft,
  StoredCompaction,
  StoredLine,
} from '../../ports/archive.ts';
import type { WritingDeps } from '../contract/deps.ts';
import type { Prepared } from '../read/prepare.ts';
import { readRecords } from '../read/records.ts';
import { findRestoreProblem } from '../read/restored-lines.ts';
import { outputBytes, type OutputParts } from './compose.ts';
import { planOutcomes } from './plan.ts';
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
    const isSaid = entry.kind === 'message' || entry.kind === 'instruction' || isFoundByWords(entry, result);
    const index = cycle === null ? 0 : (places[cycle]?.(line) ?? 0);
    const message = isSaid ? draftMessage(transcript, { entry, bytes, index }) : null;
    yield { line, bytes, outcome: outcome.kind, cycle, batch, message };
  }
}

/**
 * A summary that another program wrote and later replaced. Our own summaries are found as batches, and so is the one that represents the
 * messages before it.
 */
function isFoundByWords(entry: Entry, result: Leaving | undefined): boolean {
  return entry.kind === 'summary' && entry.sha256 === undefined && entry !== result?.prepared.view.prior;
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

function draftMessage(
  transcript: Prepared,
  { entry, bytes, index }: { readonly entry: Entry; readonly bytes: Uint8Array; readonly index: number },
): MessageDraft | null {
  const message = transcript.decodeMessage(entry, bytes);
  if (message === null) return null;
  const { id, role, name, created_at: at, content: text } = message;
  return { id, role, name: name ?? null, at, index, text };
}

/** Stores a compaction as prepared. The bytes of a line need only be valid until the next line is requested. */
export async function storeLines(
  archive: Pick<Archive, 'begin'>,
  draft: CompactionDraft,
  lines: Iterable<LineDraft>,
): Promise<StoredAs> {
  const writer = await archive.begin({ batchCounts: draft.cycles.map(({ newBatches }) => newBatches.length) });
  try {
    for (const block of inBlocks(lines)) await writer.append(block);
    return await writer.commit(draft);
  } finally {
    await writer.abandon();
  }
}

const BLOCK_BYTES = 1024 * 1024;
/** Most transcripts are short. */
const FIRST_BLOCK_BYTES = 64 * 1024;

/** The storing of a compaction that began before its summaries were made. `finish` gives null if they are not as planned, and nothing was stored. */
export type EarlyStore = {
  readonly archive: Archive;
  readonly finish: (draft: CompactionDraft, results: readonly CompactedConversation[]) => Promise<StoredAs | null>;
  readonly abandon: () => Promise<void>;
};

/**
 * Begins to hand all lines of a plan that makes one batch of each conversation to the archive, which stores them while
 * the summaries are made. The lines are read in turns with other work; `finish` and `abandon` wait for the last one.
 */
export async function beginEarly(
  deps: WritingDeps,
  archive: Archive,
  { transcript, plans }: { readonly transcript: Prepared; readonly plans: readonly ConversationPlan[] },
): Promise<EarlyStore> {
  const compacting = plans.map((plan) => (plan.kind === 'compact' ? plan : null));
  const expected = compacting.flatMap((plan, index) => {
    const prepared = transcript.conversations[index];
    if (plan === null || prepared === undefined) return [];
    // Another program's summary is stored as a batch before ours.
    const position = prepared.prior.kind === 'foreign' ? 1 : 0;
    const batchOf = new Map(plan.chunks.flat().map((member) => [member, position]));
    return [{ prepared, plan, position, batchOf }];
  });
  const { outcomes } = planOutcomes(transcript, compacting);
  const writer = await archive.begin({ batchCounts: expected.map(({ position }) => position + 1) });
  const feed = { isStopped: false };
  const appendAll = async (): Promise<void> => {
    for (const block of inBlocks(archivedLines(transcript, outcomes, expected))) {
      await writer.append(block);
      await deps.runtime.yieldToEvents();
      if (feed.isStopped) return;
    }
  };
  const appended = appendAll();
  appended.catch(() => undefined); // thrown by `finish`
  const isAsExpected = ({ plan, draft, batchOf }: CompactedConversation, at: number): boolean => {
    const one = expected[at];
    if (one === undefined || one.plan !== plan || draft.newBatches.length !== one.position + 1) return false;
    return batchOf.size === one.batchOf.size && batchOf.values().every((position) => position === one.position);
  };
  const abandon = async (): Promise<void> => {
    feed.isStopped = true;
    await appended.catch(() => undefined); // errors no longer matter: nothing will be kept
    await writer.abandon();
  };
  return {
    archive,
    finish: async (draft, results) => {
      if (results.length !== expected.length || !results.every(isAsExpected)) {
        await abandon();
        return null;
      }
      await appended;
      return writer.commit(draft);
    },
    abandon,
  };
}

/** Copies lines into blocks, each with one buffer, so that a block can be handed to another thread. */
function* inBlocks(lines: Iterable<LineDraft>): Generator<readonly LineDraft[]> {
  let block: LineDraft[] = [];
  let buffer = new Uint8Array(FIRST_BLOCK_BYTES);
  let filledBytes = 0;
  for (const line of lines) {
    const end = filledBytes + line.bytes.length;
    if (end > buffer.length) {
      if (block.length > 0) yield block;
      block = [];
      buffer = new Uint8Array(Math.max(BLOCK_BYTES, line.bytes.length));
      filledBytes = 0;
    }
    const bytes = buffer.subarray(filledBytes, filledBytes + line.bytes.length);
    bytes.set(line.bytes);
    block.push({ ...line, bytes });
    filledBytes += line.bytes.length;
  }
  if (block.length > 0) yield block;
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
