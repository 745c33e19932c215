import { err, ok, type Result } from '../../core/result.ts';
import type { Progress } from '../../ports/runtime.ts';
import type { ArchiveFailure } from '../../ports/archive.ts';
import type { FileFailure } from '../../ports/files.ts';
import type { PricedUsage } from '../summarize/usage.ts';

/** Formats that a file is not of, and why. */
type NearFormats = readonly { readonly format: string; readonly reason: string }[];

/** Why a transcript could not be compacted, scored, restored or verified: what a message to the user is composed from. */
export type Failure =
  | { readonly kind: 'file'; readonly failure: FileFailure }
  | { readonly kind: 'archive'; readonly failure: ArchiveFailure }
  /** `column` from 1, in characters. */
  | {
      readonly kind: 'bad-line';
      readonly file: string;
      readonly line: number;
      readonly column: number;
      readonly problem: string;
      readonly canCarry: boolean;
    }
  /** What the file looks like instead, as a noun phrase: "one JSON document", "UTF-16 text", "binary data", "an empty file". */
  | {
      readonly kind: 'not-a-transcript';
      readonly file: string;
      readonly looksLike: string;
      readonly advice: string;
      /** There is nothing in it at all. */
      readonly isEmpty?: boolean;
      /** Formats whose files are such a document, and why it is not theirs. */
      readonly near?: NearFormats;
    }
  /** `looksLike`: a format that is known and not read, as a noun phrase; null: nothing that is known. */
  | {
      readonly kind: 'unknown-format';
      readonly file: string;
      readonly looksLike: string | null;
      readonly near: NearFormats;
    }
  /** At this line a file of one format goes on in another. */
  | {
      readonly kind: 'mixed-formats';
      readonly file: string;
      readonly line: number;
      readonly format: string;
      readonly other: string;
    }
  | { readonly kind: 'no-messages'; readonly file: string; readonly contains: string }
  /** There are messages, and none has text that can be read: only pictures, or nothing. */
  | { readonly kind: 'no-text'; readonly file: string; readonly messages: number }
  | { readonly kind: 'output-exists'; readonly file: string; readonly output: string }
  | { readonly kind: 'source-changed'; readonly file: string }
  /** A program has it open for writing. */
  | { readonly kind: 'in-use'; readonly file: string; readonly processId: number; readonly name: string }
  | { readonly kind: 'not-compacted'; readonly file: string }
  /** `canUndoLast`: it is an earlier compaction of the file that the archive does not have. */
  | { readonly kind: 'not-in-archive'; readonly file: string; readonly archive: string; readonly canUndoLast?: true }
  /** Its producer wrote it anew after a compaction; `key` leads to what left it. `canUndoLast`: what it was before the last compaction can be had. */
  | {
      readonly kind: 'written-anew';
      readonly file: string;
      readonly archive: string;
      readonly key: string;
      readonly canUndoLast: boolean;
    }
  /** The compacted file differs from what was written. */
  | { readonly kind: 'altered'; readonly file: string; readonly line: number | null; readonly problem: string }
  | {
      readonly kind: 'no-summary';
      readonly file: string;
      readonly problem: string;
      readonly advice: string;
      readonly usage?: PricedUsage;
    }
  /** The summaries keep too few of the salient facts. */
  | {
      readonly kind: 'low-retention';
      readonly file: string;
      readonly kept: number;
      readonly total: number;
      readonly wanted: number;
      readonly lost: readonly string[];
      readonly usage?: PricedUsage;
    }
  | { readonly kind: 'interrupted' };

/** Why what was asked of an archive by its name could not be had. */
export type LookupFailure =
  | Failure
  /** Nothing in the archive bears this name; `near` are labels that begin like it. */
  | { readonly kind: 'not-archived'; readonly name: string; readonly near: readonly string[]; readonly archive: string }
  /** A name, or the beginning of one, that several things in the archive bear. */
  | {
      readonly kind: 'ambiguous';
      readonly name: string;
      readonly candidates: readonly { readonly name: string; readonly about: string }[];
      readonly hasMore: boolean;
    };

/**
 * Runs a use case. The archive, and reading a file, throw errors that carry a failure as data: here, and only here, they become the result.
 * `file`: the name of the file in messages.
 */
export async function attempt<T, E = never>(
  { file, progress }: { readonly file: string; readonly progress?: Pick<Progress, 'finish'> },
  work: () => Promise<Result<T, E | Failure>>,
): Promise<Result<T, E | Failure>> {
  try {
    return await work();
  } catch (error) {
    return err(toFailure(error, file));
  } finally {
    progress?.finish();
  }
}

/** The same where a damaged archive is one of the answers; every other error is thrown on. */
export async function attemptDamaged<T>(
  work: () => T | Promise<T>,
): Promise<Result<T, Extract<ArchiveFailure, { readonly kind: 'damaged' }>>> {
  try {
    return ok(await work());
  } catch (error) {
    const failure = carriedFailure(error);
    if (failure?.kind !== 'damaged') throw error;
    return err(failure);
  }
}

/** The failure that a port's error carries. Any other error is a bug and is thrown on. */
export function toFailure(error: unknown, file: string): Failure {
  const archive = carriedFailure(error);
  if (archive !== null) return { kind: 'archive', failure: archive };
  if (carries<FileFailure>(error, 'fileFailure'))
    return { kind: 'file', failure: { ...error.fileFailure, path: file } };
  throw error;
}

/** The failure that an archive's error carries; null: the error is not the archive's. */
export function carriedFailure(error: unknown): ArchiveFailure | null {
  return carries<ArchiveFailure>(error, 'failure') ? error.failure : null;
}

function carries<T>(error: unknown, key: 'failure' | 'fileFailure'): error is { failure: T; fileFailure: T } {
  return typeof error === 'object' && error !== null && key in error;
}
