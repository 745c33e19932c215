import type { SummaryLevel } from '../../core/batch.ts';
import type { ModelRequest } from '../../core/model-request.ts';
import type { ArchiveFailure, StoredRun, StoredRunFile, Caller } from '../../ports/archive.ts';
import type { FileFailure } from '../../ports/files.ts';
import type { PricedUsage } from '../summarize/usage.ts';
import type { Failure } from './failure.ts';
import type { Count, IsoTime, Ordinal, Sha256 } from '../../core/units.ts';
import type { CaptureChange } from '../../ports/captures.ts';

// The plain data that use cases return: safe for JSON, printed unchanged by `--json`, and rendered for people by cli/render. Their JSON
// Schemas are generated from these types and their comments.

export type BatchReport = {
  readonly label: string;
  readonly depth: Count;
  /** ISO times; null if the transcript has none. */
  readonly start: IsoTime | null;
  readonly end: IsoTime | null;
  readonly count: Count;
  /** How it was made, unless it was the model's first answer. */
  readonly level?: Exclude<SummaryLevel, 'plain'>;
};

export type BeforeAfter = { readonly before: Count; readonly after: Count };

export type ConversationReport = {
  readonly id: string;
  readonly cycles: Count;
  readonly messages: BeforeAfter;
  readonly tokens: BeforeAfter & { readonly by: string };
  /** The live batches in the clip-archive, oldest first. */
  readonly batches: readonly BatchReport[];
};

/** Lines of the input; each is counted once. */
export type Ledger = {
  readonly kept: Count;
  readonly summarized: Count;
  /** The summary holds the message word for word, because `--target` has room for it. */
  readonly quoted: Count;
  /** Records that are not part of what was said. */
  readonly other: Count;
  readonly total: Count;
};

export type SkipReason =
  | 'too-short'
  | 'under-limit'
  | 'nothing-gained'
  | 'nothing-new'
  | 'no-legal-cut'
  /** It would save less than --min-saving. */
  | 'little-gained'
  /** This archive does not know an earlier compaction of it. */
  | 'archive-missing'
  /** Another program has it open for writing, or another run of compact is working on it. */
  | 'in-use';

/** One line of `compact --json` for each transcript that did not fail. */
export type CompactReport = {
  readonly schema: 'compact/report@1';
  readonly file: string;
  /** As its producer's list shows it, or else the first line of the first request; absent: it has neither. */
  readonly title?: string;
  readonly format: string;
  readonly result: 'compacted' | 'planned' | 'skipped';
  readonly reason?: SkipReason;
  /** Sentences for people: details of the reason, or remarks (target missed, last turn kept). */
  readonly notes: readonly string[];
  /** Null: nothing was written; '-': standard output. */
  readonly output: string | null;
  readonly sha256: { readonly before: Sha256; readonly after: Sha256 | null };
  readonly bytes: { readonly before: Count; readonly after: Count | null };
  readonly conversations: readonly ConversationReport[];
  readonly ledger: Ledger;
  /** Path of the archive; null if nothing was stored. */
  readonly archive: string | null;
  /** The ids of the messages that are pinned, if any are: they stay word for word. */
  readonly pinned?: readonly string[];
  /** By how many bytes the archive grew; absent if nothing was stored. */
  readonly archiveBytes?: Count;
  /**
   * By how many bytes the disk became emptier, in whole blocks, net of the archive; negative: fuller. An estimate for a dry run, as if it
   * were in place. Absent if nothing was stored.
   * @asType integer
   */
  readonly netBytes?: number;
  /** For a dry run: the requests that would be made. */
  readonly plan?: PlanReport;
  /** For a preview: the clip-archives as they would be written. */
  readonly preview?: readonly { readonly conversation: string; readonly text: string }[];
  readonly usage?: UsageReport;
  /** What the summaries kept of the salient facts, if that was checked. */
  readonly retention?: RetentionReport;
};

/** The line of a transcript that could not be compacted and is unchanged. A named file that does not exist gets one too. */
export type FailedReport = Pick<CompactReport, 'schema' | 'file'> & {
  readonly result: 'failed';
  readonly error: {
    readonly kind: FailureKind;
    /** For people: what, where, and what to try. */
    readonly message: string;
  };
  /** What was spent without a result, if a model was called. */
  readonly usage?: UsageReport;
};

/** The line of a file that was left alone: it is too recent, or it is no readable conversation and was not named itself. */
export type SkippedFileReport = Pick<CompactReport, 'schema' | 'file' | 'notes'> & {
  readonly result: 'skipped';
  readonly reason:
    | 'no-messages'
    | 'no-text'
    | 'not-a-transcript'
    | 'unknown-format'
    | 'mixed-formats'
    | 'bad-line'
    /** Its last message is not older than --older-than. */
    | 'too-recent';
};

/** For scripts. 'bug': an unexpected error. */
export type FailureKind =
  | Exclude<Failure['kind'], 'file' | 'archive' | 'interrupted'>
  | FileFailure['kind']
  | `archive-${ArchiveFailure['kind']}`
  | 'no-match'
  /** It cannot be read, or it is from a newer version. */
  | 'bad-job'
  | 'bug';

export type PlanReport = {
  /** Estimate: the size of the result. */
  readonly bytesAfter: Count;
  /** Estimate: by how many bytes the archive would grow. */
  readonly archiveBytes: Count;
  readonly chunks: Count;
  readonly requests: Count;
  /** Estimates: one attempt for each request, and every summary at its maximum length. */
  readonly tokensIn: Count;
  readonly tokensOut: Count;
  /**
   * Estimate, in the currency of the configured price, else at the list price in US dollars; null: neither is known.
   * @minimum 0
   */
  readonly cost: number | null;
  /** The day of the list, if the cost is at list price. */
  readonly listedOn?: string;
  /** The requests that would be sent to a model, chunk by chunk. */
  readonly asked?: readonly (PlannedRequest & { readonly conversation: string })[];
};

/** The request of a chunk, as far as it is known before earlier chunks are summarized. */
export type PlannedRequest = {
  readonly messages: Count;
  /** Estimate: counts a previous summary at its maximum length. */
  readonly tokensIn: Count;
  /** Complete for the first chunk; null for the others, which need the summary before them. */
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
    /** As they are written in the messages. */
    readonly lost: readonly string[];
  }[];
};

export type ScoreTerm = { readonly name: string; readonly value: number };

export type MessageOutcome = 'kept' | 'quoted' | 'summarized';

/**
 * Why a message has its outcome. unchanged: nothing is compacted. instruction: a system message. recent: part of the end that stays.
 * latest-request: the last request before the recent part. target, below-target: with a target, its importance decided. older: without a
 * target, everything before the recent part goes.
 */
export type OutcomeReason =
  | 'unchanged'
  | 'instruction'
  | 'recent'
  | 'latest-request'
  | 'target'
  | 'below-target'
  | 'older';

export type ScoreRow = {
  /** From 0, by position in its conversation. */
  readonly index: Count;
  readonly id: string;
  readonly role: string;
  /** Estimate. */
  readonly tokens: Count;
  readonly score: number;
  /** The values add up to the score; in JSON both are rounded to four digits. */
  readonly terms: readonly ScoreTerm[];
  /** The highest score in its group: a call and its results stay or go together. Absent if it is the message's own. */
  readonly groupScore?: number;
  readonly outcome: MessageOutcome;
  readonly because: OutcomeReason;
  /** The first 60 characters, with --explain and --message. */
  readonly excerpt?: string;
  /** The message states a standing rule. */
  readonly hasRule?: true;
  /** Line in the file, from 1. */
  readonly line: Ordinal;
  readonly conversation: string;
};

export type ScoreReport = {
  readonly schema: 'compact/score@1';
  readonly file: string;
  readonly format: string;
  /** Nothing was said since it was compacted, so the same settings would remove nothing now. */
  readonly isAsCompacted?: true;
  /** Why files of this format are never compacted: a clause. Then every message is kept. */
  readonly whyReadOnly?: string;
  readonly messages: readonly ScoreRow[];
};

export type RestoreReport = {
  readonly schema: 'compact/restore@1';
  readonly file: string;
  /** partial: lines that were erased from the archive are missing, or `notes` say what its program changed. */
  readonly result: 'restored' | 'partial';
  readonly output: string;
  readonly cycles: Count;
  /** Of the whole output, with what was appended since the compaction. */
  readonly bytes: Count;
  readonly sha256: Sha256;
  /** What the file was before the compaction. */
  readonly original: { readonly sha256: Sha256; readonly bytes: Count };
  /** Bytes that were appended since the compaction, and are part of the output. */
  readonly appendedBytes: Count;
  /** The missing lines of a partial restore. */
  readonly erased?: { readonly lines: Count; readonly receipt: string; readonly at: IsoTime };
  /** Sentences for people, if there are any. */
  readonly notes?: readonly string[];
  /** Every compaction was undone, and the result still begins with a summary that another program wrote. */
  readonly isStillCompacted?: true;
};

/** A file that could not be restored and is unchanged. */
export type FailedRestoreReport = Pick<RestoreReport, 'schema' | 'file'> & Pick<FailedReport, 'result' | 'error'>;

/** A file that a folder, a pattern or a list named, and that was not compacted. */
export type SkippedRestoreReport = Pick<RestoreReport, 'schema' | 'file'> & {
  readonly result: 'skipped';
  readonly reason: 'not-compacted' | SkippedFileReport['reason'];
  /** For people. */
  readonly notes: readonly string[];
};

/** What `compact report` wrote, and what its page says. */
export type PageReport = {
  readonly schema: 'compact/page@1';
  readonly file: string;
  readonly output: string;
  readonly bytes: Count;
  readonly messages: Count;
  /** unproven: the original could not be read from the archive, so the page shows only the file. */
  readonly result: VerifyReport['result'] | 'unproven' | 'planned';
};

export type VerifyProblem = {
  readonly kind:
    | 'changed-line'
    | 'changed-message'
    | 'missing-batch'
    | 'changed-batch'
    | 'hole'
    | 'erased'
    | 'parted-group'
    | 'damaged-archive'
    | 'wrong-count'
    | 'wrong-hash'
    | 'broken-chain';
  /** Line of the compacted file, from 1, if one line is at fault. */
  readonly line?: Ordinal;
  readonly message: string;
};

export type VerifyReport = {
  readonly schema: 'compact/verify@1';
  readonly file: string;
  readonly format: string;
  /** reduced: proven, but for what was erased or pruned. */
  readonly result: 'verified' | 'reduced' | 'failed';
  /** What was erased or pruned, if anything was: archived lines, by receipt. Without lines it was only a summary. */
  readonly erased?: readonly { readonly receipt: string; readonly at: IsoTime; readonly lines: Count }[];
  readonly cycles: Count;
  readonly lines: { readonly kept: Count; readonly archived: Count; readonly appended: Count };
  readonly batches: Count;
  readonly original: { readonly sha256: Sha256; readonly bytes: Count };
  readonly archive: string;
  readonly problems: readonly VerifyProblem[];
  /** Its program has written the document anew since a compaction, so the original comes back in the program's own form. */
  readonly isRewritten?: true;
  /** The original that can be restored is itself compacted: the producer rewrote the file after an earlier compaction. */
  readonly isStillCompacted?: boolean;
};

/** The line of a file that `compact capture` looked at. */
export type CaptureReport = {
  readonly schema: 'compact/capture@1';
  readonly file: string;
  readonly format: string | null;
  /**
   * planned: a dry run would have stored it. gone: the file was captured and does not exist any more. removed: it was captured, proven and
   * removed by this run. left: it was to be removed and is not.
   */
  readonly result: 'captured' | 'unchanged' | 'planned' | 'gone' | 'removed' | 'left';
  /** Why it was left: too young, open or just changed, under a hold, or written to by another program at the last moment. */
  readonly reason?: 'too-recent' | 'in-use' | 'held' | 'changed';
  /** What happened to the file since it was last captured; damaged: to what the archive has of it. Null: nothing. */
  readonly change: CaptureChange | 'grown' | 'damaged' | null;
  /** The version that holds it; null: none yet. */
  readonly version: Ordinal | null;
  /** `new`: bytes that the archive did not have; `stored`: what they take there. Null: nothing was stored. */
  readonly bytes: { readonly size: Count; readonly new: Count | null; readonly stored: Count | null };
  readonly sha256: Sha256 | null;
  /**
   * By how many bytes the disk becomes emptier, in whole blocks, net of the archive; negative: fuller. An estimate in a dry run.
   * @asType integer
   */
  readonly netBytes: number;
};

export type FailedCaptureReport = Pick<CaptureReport, 'schema' | 'file'> & Pick<FailedReport, 'result' | 'error'>;

/** A file that a folder, a pattern or a list named, and that is no transcript. */
export type SkippedCaptureReport = Pick<CaptureReport, 'schema' | 'file'> &
  Pick<SkippedFileReport, 'result' | 'reason' | 'notes'>;

/** A file of `compact capture --list`. */
export type CapturedFileReport = {
  readonly schema: 'compact/captured@1';
  readonly file: string;
  readonly format: string;
  /** The ids of the conversations that its records carry. */
  readonly sessions: readonly string[];
  readonly versions: readonly {
    readonly version: Ordinal;
    readonly change: CaptureChange;
    /** When its first and its last state were captured. */
    readonly first: IsoTime | null;
    readonly last: IsoTime | null;
    readonly states: Count;
    /** Of the last state. */
    readonly bytes: Count;
    readonly sha256: Sha256;
  }[];
};

/** What `compact restore --captured` wrote. */
export type RestoreCapturedReport = {
  readonly schema: 'compact/restore-captured@1';
  readonly file: string;
  readonly output: string;
  readonly version: Ordinal;
  readonly captured: IsoTime | null;
  readonly bytes: Count;
  readonly sha256: Sha256;
};

/** What `compact undo --list --json` and `compact archive runs --json` print for each run. */
export type RunReport = {
  readonly schema: 'compact/undo-list@1';
  readonly run: Ordinal;
  /** As `--log json` names the run. */
  readonly token: string;
  readonly at: IsoTime;
  readonly by: Caller;
  /** Without secrets; null: another program called this one. */
  readonly command: string | null;
  /** Null: it was not undone. Files that had to be left alone may remain. */
  readonly undoneAt: IsoTime | null;
  readonly files: readonly {
    /** Absolute path of the transcript. */
    readonly file: string;
    /** As `scan` shows it; null: unknown. */
    readonly title: string | null;
    /** The path that was written; null: standard output. */
    readonly output: string | null;
    readonly bytes: { readonly before: Count; readonly after: Count };
    readonly isUndone: boolean;
  }[];
};

type FileOfRun = {
  readonly schema: 'compact/undo@1';
  readonly run: Ordinal;
  readonly file: string;
  /** The path that the run wrote; null: standard output. */
  readonly output: string | null;
};

/** restored: the file is its original again. removed: the file beside the original is gone. unchanged: there was nothing to do. */
export type UndoneFile =
  | { readonly result: 'restored'; readonly bytes: number; readonly appendedBytes: number }
  | { readonly result: 'removed'; readonly bytes: number }
  | { readonly result: 'unchanged'; readonly reason: 'as-before' | 'gone' | 'standard-output' };

/** What `compact undo --json` prints for each file. left: it was not touched. */
export type UndoReport =
  | (FileOfRun & UndoneFile & { readonly isDryRun?: boolean })
  | (FileOfRun & { readonly result: 'left'; readonly error: FailedReport['error'] });

export function reportRun({ id, token, begunAt, by, command, undoneAt, files }: StoredRun): RunReport {
  return {
    schema: 'compact/undo-list@1',
    run: id,
    token,
    at: begunAt.toISOString(),
    by,
    command,
    undoneAt: undoneAt?.toISOString() ?? null,
    files: files.map(({ sourcePath, outputPath, title, sizeBytes, undoneAt: at }) => ({
      file: sourcePath,
      title,
      output: outputPath,
      bytes: sizeBytes,
      isUndone: at !== null,
    })),
  };
}

export function reportUndone<T>(
  { id }: StoredRun,
  { sourcePath, outputPath }: StoredRunFile,
  outcome: T,
): FileOfRun & T {
  return { schema: 'compact/undo@1', run: id, file: sourcePath, output: outputPath, ...outcome };
}
