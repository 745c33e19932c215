import type { Outcome } from '../../core/overview/strip.ts';
import type { SummaryLine } from '../../core/overview/summary-lines.ts';
import type { TokenNode } from '../../core/overview/token-tree.ts';
import type { Count, IsoTime, Ordinal } from '../../core/units.ts';
import type { Failure } from './failure.ts';
import type { BatchReport, ScoreTerm, SkipReason, VerifyReport } from './reports.ts';

/** Everything that a page about one transcript shows. Plain data, with secrets masked if there is a mask. */
export type FileReport = {
  readonly file: string;
  readonly format: string;
  readonly state: ReportState;
  /** `before` is null if the original is unknown, `after` if nothing was written. */
  readonly bytes: { readonly before: number | null; readonly after: number | null };
  readonly tokens: { readonly before: number | null; readonly after: number; readonly by: string };
  /** In the order of the original, or of the file if there is none. */
  readonly messages: readonly ReportedMessage[];
  readonly tree: TokenNode;
  readonly rules: readonly { readonly text: string; readonly message: number | null }[];
  readonly requests: readonly ReportedRequest[];
  /** The clip-archive of each compacted conversation. A line's source is a message's number. */
  readonly summaries: readonly (readonly SummaryLine[])[];
  readonly audit: ReportedAudit | null;
};

export type ReportState =
  /** What a compaction would do. `reason`: why it would do nothing. */
  | { readonly kind: 'planned'; readonly reason: SkipReason | null }
  | { readonly kind: 'compacted'; readonly verified: VerifyReport; readonly cycles: readonly ReportedCycle[] }
  /** The original could not be had, so the rest is what the transcript itself says. `claims`: the counts in its summary. */
  | {
      readonly kind: 'unproven';
      readonly failure: Failure;
      readonly claims: { readonly messages: number; readonly cycles: number } | null;
    };

/** One compaction of the file, oldest first. */
export type ReportedCycle = {
  readonly at: string;
  readonly source: { readonly sha256: string; readonly bytes: number; readonly lines: number };
  readonly output: { readonly sha256: string; readonly bytes: number };
  readonly keptLines: number;
  readonly archivedLines: number;
  readonly made: readonly (BatchReport & { readonly id: number; readonly sources: readonly number[] })[];
  readonly live: readonly (BatchReport & { readonly id: number })[];
};

export type PlacedOutcome = {
  /**
   * kept: still in the file, byte for byte. quoted: the summary quotes it word for word. summarized: it left and the summary covers it.
   * archived: it left and is only in the archive.
   */
  readonly outcome: Outcome;
  /** The compaction in which it left, from 1; null: it is still in the file. */
  readonly cycle: Ordinal | null;
  /** The label of the batch that summarizes it. */
  readonly batch: string | null;
};

export type ReportedMessage = PlacedOutcome & {
  /** From 1. */
  readonly number: Ordinal;
  readonly id: string;
  /** Line in the original, from 1. */
  readonly line: Ordinal;
  readonly role: string;
  /** The tools that it calls, or whose results it contains. */
  readonly tools: readonly string[];
  readonly at: IsoTime | null;
  readonly tokens: Count;
  readonly score: number | null;
  readonly terms: readonly ScoreTerm[];
  readonly isRequest: boolean;
  /** At most `MAX_TEXT_CHARS`; `chars` is the length of the whole text. */
  readonly text: string;
  readonly chars: number;
};

/** What a person asked, and the last words before the next request. Both are excerpts. */
export type ReportedRequest = {
  readonly message: number;
  readonly text: string;
  readonly ending: { readonly message: number; readonly text: string } | null;
};

/** What the summaries kept of the facts in the messages that they stand for. */
export type ReportedAudit = {
  readonly kept: number;
  readonly total: number;
  readonly lost: readonly { readonly kind: string; readonly text: string; readonly message: number | null }[];
};
