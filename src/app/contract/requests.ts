import type { Role } from '../../core/message.ts';
import type { TranscriptPolicy } from '../../core/policy.ts';
import type { Summarizer } from './deps.ts';

/** Per million tokens, in any currency. */
type Price = { readonly input: number; readonly output: number };

/** Where a result goes. A default output is not made when there is nothing to do; an explicit one then gets the input's bytes. */
export type OutputTarget =
  | { readonly kind: 'default'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'in-place' }
  | { readonly kind: 'stdout' }
  /** Summaries are made and shown, and nothing is written but what was paid for. */
  | { readonly kind: 'preview' }
  /** A dry run. */
  | { readonly kind: 'none' };

/** A transcript to read: `path` is opened, `name` is what messages and reports call it (they differ for standard input). */
export type TranscriptInput = {
  readonly path: string;
  readonly name: string;
  /** As `--format` names it; null: detect. */
  readonly format: string | null;
  /** The file that was checked before: another one that stands there by now is not read. Undefined: whatever stands there. */
  readonly identity?: { readonly device: bigint; readonly inode: bigint };
};

export type CompactFileRequest = {
  readonly input: TranscriptInput;
  readonly output: OutputTarget;
  readonly policy: TranscriptPolicy;
  readonly summarizer: Summarizer;
  /** Of the model, for messages and the settings' hash: 'extractive', … */
  readonly provider: string;
  readonly modelName: string;
  /** Of the model, per million tokens; by default it has none. */
  readonly price?: Price;
};

export type ScoreFileRequest = { readonly input: TranscriptInput; readonly policy: TranscriptPolicy };

export type RestoreFileRequest = {
  readonly input: TranscriptInput;
  readonly output:
    | { readonly kind: 'stdout' }
    | { readonly kind: 'in-place' }
    | { readonly kind: 'file'; readonly path: string };
  /** Back to the first cycle instead of one. */
  readonly all: boolean;
};

export type VerifyFileRequest = { readonly input: TranscriptInput };

export type SearchRequest = {
  /** Any text. */
  readonly query: string;
  readonly kinds: 'all' | 'messages' | 'batches';
  readonly order: 'best' | 'newest';
  readonly limit: number;
  /** Null: any. */
  readonly conversation: string | null;
  /** Only messages have one. */
  readonly role: Role | null;
  /** From then on, and until before then. */
  readonly since: Date | null;
  readonly until: Date | null;
  /** The transcript: its path, or the end of one. */
  readonly source: string | null;
  /** Queries that are known to follow: what has to be asked for all is asked at once. */
  readonly upcoming?: readonly string[];
};

/** A label, the beginning of one, `batch:N`, `message:N`, a message's own id, or the key in a clip-archive's last line. */
export type ShowRequest = { readonly name: string };
