import type { CachedSummary } from './archive.ts';
import type {
  CapturedPiece,
  ErasedState,
  ExchangedCapture,
  MergedHold,
  MergedRule,
  OpenTarget,
  Receipt,
  Unit,
  UnitKey,
  UnitLine,
  UnitVector,
} from './exchange.ts';
import type { VectorModel } from './vector-store.ts';

/** A record of an export. The lines of a compaction follow its order, as the pieces of a captured file follow that of its versions. */
export type ExportRecord =
  | { readonly kind: 'receipt'; readonly receipt: Receipt }
  | { readonly kind: 'erasedState'; readonly state: ErasedState }
  | { readonly kind: 'hold'; readonly hold: MergedHold }
  | { readonly kind: 'droppedRule'; readonly rule: MergedRule }
  | { readonly kind: 'compaction'; readonly unit: Unit }
  | { readonly kind: 'line'; readonly unit: UnitKey; readonly line: UnitLine }
  | { readonly kind: 'capture'; readonly capture: ExchangedCapture }
  | { readonly kind: 'piece'; readonly path: string; readonly version: number; readonly piece: CapturedPiece }
  | { readonly kind: 'summary'; readonly request: string; readonly summary: CachedSummary }
  | { readonly kind: 'model'; readonly model: VectorModel }
  | { readonly kind: 'vector'; readonly vector: UnitVector };

/** How records are written: `jsonl` is one JSON object a line; `parquet` is tables with typed columns. */
export type ExportEncoding = 'jsonl' | 'parquet';

/** A folder that is being filled. It is complete after `commit`; until then nothing in it has its name. */
export type ExportWriter = {
  readonly write: (record: ExportRecord) => void;
  readonly commit: () => void;
  /** Removes what was written. Does nothing after `commit`. */
  readonly abandon: () => void;
};

/** `maxLineBytes`: the longest line, or group of rows, that is read; undefined: the usual limit. Reading rejects when aborted. */
export type ReadLimits = { readonly maxLineBytes?: number | undefined; readonly signal?: AbortSignal | undefined };

/** Methods that read throw an `ArchiveError` if a file was changed or cut off. */
export type ExportFolders = {
  /** Creates the folder, or takes an empty one. Throws an `ArchiveError` if it cannot. */
  readonly create: (folder: string, encoding: ExportEncoding) => Promise<ExportWriter>;
  /** The records of one kind, in their order. The folder knows its encoding. */
  readonly read: <Kind extends ExportRecord['kind']>(
    folder: string,
    kind: Kind,
    limits?: ReadLimits,
  ) => AsyncIterable<Extract<ExportRecord, { readonly kind: Kind }>>;
  /** Throws that records of this kind are left. */
  readonly refuseRest: (folder: string, kind: ExportRecord['kind']) => never;
  /** A new, private archive in a temporary folder. */
  readonly openScratch: () => Promise<OpenTarget & { readonly place: string; readonly remove: () => void }>;
};
