import type { TranscriptPolicy } from '../../core/policy.ts';
import type { SearchFilter } from '../../ports/archive-lookup.ts';
import type { Summarizer } from './deps.ts';
import type { ScoreRow } from './reports.ts';

/** Where a result goes. If there is nothing to do, a default output is not created, and an explicit one gets the input's bytes. */
export type OutputTarget =
  | { readonly kind: 'default'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'in-place' }
  | { readonly kind: 'stdout' }
  /** Summaries are made and shown; nothing is written except the memory of paid summaries. */
  | { readonly kind: 'preview' }
  /** A dry run. */
  | { readonly kind: 'none' };

/** A transcript to read: `path` is opened, `name` is used in messages and reports (they differ for standard input). */
export type TranscriptInput = {
  readonly path: string;
  readonly name: string;
  /** As `--format` names it; null: detect. */
  readonly format: string | null;
  /** What the archive calls it; by default its absolute path. */
  readonly storedAs?: string;
  /** Fail if the path is a link. By default links are followed. */
  readonly refusesLinks?: boolean;
  /** The file that was checked earlier: another file at this path is refused. Undefined: any file. */
  readonly identity?: { readonly device: bigint; readonly inode: bigint };
  /** Read only what was there when it was planned; a file that begins otherwise is refused as changed. Undefined: read all of it. */
  readonly planned?: { readonly sizeBytes: number; readonly sha256: string };
};

export type CompactFileRequest = {
  readonly input: TranscriptInput;
  readonly output: OutputTarget;
  readonly policy: TranscriptPolicy;
  readonly summarizer: Summarizer;
  /** Leave the transcript alone unless its last message was before this. */
  readonly before?: Date | undefined;
  /**
   * How long the file must not have changed where nothing tells whether a program has it open; a session that its own program shows as open is
   * skipped too. Undefined: somebody named the file, so it may be replaced at once.
   */
  readonly minIdleMs?: number | undefined;
  /** It must not have changed for so long wherever the system shows who has it open, too. */
  readonly mustBeIdle?: boolean | undefined;
  /** The model's provider, for messages and the hash of the settings: 'extractive', … */
  readonly provider: string;
  readonly modelName: string;
};

export type ScoreFileRequest = {
  readonly input: TranscriptInput;
  readonly policy: TranscriptPolicy;
  /** Selects the rows that will be shown; only these have terms and are checked for rules. Undefined: all are shown. */
  readonly selectShown?: (rows: readonly ScoreRow[]) => readonly ScoreRow[];
  /** Whether the shown rows get the beginning of their text. */
  readonly hasExcerpts?: boolean;
};

export type RestoreFileRequest = {
  readonly input: TranscriptInput;
  readonly output:
    | { readonly kind: 'stdout' }
    | { readonly kind: 'in-place' }
    | { readonly kind: 'file'; readonly path: string }
    /** Only proves that the original can be restored. */
    | { readonly kind: 'none' };
  /** Undo all compactions instead of the last one. */
  readonly all: boolean;
  /** Restore what is left if archived lines were erased. */
  readonly partial?: boolean;
  /** The compaction to undo: fails if the last one is another. */
  readonly compactionId?: number;
};

export type CaptureFileRequest = {
  readonly input: TranscriptInput;
  /** Nothing is stored. */
  readonly isDryRun: boolean;
  /** Read the file even if its size and times are those of the last capture. */
  readonly rereads: boolean;
  /** Undefined: the file stays. */
  readonly remove?: ColdOnly;
};

/** Which files are removed once they are proven. */
export type ColdOnly = {
  /** The last write, and what is said at its end, was before this; null: any. */
  readonly before: Date | null;
  /** Nothing about the file has changed for so long. */
  readonly minIdleMs: number;
};

export type RestoreCapturedRequest = {
  /** A path, the end of one, or a session's id that a file name contains. */
  readonly file: string;
  /** Null: the last one that has content. */
  readonly version: number | null;
  /** As it was captured at this time, or last before it; null: any time. */
  readonly at: Date | null;
  readonly output: Exclude<RestoreFileRequest['output'], { readonly kind: 'none' }>;
};

export type SearchRequest = Omit<SearchFilter, 'conversationId'> & {
  /** Any text. */
  readonly query: string;
  readonly kinds: 'all' | 'messages' | 'batches';
  readonly order: 'best' | 'newest';
  readonly limit: number;
  /** Null: any. */
  readonly conversation: string | null;
  /** Also find the titles of the hits' sessions. */
  readonly withTitles?: boolean;
  /** The search waits until everything is in the index. */
  readonly isPatient?: boolean;
  /** Queries that will follow: their vectors are requested together. */
  readonly upcoming?: readonly string[];
};

/** A label, the beginning of one, `batch:N`, `message:N`, `captured:N`, a message's own id, or the key in a clip-archive's last line. */
export type ShowRequest = { readonly name: string };
