import { err, ok, type Result } from '../../core/result.ts';
import type { Progress } from '../../ports/runtime.ts';
import type { ArchiveFailure } from '../../ports/archive.ts';
import type { FileFailure, FileWriter } from '../../ports/files.ts';
import type { ErasureMark } from '../../ports/retention.ts';
import type { PricedUsage } from '../summarize/usage.ts';
import { isInterrupted } from './deps.ts';

/** Formats that almost matched, and why they did not. */
type NearFormats = readonly { readonly format: string; readonly reason: string }[];

/** Why a transcript could not be compacted, scored, restored or verified, with everything that the message for people needs. */
export type Failure =
  | { readonly kind: 'file'; readonly failure: FileFailure }
  /** `replaced`: the file that had been replaced by then. */
  | { readonly kind: 'archive'; readonly failure: ArchiveFailure; readonly replaced?: string }
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
      /** The file is empty. */
      readonly isEmpty?: boolean;
      /** Formats whose files look like this, and why they did not match. */
      readonly near?: NearFormats;
    }
  /** `looksLike`: a known format that we do not read, as a noun phrase; null: unknown. */
  | {
      readonly kind: 'unknown-format';
      readonly file: string;
      readonly looksLike: string | null;
      readonly near: NearFormats;
    }
  /** At this line a file of one format continues in another. */
  | {
      readonly kind: 'mixed-formats';
      readonly file: string;
      readonly line: number;
      readonly format: string;
      readonly other: string;
    }
  | { readonly kind: 'no-messages'; readonly file: string; readonly contains: string }
  /** The file is not one session. */
  | { readonly kind: 'several-conversations'; readonly file: string; readonly count: number }
  /** Files of this format are not compacted. `reason` is a clause. */
  | { readonly kind: 'read-only-format'; readonly file: string; readonly title: string; readonly reason: string }
  /** The transcript's last message is not old enough for this run, so it was left alone. */
  | { readonly kind: 'too-recent'; readonly file: string }
  /** There are messages, but none has readable text: only images, or nothing. */
  | { readonly kind: 'no-text'; readonly file: string; readonly messages: number }
  /** A message cannot be pinned, or be so no longer: `problem` says what about its name, as the rest of a sentence. */
  | { readonly kind: 'no-message'; readonly file: string; readonly name: string; readonly problem: string }
  | { readonly kind: 'output-exists'; readonly file: string; readonly output: string }
  | { readonly kind: 'source-changed'; readonly file: string }
  /** The result is a zip file, which is never printed. */
  | { readonly kind: 'zip-on-stdout'; readonly file: string }
  /** Another program has it open; unknown: the search for one took too long. */
  | { readonly kind: 'in-use'; readonly file: string; readonly user: FileWriter | 'unknown' }
  | { readonly kind: 'not-compacted'; readonly file: string }
  /**
   * What a run wrote cannot be undone, now or ever. no-folder: the folder of the file is not there. gone: the file is not there. edited: it was
   * changed in other places than at its end; `problem` says where. compacted-again: by a later run. other-output: the file beside the original
   * is no longer what was written. only-copy: its original is gone or was changed.
   */
  | {
      readonly kind: 'cannot-undo';
      readonly file: string;
      readonly why: 'no-folder' | 'gone' | 'edited' | 'compacted-again' | 'other-output' | 'only-copy';
      readonly problem?: string;
      /** The path of the original. */
      readonly original: string;
    }
  /** `isNone`: there is no archive at this path. `canUndoLast`: only an earlier compaction of the file is missing from it. */
  | {
      readonly kind: 'not-in-archive';
      readonly file: string;
      readonly archive: string;
      readonly isNone?: boolean;
      readonly canUndoLast?: true;
    }
  /**
   * The producer rewrote the file after a compaction; `key` leads to the archived lines. `canUndoLast`: the state before the last compaction
   * can be restored.
   */
  | {
      readonly kind: 'rewritten';
      readonly file: string;
      readonly archive: string;
      readonly key: string;
      readonly canUndoLast: boolean;
    }
  /** Archived lines of it were erased on purpose. */
  | ({ readonly kind: 'erased'; readonly file: string } & ErasureMark)
  /** compact wrote a transcript to this path, and it holds something else. `at`: when, in ISO 8601. */
  | { readonly kind: 'overwritten'; readonly file: string; readonly at: string; readonly looksLike: string }
  /** The compacted file differs from what was written. */
  | { readonly kind: 'altered'; readonly file: string; readonly line: number | null; readonly problem: string }
  | {
      readonly kind: 'no-summary';
      readonly file: string;
      readonly problem: string;
      readonly advice: string;
      readonly usage?: PricedUsage;
    }
  /** The next call could cost so much that the run would cost more than it may. The run ends. */
  | {
      readonly kind: 'cost-limit';
      readonly limit: number;
      readonly spent: number;
      readonly next: number;
      readonly usage?: PricedUsage;
    }
  /** The provider's batch API cannot be used. `problem` is a clause. */
  | { readonly kind: 'no-batch-api'; readonly provider: string; readonly problem: string }
  /** The summaries keep too few of the important facts. */
  | {
      readonly kind: 'low-retention';
      readonly file: string;
      readonly kept: number;
      readonly total: number;
      readonly wanted: number;
      readonly lost: readonly string[];
      readonly usage?: PricedUsage;
    }
  /** The thread that worked on the file ended before it was done; `reason` is a clause: "it ran out of memory". */
  | { readonly kind: 'worker-died'; readonly file: string; readonly reason: string }
  | { readonly kind: 'interrupted' };

/** Why something in the archive could not be found by its name. */
export type LookupFailure =
  | Failure
  /** No file of this name was captured. */
  | { readonly kind: 'not-captured'; readonly file: string; readonly archive: string }
  /** The file has no such version. */
  | { readonly kind: 'no-version'; readonly file: string }
  /** What the file holds now was not captured, or that capture is damaged, so it must not be replaced. */
  | { readonly kind: 'uncaptured'; readonly file: string; readonly isDamaged: boolean }
  /** Nothing in the archive has this name; `near` are labels that begin like it. */
  | { readonly kind: 'not-archived'; readonly name: string; readonly near: readonly string[]; readonly archive: string }
  /** Several things in the archive have this name, or one that begins with it. */
  | {
      readonly kind: 'ambiguous';
      readonly name: string;
      readonly candidates: readonly { readonly name: string; readonly about: string }[];
      readonly hasMore: boolean;
    };

/** The model gave no summary; what it has answered before is remembered. `problem` is a clause. */
export function noSummary(file: string, problem: string): Failure {
  const advice = 'Once that is solved, another run asks only for what is missing. You can also use another provider.';
  return { kind: 'no-summary', file, problem, advice };
}

/**
 * Runs a use case. `stop`, the archive and the reading of files throw errors that carry a failure as data; here, and only here, they become a
 * result.
 * `file` is the name for messages.
 */
export async function attempt<T, E = never>(
  { file, progress }: { file: string; progress?: Pick<Progress, 'finish'> },
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

/** Ends a use case. `attempt` makes a result of it. */
export function stop(failure: Failure): never {
  throw Object.assign(new Error(`stopped: ${failure.kind}`), { stopped: failure });
}

/** Ends a use case whose run was interrupted. */
export async function stopIfInterrupted(deps: Parameters<typeof isInterrupted>[0]): Promise<void> {
  if (await isInterrupted(deps)) stop({ kind: 'interrupted' });
}

/** The failure that `stop` was given; null: another error. */
export function stoppedBy(error: unknown): Failure | null {
  return carries<Failure>(error, 'stopped') ? error.stopped : null;
}

/** The value of a result. A failure ends the use case. */
export function must<T>(result: Result<T, Failure>): T {
  return result.ok ? result.value : stop(result.error);
}

/** The same for a result of the file system. */
export function mustFile<T>(result: Result<T, FileFailure>): T {
  return result.ok ? result.value : stop({ kind: 'file', failure: result.error });
}

/** The value of a step, or the failure that it stopped with, for a caller that can go on without it. */
export async function attemptStep<T>(step: () => Promise<T>): Promise<Result<T, Failure>> {
  try {
    return ok(await step());
  } catch (error) {
    const failure = stoppedBy(error);
    if (failure === null) throw error;
    return err(failure);
  }
}

/** How often a source that changes during the run is read again. */
const MAX_ATTEMPTS = 3;

/** Does the work again where the source changed meanwhile. */
export async function againWhileChanging<T>(work: () => Promise<Result<T, Failure>>): Promise<Result<T, Failure>> {
  for (let tries = 1; ; tries += 1) {
    const done = await work();
    if (done.ok || done.error.kind !== 'source-changed' || tries === MAX_ATTEMPTS) return done;
  }
}

/** The same for a caller that handles a damaged archive; all other errors are rethrown. */
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
function toFailure(error: unknown, file: string): Failure {
  const stopped = stoppedBy(error);
  if (stopped !== null) return stopped;
  if (carries<number>(error, 'changedLine')) return { kind: 'source-changed', file };
  const archive = carriedFailure(error);
  if (archive !== null) return { kind: 'archive', failure: archive };
  if (carries<FileFailure>(error, 'fileFailure'))
    return { kind: 'file', failure: { ...error.fileFailure, path: file } };
  throw error;
}

/** An error for a line that was cut or written anew after it was indexed. */
export function sourceChanged(line: number): Error {
  return Object.assign(new Error(`line ${line} could not be read a second time`), { changedLine: line });
}

type Unnamed<T> = T extends unknown ? Omit<T, 'path'> : never;

/** An error for a file whose content is refused. `attempt` names it. */
export function fileRefused(fileFailure: Unnamed<FileFailure>): Error {
  return Object.assign(new Error(`the file is refused: ${fileFailure.kind}`), { fileFailure });
}

/** The failure that an archive's error carries; null: the error is not the archive's. */
export function carriedFailure(error: unknown): ArchiveFailure | null {
  return carries<ArchiveFailure>(error, 'failure') ? error.failure : null;
}

type Carried<T> = {
  readonly stopped: T;
  readonly failure: T;
  readonly fileFailure: T;
  readonly changedLine: T;
};

function carries<T>(error: unknown, key: keyof Carried<T>): error is Carried<T> {
  return typeof error === 'object' && error !== null && key in error;
}
