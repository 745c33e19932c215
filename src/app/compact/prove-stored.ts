import type { Archive, StoredCompaction, StoredLine } from '../../ports/archive.ts';
import type { CompactDeps } from '../contract/deps.ts';
import type { Prepared } from '../read/prepare.ts';
import { unitOf } from '../read/records.ts';
import { provenLines, restoredLines, RestoreError } from '../read/restored-lines.ts';
import { outputBytes } from './compose.ts';
import type { Recipe } from './recipe.ts';

export type StoredProof = {
  readonly transcript: Prepared;
  readonly archive: Archive;
  readonly compaction: StoredCompaction;
  /** How the output is made, as it will be written. */
  readonly recipe: Recipe;
  /** Told of every line that was read back. */
  readonly onArchived?: (line: StoredLine) => void;
};

/**
 * Restores the source from the archive and the output before the output exists, in one pass, and compares it with the hash of what was read.
 * Gives the reason why it cannot be restored; null: every byte of it can. Throws what reading the archive throws.
 */
export function findUnprovable(
  { runtime }: Pick<CompactDeps, 'runtime'>,
  { transcript, archive, compaction, recipe, onArchived }: StoredProof,
): string | null {
  const { codec, scan, source } = transcript;
  const { sha256, lineCount } = compaction.source;
  if (sha256 !== scan.sha256 || lineCount !== scan.lineCount) return 'it is of another source';
  const lines = restoredLines({
    compaction,
    archive,
    runtime,
    output: () => outputBytes(recipe, transcript),
    unit: unitOf(codec),
    ...(onArchived !== undefined && { onArchived }),
  });
  // The facts of what was read, not those of the row.
  const original = { sha256: scan.sha256, sizeBytes: source.sizeBytes, lineCount, hasBom: source.bomLength > 0 };
  try {
    for (const line of provenLines(runtime, lines, original)) void line;
    return null;
  } catch (error) {
    if (error instanceof RestoreError) return error.message;
    throw error;
  }
}
