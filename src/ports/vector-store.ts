import type { ArchivedBatch, ArchivedLine, Scored, SearchFilter } from './archive-lookup.ts';

/** The model that made vectors. Vectors of different models cannot be compared. */
export type VectorModel = { readonly provider: string; readonly model: string; readonly dimensions: number };

/** Something without a vector. */
export type MissingVector =
  | ({ readonly kind: 'message' } & Pick<ArchivedLine, 'lineId' | 'line' | 'format'>)
  | { readonly kind: 'batch'; readonly batchId: number; readonly content: string };

export type VectorDraft = {
  readonly kind: 'message' | 'batch';
  readonly id: number;
  /** Null: the text is empty. */
  readonly vector: Float32Array | null;
};

type VectorCount = { readonly done: number; readonly total: number };

/** The position after which the list of missing vectors continues. */
export type VectorCursor = { readonly lineId: number; readonly batchId: number };

/** Only compactions of this source (sha256, hex); null: all. `isRemade`: list also what has a vector. */
export type MissingScope = { readonly sourceSha256: string | null; readonly isRemade: boolean };

/** Vectors of archived messages and batches. `keep`, `nearest…` and `similarities` need the extension that the archive was opened with. */
export type VectorStore = {
  /** Null: there are no vectors. */
  readonly findModel: () => Promise<VectorModel | null>;
  /** Counts what search can find. */
  readonly count: () => Promise<VectorCount>;
  readonly countMissing: (scope: MissingScope) => Promise<number>;
  /** Messages first, then batches, each ordered by id. */
  readonly listMissing: (
    scope: MissingScope,
    page: { readonly after: VectorCursor; readonly limit: number },
  ) => Promise<readonly MissingVector[]>;
  /**
   * Stores vectors in one transaction. Vectors of another model are removed first ('replaced'), or, if `mayReplace` is false, nothing is
   * stored ('other-model').
   */
  readonly keep: (
    model: VectorModel,
    drafts: readonly VectorDraft[],
    options: { readonly mayReplace: boolean },
  ) => Promise<'kept' | 'replaced' | 'other-model'>;
  /** Ids of messages with a similar meaning that pass the filter, in no particular order. */
  readonly nearestMessages: (
    vector: Float32Array,
    limits: { readonly filter: SearchFilter; readonly limit: number },
  ) => Promise<readonly number[]>;
  /** Similarity of messages to a vector (1: the same, 0: nothing in common); messages without a vector are left out. */
  readonly similarities: (vector: Float32Array, lineIds: readonly number[]) => Promise<ReadonlyMap<number, number>>;
  /** Live batches with their similarity, best first; equal texts of one conversation come once. */
  readonly nearestBatches: (
    vector: Float32Array,
    limits: { readonly filter: SearchFilter; readonly limit: number },
  ) => Promise<readonly Scored<ArchivedBatch>[]>;
};
