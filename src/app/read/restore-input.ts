import { ok, err, type Result } from '../../core/result.ts';
import type { Archive, StoredCompaction, StoredLine } from '../../ports/archive.ts';
import type { Codec } from '../../ports/codec.ts';
import type { ErasureMark } from '../../ports/retention.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { Rewrite } from './rewritten-document.ts';

/**
 * The lines of a file with their line endings, in batches, so that they do not wait for each other one by one. Can be iterated more than
 * once. A line's bytes are valid only until the next line is requested.
 */
export type LineStream = () => AsyncIterable<Iterable<Uint8Array>>;

export type RestoreInput = {
  readonly compaction: StoredCompaction;
  readonly archive: Archive;
  readonly runtime: Runtime;
  /** The compacted file with everything appended since. */
  readonly output: LineStream;
  /** The one that the compaction was made with. */
  readonly codec: Codec;
  /** The file is a document that its program wrote anew. By default it holds what the compaction wrote, and what was appended. */
  readonly rewrite?: Rewrite | null;
  /** Called for every line that comes from the archive. */
  readonly onArchived?: (line: StoredLine) => void;
  /** Erased lines come without bytes instead of being a problem; called for each. `output` may have such lines too. */
  readonly onErased?: (mark: ErasureMark) => void;
};

/** Why the original cannot be restored; `line`: the line of the compacted file (from 1) that is the reason, where one is. */
export type RestoreProblem = { readonly message: string; readonly line: number | null } & (
  | { readonly kind: 'changed-line' | 'hole' | 'wrong-hash' }
  | { readonly kind: 'erased'; readonly mark: ErasureMark }
);

/**
 * Ends a stream of restored lines. It is thrown because the code that indexes or writes the stream must not mistake a part for the whole;
 * `attemptRestore` and `findRestoreProblem` turn it into a value.
 */
export class RestoreError extends Error {
  readonly problem: RestoreProblem;

  constructor(problem: RestoreProblem) {
    super(problem.message);
    this.name = 'RestoreError';
    this.problem = problem;
  }
}

/** The result of work on restored lines, or the problem that ended it. */
export async function attemptRestore<T>(work: () => Promise<T>): Promise<Result<T, RestoreProblem>> {
  try {
    return ok(await work());
  } catch (error) {
    if (error instanceof RestoreError) return err(error.problem);
    throw error;
  }
}

/** The erasure that removed a line that was not kept; null: it is there, or missing without a reason. */
export function erasureOf({ status, erased }: StoredCompaction, stored: StoredLine | null): ErasureMark | null {
  return stored === null && status === 'erased' ? erased : (stored?.erased ?? null);
}
