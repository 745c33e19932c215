import type { Count } from '../core/units.ts';
/**
 * What is damaged. structure: SQLite's own checks of pages and indexes. unreadable: something cannot be read. reference: a row refers to
 * another one that is gone or not its own. block: a block of lines cannot be decompressed or split. wrong-hash: lines, batches, settings or
 * clip-archives differ from what was stored. hole: source lines are missing or stored twice. wrong-count: sizes or counts disagree. order: a
 * predecessor is not older. search: words that cannot be found, or that lead nowhere.
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
  /** For people: where in the archive, and what. */
  readonly message: string;
  /** The affected transcripts: sources and outputs of its compactions, and of later ones that continue them. Empty: none, or unknown. */
  readonly files: readonly string[];
};

/** What was checked. */
export type ArchiveCheckCounts = {
  readonly compactions: Count;
  readonly batches: Count;
  /** Captured files; lines, blocks and bytes are those of compactions and captures together. */
  readonly captured: Count;
  readonly lines: Count;
  readonly blocks: Count;
  readonly bytes: { readonly original: Count; readonly compressed: Count; readonly file: Count };
};

export type ArchiveCheckStep =
  | { readonly kind: 'progress'; readonly stage: string; readonly done: number; readonly total: number }
  | { readonly kind: 'damage'; readonly damage: ArchiveDamage }
  /** An unfinished compaction. This is not damage. */
  | { readonly kind: 'prepared'; readonly files: readonly string[] }
  | { readonly kind: 'counted'; readonly counts: ArchiveCheckCounts };
