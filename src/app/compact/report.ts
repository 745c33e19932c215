import { formatTime, type SummaryBatch, type SummaryLevel } from '../../core/batch.ts';
import type { LineOutcome } from '../../core/plan/line-outcomes.ts';
import { describeMissedTarget } from '../../core/plan/plan.ts';
import type { Retention } from '../../core/retention/audit.ts';
import { TOKEN_MEASURE } from '../../core/tokens.ts';
import type { Entry } from '../../core/transcript.ts';
import type { StoredBatch } from '../../ports/archive-lookup.ts';
import type {
  BatchReport,
  BeforeAfter,
  CompactReport,
  ConversationReport,
  Ledger,
  RetentionReport,
} from '../contract/reports.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import type { Prepared, PreparedConversation } from '../read/prepare.ts';
import type { CompactPlan } from './plan.ts';

const COMPACT_SCHEMA = 'compact/report@1';

/** What a compaction made of one conversation, either just now or according to the archive. */
export type ConversationOutcome = {
  readonly cycles: number;
  readonly clipTokens: number;
  readonly batches: readonly BatchReport[];
};

/** Messages and tokens of a conversation as its producer sends it. */
export function reportConversation(
  prepared: PreparedConversation,
  isKept: (line: number) => boolean,
  outcome: ConversationOutcome,
): ConversationReport {
  const before = sentMessages(prepared);
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
  const sent = sentMessages(prepared);
  const tokens = sumTokens(sent);
  return {
    id,
    cycles: prior.kind === 'lineage' ? prior.cycle.cycle : prior.kind === 'foreign' ? prior.cycles : 0,
    messages: { before: sent.length, after: sent.length },
    tokens: { before: tokens, after: tokens, by: TOKEN_MEASURE },
    batches: prior.kind === 'lineage' ? prior.cycle.live.map(reportBatch) : [],
  };
}

/** The earlier summary, the instructions and the messages that a producer sends to its model. */
function sentMessages({ view }: PreparedConversation): readonly Entry[] {
  const said = [...view.instructions, ...view.messages.filter((message) => message.carriedLineId === undefined)];
  return view.prior === null ? said : [view.prior, ...said];
}

/** Tokens of all conversations as their producer sends them now. */
export function tokensNow({ conversations }: Prepared): number {
  return conversations.reduce((sum, prepared) => sum + sumTokens(sentMessages(prepared)), 0);
}

function sumTokens(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + (entry.tokens ?? 0), 0);
}

export function reportBatch(batch: StoredBatch): BatchReport {
  return labelBatch(batch, batch.label);
}

/** `label` is empty if nothing was stored. */
export function labelBatch(
  { depth, startTime, endTime, messageCount, level = 'plain' }: SummaryBatch & { readonly level?: SummaryLevel },
  label: string,
): BatchReport {
  const times = { start: formatTime(startTime), end: formatTime(endTime) };
  return { label, depth, ...times, count: messageCount, ...(level === 'plain' ? {} : { level }) };
}

/** Counts every line of the input once. */
export function countLedger(outcomes: readonly LineOutcome[]): Ledger {
  const count = (kind: LineOutcome['kind']): number =>
    outcomes.reduce((sum, one) => sum + (one.kind === kind ? 1 : 0), 0);
  const [kept, summarized, quoted, other] = [count('kept'), count('summarized'), count('quoted'), count('other')];
  return { kept, summarized, quoted, other, total: outcomes.length };
}

type ReportBase = Pick<CompactReport, 'schema' | 'file' | 'format'> & {
  readonly sha256: { readonly before: string };
  readonly bytes: { readonly before: number };
};

export function reportBase(transcript: Prepared, file: string): ReportBase {
  return {
    schema: COMPACT_SCHEMA,
    file,
    format: transcript.codec.format.name,
    sha256: { before: transcript.recordIndex.sha256 },
    bytes: { before: transcript.source.sizeBytes },
  };
}

/** The report of a transcript that stays as it is. */
export function skippedReport(
  transcript: Prepared,
  input: {
    readonly file: string;
    readonly reason: NonNullable<CompactReport['reason']>;
    readonly notes: readonly string[];
    readonly output: string | null;
  },
): CompactReport {
  const base = reportBase(transcript, input.file);
  const { lineCount } = transcript.recordIndex;
  const after = input.output === null ? null : base.sha256.before;
  return {
    ...base,
    result: 'skipped',
    reason: input.reason,
    notes: input.notes,
    output: input.output,
    sha256: { ...base.sha256, after },
    bytes: { ...base.bytes, after: input.output === null ? null : base.bytes.before },
    conversations: transcript.conversations.map(reportUnchanged),
    ledger: { kept: lineCount, summarized: 0, quoted: 0, other: 0, total: lineCount },
    archive: null,
  };
}

/** Notes on a plan and on the size of its result. */
export function planNotes(
  { view }: PreparedConversation,
  plan: CompactPlan,
  size: { readonly tokensAfter: number; readonly targetTokens: number | null },
): readonly string[] {
  const missed = describeMissedTarget(view, plan, size);
  return missed === null ? plan.notes : [...plan.notes, missed];
}

/** The note for a replaced file that has other names (hard links): they still lead to the original. */
export function noteOtherNames({ source }: Prepared, { output }: CompactFileRequest): readonly string[] {
  const others = source.stamp.linkCount - 1;
  if (output.kind !== 'in-place' || others < 1) return [];
  return [
    others === 1
      ? 'another name of this file (hard links) still leads to the original'
      : `${others} other names of this file (hard links) still lead to the original`,
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

/** The retention of each audited batch; undefined: none was audited. */
export function reportRetention(
  audited: readonly { readonly label: string; readonly retention: Retention }[],
): RetentionReport | undefined {
  if (audited.length === 0) return undefined;
  const batches = audited.map(({ label, retention: { kept, total, lost } }) => ({
    label,
    kept,
    total,
    lost: lost.slice(0, MAX_LOST).map(({ text }) => text),
  }));
  return {
    kept: batches.reduce((sum, batch) => sum + batch.kept, 0),
    total: batches.reduce((sum, batch) => sum + batch.total, 0),
    batches,
  };
}

/** Says which archive does not know a transcript's earlier compaction, and what to do. */
export function describeMissing(archivePath: string): string {
  return `its earlier compaction is not in the archive ${archivePath}; name the archive that was used with --archive, or go on in this one with --fresh`;
}
