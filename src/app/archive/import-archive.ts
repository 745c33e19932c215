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

export type ImportRequest = { readonly folder: string };

/**
 * Adds an export to the archive as `archive merge` adds another archive. It is first made into an archive of its own in a temporary folder, so
 * nothing is stored of a folder that was changed or cut off.
 */
export async function importArchive(
  deps: ExportDeps,
  { folder }: ImportRequest,
): Promise<Result<ArchiveMergeReport, Failure>> {
  return attempt({ file: folder, progress: deps.progress }, async () => {
    const scratch = await deps.folders.openScratch();
    try {
      const isFilled = await fill(deps, { folder, store: scratch.store });
      await scratch.close();
      if (!isFilled) return err({ kind: 'interrupted' });
      return await mergeArchives(deps, { others: [scratch.place], shownAs: folder });
    } finally {
      scratch.remove();
    }
  });
}

type Filling = { readonly folder: string; readonly store: UnitStore };

/** False: interrupted. */
async function fill(deps: ExportDeps, { folder, store }: Filling): Promise<boolean> {
  const { folders } = deps;
  const receipts: Receipt[] = [];
  for await (const { receipt } of folders.read(folder, 'receipt')) receipts.push(receipt);
  await store.storeReceipts(receipts, [readErasedStates(folders, folder)], await store.stamp());
  await store.finishReceipts(receipts.map(({ receipt }) => receipt));
  for await (const { hold } of folders.read(folder, 'hold')) await store.storeHolds([hold]);
  const lines = createCursor(folders.read(folder, 'line'));
  let count = 0;
  for await (const { unit } of folders.read(folder, 'compaction')) {
    await store.storeUnit(unit, unitLines(lines, unit.key));
    count += 1;
    deps.progress.update('reading the export', count, count);
    if (await isInterrupted(deps)) return false;
  }
  await lines.end(folders, { folder, kind: 'line' });
  const pieces = createCursor(folders.read(folder, 'piece'));
  for await (const { capture } of folders.read(folder, 'capture')) {
    await store.storeCapture(capture, { known: null, versions: versionsOf(capture, pieces) });
    if (await isInterrupted(deps)) return false;
  }
  await pieces.end(folders, { folder, kind: 'piece' });
  for await (const { request, summary } of folders.read(folder, 'summary'))
    await store.storeSummaries([{ request, summary }]);
  for await (const { model } of folders.read(folder, 'model'))
    for await (const page of inPages(folders.read(folder, 'vector'), () => 1))
      await store.storeVectors(
        model,
        page.map(({ vector }) => vector),
      );
  return true;
}

async function* readErasedStates(folders: ExportFolders, folder: string): AsyncGenerator<readonly ErasedState[]> {
  for await (const page of inPages(folders.read(folder, 'erasedState'), () => 1)) yield page.map(({ state }) => state);
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
