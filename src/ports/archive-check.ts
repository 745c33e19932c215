import type { Count } from '../core/units.ts';
/**
 * What was found wrong. structure: SQLite's own checks of pages and indexes. unreadable: what should be there cannot be read. reference: a row
 * names another that is gone, or that is not its own. block: a block of lines that cannot be unpacked or taken apart. wrong-hash: lines,
 * batches, settings or clip-archives that are not what was stored. hole: source lines in no place, or in two. wrong-count: sizes and counts that do not
 * agree. order: what must have been made before is not older. search: words that would not be found, or that lead to nothing.
 */
export type ArchiveDamageKind =
  | 'structure'
  | 'unreadable'
  | 'reference'
  | 'block'
  | 'wrong-hash'
  | 'hole'
  | 'wrong-count'
  | 'order'
  | 'search';

export type ArchiveDamage = {
  readonly kind: ArchiveDamageKind;
  /** For people; where in the archive, and what. */
  readonly message: string;
  /** The transcripts that it touches: sources and outputs of its compactions, and of later ones that continue them. Empty: none, or not to be told. */
  readonly files: readonly string[];
};

/** What was looked at. */
export type ArchiveCheckCounts = {
  readonly compactions: Count;
  readonly batches: Count;
  readonly lines: Count;
  readonly blocks: Count;
  readonly bytes: { readonly original: Count; readonly packed: Count; readonly file: Count };
};

export type ArchiveCheckStep =
  | { readonly kind: 'progress'; readonly stage: string; readonly done: number; readonly total: number }
  | { readonly kind: 'damage'; readonly damage: ArchiveDamage }
  /** A compaction that was begun and neither confirmed nor taken back yet: no damage. */
  | { readonly kind: 'prepared'; readonly files: readonly string[] }
  | { readonly kind: 'counted'; readonly counts: ArchiveCheckCounts };
