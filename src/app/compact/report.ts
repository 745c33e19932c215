import { formatTime, type SummaryBatch, type SummaryLevel } from '../../core/batch.ts';
import type { LineOutcome } from '../../core/plan/line-outcomes.ts';
import { describeMissedTarget } from '../../core/plan/plan.ts';
import { sentMessages, sumTokens } from '../../core/plan/view.ts';
import type { Retention } from '../../core/retention/audit.ts';
import { TOKEN_MEASURE } from '../../core/tokens.ts';
import type { StoredBatch } from '../../ports/archive-lookup.ts';
import type {
  BatchReport,
  BeforeAfter,
  CompactReport,
  ConversationReport,
  Ledger,
  UsageReport,
} from '../contract/reports.ts';
import type { CompactFileRequest, TranscriptInput } from '../contract/requests.ts';
import type { Prepared, PreparedConversation } from '../read/prepare.ts';
import { findTitle } from '../read/title.ts';
import { addUsage, NO_USAGE, priced, type Usage } from '../summarize/usage.ts';
import type { Content } from '../write/settle.ts';
import type { Written } from '../write/write-output.ts';
import type { CompactPlan } from './plan.ts';

const COMPACT_SCHEMA = 'compact/report@1';

/** Messages and tokens of a conversation as its producer sends it, after a compaction that was made just now, earlier, or would be made. */
export function reportConversation(
  prepared: PreparedConversation,
  isKept: (line: number) => boolean,
  outcome: { readonly cycles: number; readonly clipTokens: number; readonly batches: readonly BatchReport[] },
): ConversationReport {
  const before = sentMessages(prepared.view);
  const kept = before.filter((entry) => entry !== prepared.view.prior && isKept(entry.line));
  return {
    id: prepared.id,
    cycles: outcome.cycles,
    messages: { before: before.length, after: kept.length + 1 },
    tokens: { before: sumTokens(before), after: sumTokens(kept) + outcome.clipTokens, by: TOKEN_MEASURE },
    batches: outcome.batches,
  };
}

/** The same for a conversation that stays as it is. */
export function reportUnchanged(prepared: PreparedConversation): ConversationReport {
  const { id, prior } = prepared;
  const sent = sentMessages(prepared.view);
  const tokens = sumTokens(sent);
  return {
    id,
    cycles: prior.kind === 'lineage' ? prior.cycle.cycle : prior.kind === 'foreign' ? prior.cycles : 0,
    messages: { before: sent.length, after: sent.length },
    tokens: { before: tokens, after: tokens, by: TOKEN_MEASURE },
    batches: prior.kind === 'lineage' ? prior.cycle.live.map(reportBatch) : [],
  };
}

/** Tokens of all conversations as their producer sends them now. */
export function tokensNow({ conversations }: Pick<Prepared, 'conversations'>): number {
  return conversations.reduce((sum, { view }) => sum + sumTokens(sentMessages(view)), 0);
}

export function reportBatch(batch: StoredBatch): BatchReport {
  return labelBatch(batch, batch.label);
}

/** `label` is empty if nothing was stored. */
export function labelBatch(
  { depth, startTime, endTime, messageCount, level = 'plain' }: SummaryBatch & { level?: SummaryLevel },
  label: string,
): BatchReport {
  const times = { start: formatTime(startTime), end: formatTime(endTime) };
  return { label, depth, ...times, count: messageCount, ...(level === 'plain' ? {} : { level }) };
}

/** Counts every line of the input once. */
export function countLedger(outcomes: readonly LineOutcome[]): Ledger {
  const count = (kind: LineOutcome['kind']) => outcomes.reduce((sum, one) => sum + (one.kind === kind ? 1 : 0), 0);
  const [kept, summarized, quoted, other] = [count('kept'), count('summarized'), count('quoted'), count('other')];
  return { kept, summarized, quoted, other, total: outcomes.length };
}

/** What a run did with a transcript: everything that does not follow from the transcript itself. `after`: what was written; null: nothing. */
type Outcome = Omit<CompactReport, 'schema' | 'file' | 'title' | 'format' | 'sha256' | 'bytes' | 'pinned'> & {
  readonly after: Content | null;
};

/** The one place that builds the report of a run; its keys stand in the order in which they are printed. */
export function buildReport(
  transcript: Prepared,
  { name }: TranscriptInput,
  { after, result, reason, notes, output, conversations, ledger, archive, ...rest }: Outcome,
): CompactReport {
  const { codec, recordIndex, source } = transcript;
  const title = findTitle(transcript);
  const pinned = transcript.conversations.flatMap(({ pins = [] }) => pins.map(({ id }) => id));
  return {
    schema: COMPACT_SCHEMA,
    file: name,
    ...(title !== null && { title }),
    format: codec.format.name,
    sha256: { before: recordIndex.sha256, after: after?.sha256 ?? null },
    bytes: { before: source.sizeBytes, after: after?.sizeBytes ?? null },
    result,
    ...(reason !== undefined && { reason }),
    notes,
    output,
    conversations,
    ledger,
    archive,
    ...(pinned.length > 0 && { pinned }),
    ...rest,
  };
}

export function skippedReport(
  transcript: Prepared,
  input: TranscriptInput,
  skip: Pick<CompactReport, 'reason' | 'notes' | 'output' | 'usage'>,
): CompactReport {
  const { recordIndex, source, conversations } = transcript;
  const { lineCount, sha256 } = recordIndex;
  return buildReport(transcript, input, {
    result: 'skipped',
    ...skip,
    after: skip.output === null ? null : { sha256, sizeBytes: source.sizeBytes },
    conversations: conversations.map(reportUnchanged),
    ledger: { kept: lineCount, summarized: 0, quoted: 0, other: 0, total: lineCount },
    archive: null,
  });
}

/** The cost of all conversations together. */
export function reportUsage(
  results: readonly { readonly usage: Usage }[],
  { summarizer: { service } }: Pick<CompactFileRequest, 'summarizer'>,
): UsageReport {
  return priced(
    results.reduce((sum, one) => addUsage(sum, one.usage), NO_USAGE),
    service?.price,
  );
}

/** Notes on a plan and on the size of its result. */
export function planNotes(
  { view, pins = [] }: PreparedConversation,
  plan: CompactPlan,
  size: { readonly tokensAfter: number; readonly targetTokens: number | null },
): readonly string[] {
  const missed = describeMissedTarget(view, plan, { ...size, hasPins: pins.length > 0 });
  const pinned = `${pins.length} message${pins.length === 1 ? ' is' : 's are'} pinned`;
  return [...plan.notes, ...(pins.length === 0 ? [] : [pinned]), ...(missed === null ? [] : [missed])];
}

/** Notes on how a file was written, and on its other names (hard links): they still lead to the original. */
export function noteWritten({ source }: Prepared, { output }: CompactFileRequest, { carriedBytes, notes }: Written) {
  const others = output.kind === 'in-place' ? source.stamp.linkCount - 1 : 0;
  const still =
    others === 1
      ? 'another name of this file (hard links) still leads to the original'
      : `${others} other names of this file (hard links) still lead to the original`;
  return [
    ...(carriedBytes === 0 ? [] : [`${carriedBytes} bytes that were appended meanwhile were carried over`]),
    ...notes,
    ...(others < 1 ? [] : [still]),
  ];
}

/** Tokens of all conversations together. */
export function totalTokens(conversations: readonly ConversationReport[]): BeforeAfter {
  return {
    before: conversations.reduce((sum, { tokens }) => sum + tokens.before, 0),
    after: conversations.reduce((sum, { tokens }) => sum + tokens.after, 0),
  };
}

/** Listing every lost fact would make the report unreadable. */
const MAX_LOST = 20;

/** The retention of each audited batch; empty: none was audited. `labelOf` gives the label of a batch by its position in its cycle. */
export function reportRetention(
  results: readonly { readonly retentionOf: ReadonlyMap<number, Retention> }[],
  labelOf: (cycle: number, position: number) => string = () => '',
): Pick<CompactReport, 'retention'> {
  const batches = results.flatMap(({ retentionOf }, cycle) =>
    [...retentionOf].map(([position, { kept, total, lost }]) => ({
      label: labelOf(cycle, position),
      kept,
      total,
      lost: lost.slice(0, MAX_LOST).map(({ text }) => text),
    })),
  );
  if (batches.length === 0) return {};
  const sum = (count: 'kept' | 'total'): number => batches.reduce((all, batch) => all + batch[count], 0);
  return { retention: { kept: sum('kept'), total: sum('total'), batches } };
}

/** Says which archive does not know a transcript's earlier compaction, and what to do. */
export function describeMissing(archivePath: string): string {
  return `its earlier compaction is not in the archive ${archivePath}; name the archive that was used with --archive, or go on in this one with --fresh`;
}
