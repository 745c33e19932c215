import { err, type Result } from '../../core/result.ts';
import type {
  CapturedPiece,
  ErasedState,
  ExchangedCapture,
  MergedVersion,
  Receipt,
  UnitLineDraft,
  UnitStore,
} from '../../ports/exchange.ts';
import type { ExportFolders, ExportRecord } from '../../ports/export.ts';
import { isInterrupted } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import type { ArchiveMergeReport } from '../contract/retention-reports.ts';
import type { ExportDeps } from './export-archive.ts';
import { mergeArchives } from './merge-archives.ts';

/** `maxLineBytes`: the longest line to read; null: the usual limit. */
export type ImportRequest = { readonly folder: string; readonly maxLineBytes: number | null };

/**
 * Adds an export to the archive as `archive merge` adds another archive. It is first made into an archive of its own in a temporary folder, so
 * nothing is stored of a folder that was changed or cut off.
 */
export async function importArchive(
  deps: ExportDeps,
  { folder, maxLineBytes }: ImportRequest,
): Promise<Result<ArchiveMergeReport, Failure>> {
  return attempt({ file: folder, progress: deps.progress }, async () => {
    const scratch = await deps.folders.openScratch();
    try {
      const limits = { maxLineBytes: maxLineBytes ?? undefined, signal: deps.signal };
      const read: Filling['read'] = (kind) => deps.folders.read(folder, kind, limits);
      const isFilled = await fill(deps, { folder, read, store: scratch.store }).catch((error: unknown) => {
        if (deps.signal?.aborted) return false;
        throw error;
      });
      await scratch.close();
      if (!isFilled) return err({ kind: 'interrupted' });
      return await mergeArchives(deps, { others: [scratch.place], shownAs: folder });
    } finally {
      scratch.remove();
    }
  });
}

type Filling = {
  readonly folder: string;
  readonly read: <Kind extends ExportRecord['kind']>(
    kind: Kind,
  ) => AsyncIterable<Extract<ExportRecord, { readonly kind: Kind }>>;
  readonly store: UnitStore;
};

/** False: interrupted. */
async function fill(deps: ExportDeps, { folder, read, store }: Filling): Promise<boolean> {
  const { folders } = deps;
  const receipts: Receipt[] = [];
  for await (const { receipt } of read('receipt')) receipts.push(receipt);
  await store.storeReceipts(receipts, [readErasedStates(read)], await store.stamp());
  await store.finishReceipts(receipts.map(({ receipt }) => receipt));
  for await (const { hold } of read('hold')) await store.storeHolds([hold]);
  for await (const { rule } of read('droppedRule')) await store.storeDroppedRules([rule]);
  const lines = createCursor(read('line'));
  let count = 0;
  for await (const { unit } of read('compaction')) {
    await store.storeUnit(unit, unitLines(lines, unit.key));
    count += 1;
    deps.progress.update('reading the export', count, count);
    if (await isInterrupted(deps)) return false;
  }
  await lines.end(folders, { folder, kind: 'line' });
  const pieces = createCursor(read('piece'));
  for await (const { capture } of read('capture')) {
    await store.storeCapture(capture, { known: null, versions: versionsOf(capture, pieces) });
    if (await isInterrupted(deps)) return false;
  }
  await pieces.end(folders, { folder, kind: 'piece' });
  for await (const { request, summary } of read('summary')) await store.storeSummaries([{ request, summary }]);
  for await (const { model } of read('model'))
    for await (const page of inPages(read('vector'), () => 1))
      await store.storeVectors(
        model,
        page.map(({ vector }) => vector),
      );
  return true;
}

async function* readErasedStates(read: Filling['read']): AsyncGenerator<readonly ErasedState[]> {
  for await (const page of inPages(read('erasedState'), () => 1)) yield page.map(({ state }) => state);
}

/** Reads records that follow those of another file. */
type Cursor<T> = {
  /** The next records as long as they belong. */
  readonly takeWhile: (belongs: (record: T) => boolean) => AsyncGenerator<T>;
  /** Throws if records are left. */
  readonly end: (
    folders: ExportFolders,
    of: { readonly folder: string; readonly kind: ExportRecord['kind'] },
  ) => Promise<void>;
};

function createCursor<T>(records: AsyncIterable<T>): Cursor<T> {
  const iterator = records[Symbol.asyncIterator]();
  const state: { next: IteratorResult<T> | null } = { next: null };
  const peek = async (): Promise<IteratorResult<T>> => (state.next ??= await iterator.next());
  return {
    async *takeWhile(belongs) {
      for (let next = await peek(); next.done !== true && belongs(next.value); next = await peek()) {
        state.next = null;
        yield next.value;
      }
    },
    end: async (folders, { folder, kind }) => {
      if ((await peek()).done !== true) folders.refuseRest(folder, kind);
    },
  };
}

async function* unitLines(
  lines: Cursor<Extract<ExportRecord, { readonly kind: 'line' }>>,
  key: string,
): AsyncGenerator<readonly UnitLineDraft[]> {
  const own = lines.takeWhile(({ unit }) => unit === key);
  // Nothing searches in it, so no words are needed.
  for await (const page of inPages(own, ({ line }) => line.bytes.length))
    yield page.map(({ line }) => ({ ...line, text: '' }));
}

function versionsOf(
  { path, states }: ExchangedCapture,
  pieces: Cursor<Extract<ExportRecord, { readonly kind: 'piece' }>>,
): readonly MergedVersion[] {
  return [...Map.groupBy(states, ({ version }) => version)].map(([version, own]) => ({
    states: own,
    async *pieces(): AsyncGenerator<readonly CapturedPiece[]> {
      const found = pieces.takeWhile((piece) => piece.path === path && piece.version === version);
      for await (const page of inPages(found, ({ piece }) => piece.sizeBytes)) yield page.map(({ piece }) => piece);
    },
  }));
}

const [MAX_PAGE_BYTES, MAX_PAGE_RECORDS] = [1024 * 1024, 1000];

/** As many records at once as fit into a block of the archive. */
async function* inPages<T>(records: AsyncIterable<T>, sizeOf: (record: T) => number): AsyncGenerator<readonly T[]> {
  let page: T[] = [];
  let sizeBytes = 0;
  for await (const record of records) {
    const size = sizeOf(record);
    if (page.length > 0 && (page.length >= MAX_PAGE_RECORDS || sizeBytes + size > MAX_PAGE_BYTES)) {
      yield page;
      page = [];
      sizeBytes = 0;
    }
    page.push(record);
    sizeBytes += size;
  }
  if (page.length > 0) yield page;
}
