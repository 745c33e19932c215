import type { SummaryLevel } from '../../core/batch.ts';
import type { ModelRequest } from '../../core/model-request.ts';
import type { ArchiveFailure } from '../../ports/archive.ts';
import type { FileFailure } from '../../ports/files.ts';
import type { PricedUsage } from '../summarize/usage.ts';
import type { Failure } from './failure.ts';

/** The plain data that use cases return: JSON-safe, printed as it is by `--json`, rendered for people by cli/render. */

export type BatchReport = {
  readonly label: string;
  readonly depth: number;
  /** ISO times; null where the transcript has none. */
  readonly start: string | null;
  readonly end: string | null;
  readonly count: number;
  /** How it came about, where it was not by the model's first answer. */
  readonly level?: Exclude<SummaryLevel, 'plain'>;
};

export type BeforeAfter = { readonly before: number; readonly after: number };

export type ConversationReport = {
  readonly id: string;
  readonly cycles: number;
  readonly messages: BeforeAfter;
  readonly tokens: BeforeAfter & { readonly by: string };
  /** The live batches that the clip-archive speaks of, oldest first. */
  readonly batches: readonly BatchReport[];
};

/** Lines of the input: each is exactly one of the three. */
export type Ledger = {
  readonly kept: number;
  readonly summarized: number;
  readonly other: number;
  readonly total: number;
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
  readonly sha256: { readonly before: string; readonly after: string | null };
  readonly bytes: { readonly before: number; readonly after: number | null };
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
export type PassedReport = Pick<CompactReport, 'schema' | 'file' | 'notes'> & {
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
  readonly chunks: number;
  readonly requests: number;
  /** Estimates: each request made once, and every summary as long as it may be. */
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** Estimate, in the currency of the configured prices; null: the model has none. */
  readonly cost: number | null;
  /** What would be asked of a model, chunk after chunk. */
  readonly asked?: readonly (PlannedRequest & { readonly conversation: string })[];
};

/** The request of a chunk, as far as it is known before the chunks before it are summarized. */
export type PlannedRequest = {
  readonly messages: number;
  /** Estimate: a previous summary is counted as long as it may be. */
  readonly tokensIn: number;
  /** Whole for the first chunk; the others wait for the summary before them. */
  readonly request: Omit<ModelRequest, 'source' | 'timeout'> | null;
};

export type UsageReport = PricedUsage;

/** Facts that summaries keep: paths, ids, URLs, error lines, versions, quantities, the user's demands. */
export type RetentionReport = {
  readonly kept: number;
  readonly total: number;
  readonly batches: readonly {
    readonly label: string;
    readonly kept: number;
    readonly total: number;
    /** As they stand in the messages. */
    readonly lost: readonly string[];
  }[];
};

export type ScoreTerm = { readonly name: string; readonly value: number };

export type MessageFate = 'kept' | 'survives' | 'goes';

export type ScoreRow = {
  /** From 0, by position in its conversation. */
  readonly index: number;
  readonly id: string;
  readonly role: string;
  readonly score: number;
  /** Their values sum to the score. */
  readonly terms: readonly ScoreTerm[];
  readonly fate: MessageFate;
  /** A person states a standing rule in it. */
  readonly hasRule?: true;
  /** Line in the file, from 1. */
  readonly line: number;
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
  readonly cycles: number;
  readonly bytes: number;
  readonly sha256: string;
  /** Bytes that were appended since the compaction and carried along. */
  readonly appendedBytes: number;
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
  readonly line?: number;
  readonly message: string;
};

export type VerifyReport = {
  readonly schema: 'compact/verify@1';
  readonly file: string;
  readonly format: string;
  readonly result: 'verified' | 'failed';
  readonly cycles: number;
  readonly lines: { readonly kept: number; readonly archived: number; readonly appended: number };
  readonly batches: number;
  readonly original: { readonly sha256: string; readonly bytes: number };
  readonly archive: string;
  readonly problems: readonly VerifyProblem[];
  /** What is proven to be restorable is compacted still: the producer wrote it anew after an earlier compaction. */
  readonly isStillCompacted?: boolean;
};
