import type { Count, IsoTime, Ordinal, Sha256 } from '../../core/units.ts';
import type { SummaryLevel } from '../../core/batch.ts';
import type { ModelRequest } from '../../core/model-request.ts';
import type { ArchiveFailure } from '../../ports/archive.ts';
import type { FileFailure } from '../../ports/files.ts';
import type { PricedUsage } from '../summarize/usage.ts';
import type { Failure } from './failure.ts';

// The plain data that use cases return: safe for JSON, printed as it is by `--json`, and rendered for people by cli/render. Their JSON
// Schemas are made of these types and their comments.

export type BatchReport = {
  readonly label: string;
  readonly depth: Count;
  /** ISO times; null where the transcript has none. */
  readonly start: IsoTime | null;
  readonly end: IsoTime | null;
  readonly count: Count;
  /** How it came about, where it was not by the model's first answer. */
  readonly level?: Exclude<SummaryLevel, 'plain'>;
};

export type BeforeAfter = { readonly before: Count; readonly after: Count };

export type ConversationReport = {
  readonly id: string;
  readonly cycles: Count;
  readonly messages: BeforeAfter;
  readonly tokens: BeforeAfter & { readonly by: string };
  /** The live batches that the clip-archive speaks of, oldest first. */
  readonly batches: readonly BatchReport[];
};

/** Lines of the input: each is exactly one of the three. */
export type Ledger = {
  readonly kept: Count;
  readonly summarized: Count;
  readonly other: Count;
  readonly total: Count;
};

export type SkipReason =
  | 'too-short'
  | 'under-limit'
  | 'nothing-gained'
  | 'nothing-new'
  | 'no-legal-cut'
  /** A program has it open for writing. */
  | 'in-use';

/** One line a transcript of `compact --json`, where it did not fail. */
export type CompactReport = {
  readonly schema: 'compact/report@1';
  readonly file: string;
  readonly format: string;
  readonly result: 'compacted' | 'planned' | 'skipped';
  readonly reason?: SkipReason;
  /** A sentence for people that goes with the reason, or a remark (target missed, last turn kept). */
  readonly notes: readonly string[];
  /** Null: nothing was written; '-': standard output. */
  readonly output: string | null;
  readonly sha256: { readonly before: Sha256; readonly after: Sha256 | null };
  readonly bytes: { readonly before: Count; readonly after: Count | null };
  readonly conversations: readonly ConversationReport[];
  readonly ledger: Ledger;
  /** Path of the archive; null where nothing was stored. */
  readonly archive: string | null;
  /** Of a dry run: what would be asked. */
  readonly plan?: PlanReport;
  /** Of a preview: the clip-archives as they would be written. */
  readonly preview?: readonly { readonly conversation: string; readonly text: string }[];
  readonly usage?: UsageReport;
  /** What became of the salient facts; only where that was looked at. */
  readonly retention?: RetentionReport;
};

/** The line of a transcript that could not be compacted: it is as it was. What was named and is not there has one too. */
export type FailedReport = Pick<CompactReport, 'schema' | 'file'> & {
  readonly result: 'failed';
  readonly error: {
    readonly kind: FailureKind;
    /** For people: what, where, and what to try. */
    readonly message: string;
  };
  /** What was spent in vain; only where a model was asked. */
  readonly usage?: UsageReport;
};

/** The line of a file that a folder, a pattern or a list named, and that holds no conversation that can be read: nothing to do. */
export type SkippedFileReport = Pick<CompactReport, 'schema' | 'file' | 'notes'> & {
  readonly result: 'skipped';
  readonly reason: 'no-messages' | 'no-text' | 'not-a-transcript' | 'unknown-format' | 'mixed-formats' | 'bad-line';
};

/** For scripts. 'bug': an error that nobody expected. */
export type FailureKind =
  | Exclude<Failure['kind'], 'file' | 'archive' | 'interrupted'>
  | FileFailure['kind']
  | `archive-${ArchiveFailure['kind']}`
  | 'no-match'
  | 'bug';

export type PlanReport = {
  readonly chunks: Count;
  readonly requests: Count;
  /** Estimates: each request made once, and every summary as long as it may be. */
  readonly tokensIn: Count;
  readonly tokensOut: Count;
  /**
   * Estimate, in the currency of the configured prices; null: the model has none.
   * @minimum 0
   */
  readonly cost: number | null;
  /** What would be asked of a model, chunk after chunk. */
  readonly asked?: readonly (PlannedRequest & { readonly conversation: string })[];
};

/** The request of a chunk, as far as it is known before the chunks before it are summarized. */
export type PlannedRequest = {
  readonly messages: Count;
  /** Estimate: a previous summary is counted as long as it may be. */
  readonly tokensIn: Count;
  /** Whole for the first chunk; the others wait for the summary before them. */
  readonly request: Omit<ModelRequest, 'source' | 'timeout'> | null;
};

export type UsageReport = PricedUsage;

/** Facts that summaries keep: paths, ids, URLs, error lines, versions, quantities, the user's demands. */
export type RetentionReport = {
  readonly kept: Count;
  readonly total: Count;
  readonly batches: readonly {
    readonly label: string;
    readonly kept: Count;
    readonly total: Count;
    /** As they stand in the messages. */
    readonly lost: readonly string[];
  }[];
};

export type ScoreTerm = { readonly name: string; readonly value: number };

export type MessageFate = 'kept' | 'survives' | 'goes';

export type ScoreRow = {
  /** From 0, by position in its conversation. */
  readonly index: Count;
  readonly id: string;
  readonly role: string;
  readonly score: number;
  /** Their values sum to the score. */
  readonly terms: readonly ScoreTerm[];
  readonly fate: MessageFate;
  /** A person states a standing rule in it. */
  readonly hasRule?: true;
  /** Line in the file, from 1. */
  readonly line: Ordinal;
  readonly conversation: string;
};

export type ScoreReport = {
  readonly schema: 'compact/score@1';
  readonly file: string;
  readonly format: string;
  readonly messages: readonly ScoreRow[];
};

export type RestoreReport = {
  readonly schema: 'compact/restore@1';
  readonly file: string;
  readonly output: string;
  readonly cycles: Count;
  readonly bytes: Count;
  readonly sha256: Sha256;
  /** Bytes that were appended since the compaction and carried along. */
  readonly appendedBytes: Count;
  /** Sentences for people; only where there are some. */
  readonly notes?: readonly string[];
  /** All were undone, and what came out begins with a summary that another program wrote. */
  readonly isStillCompacted?: true;
};

export type VerifyProblem = {
  readonly kind:
    | 'changed-line'
    | 'missing-batch'
    | 'changed-batch'
    | 'hole'
    | 'parted-group'
    | 'damaged-archive'
    | 'wrong-count'
    | 'wrong-hash'
    | 'broken-chain';
  /** Line of the compacted file, from 1, where one is to blame. */
  readonly line?: Ordinal;
  readonly message: string;
};

export type VerifyReport = {
  readonly schema: 'compact/verify@1';
  readonly file: string;
  readonly format: string;
  readonly result: 'verified' | 'failed';
  readonly cycles: Count;
  readonly lines: { readonly kept: Count; readonly archived: Count; readonly appended: Count };
  readonly batches: Count;
  readonly original: { readonly sha256: Sha256; readonly bytes: Count };
  readonly archive: string;
  readonly problems: readonly VerifyProblem[];
  /** What is proven to be restorable is compacted still: the producer wrote it anew after an earlier compaction. */
  readonly isStillCompacted?: boolean;
};
