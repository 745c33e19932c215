import type { ArchivedBatch, ArchivedLine, Scored, SearchFilter } from './archive-lookup.ts';

/** What vectors were made by: those of another one stand in another space. */
export type VectorModel = { readonly provider: string; readonly model: string; readonly dimensions: number };

/** What has no vector yet. */
export type MissingVector =
  | ({ readonly kind: 'message' } & Pick<ArchivedLine, 'lineId' | 'line' | 'format'>)
  | { readonly kind: 'batch'; readonly batchId: number; readonly content: string };

export type VectorDraft = {
  readonly kind: 'message' | 'batch';
  readonly id: number;
  /** Null: there is no text. */
  readonly vector: Float32Array | null;
};

export type VectorCount = { readonly done: number; readonly total: number };

/** Where a list of what is missing goes on: behind these. */
export type VectorCursor = { readonly lineId: number; readonly batchId: number };

/** Only of this source's compactions (sha256, hex); null: of all. `isRemade`: what has a vector is listed too. */
export type MissingScope = { readonly sourceSha256: string | null; readonly isRemade: boolean };

/**
 * Vectors of the archived messages and batches. `keep`, `nearest…` and `similarities` need the extension that the archive was opened with.
 */
export type VectorStore = {
  /** Null: there are no vectors. */
  readonly findModel: () => VectorModel | null;
  /** Of what can be found. */
  readonly count: () => VectorCount;
  readonly countMissing: (scope: MissingScope) => number;
  /** Messages before batches, each in order of ids. */
  readonly listMissing: (
    scope: MissingScope,
    page: { readonly after: VectorCursor; readonly limit: number },
  ) => readonly MissingVector[];
  /**
   * Keeps vectors, in one transaction. Where those of another model are there, they are dropped first ('replaced'), or with `mayReplace` false
   * nothing is kept ('other-model').
   */
  readonly keep: (
    model: VectorModel,
    drafts: readonly VectorDraft[],
    options: { readonly mayReplace: boolean },
  ) => 'kept' | 'replaced' | 'other-model';
  /** Numbers of messages that are about the same, some of what the filter lets through; not in their order. */
  readonly nearestMessages: (
    vector: Float32Array,
    limits: { readonly filter: SearchFilter; readonly limit: number },
  ) => readonly number[];
  /** How much alike (1: the same, 0: nothing in common) messages are to a vector; what has no vector is not in it. */
  readonly similarities: (vector: Float32Array, lineIds: readonly number[]) => ReadonlyMap<number, number>;
  /** Live batches with how much alike they are, best first; equal texts of one conversation come once. */
  readonly nearestBatches: (
    vector: Float32Array,
    limits: { readonly filter: SearchFilter; readonly limit: number },
  ) => readonly Scored<ArchivedBatch>[];
};
