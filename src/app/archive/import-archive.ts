import type { Result } from '../../core/result.ts';
import type { ExportKind, ExportRecords, Receipt, UnitKey, UnitPage, UnitStore } from '../../ports/exchange.ts';
import { attempt, carriedFailure, type Failure, stop, stopIfInterrupted } from '../contract/failure.ts';
import type { ArchiveMergeReport } from '../contract/archive-reports.ts';
import type { ExportDeps } from './export-archive.ts';
import { GROUP, inPages, mergeArchives } from './merge-archives.ts';

/**
 * Adds an export to the archive as `archive merge` adds another archive. It is first made into an archive of its own in a temporary folder, so
 * nothing is stored of a folder that was changed or cut off. `maxLineBytes`: the longest line to read; null: the usual limit.
 */
export async function importArchive(
  deps: ExportDeps,
  { folder, maxLineBytes }: { folder: string; maxLineBytes: number | null },
): Promise<Result<ArchiveMergeReport, Failure>> {
  return attempt({ file: folder, progress: deps.progress }, async () => {
    const scratch = await inTemporaryFolder(deps, () => deps.folders.openScratch());
    try {
      const limits = { maxLineBytes: maxLineBytes ?? undefined, signal: deps.signal };
      const read: Read = (kind) => deps.folders.read(folder, kind, limits);
      try {
        await inTemporaryFolder(deps, () => fill(deps, read, { folder, store: scratch.store }));
      } finally {
        await scratch.close();
      }
      return await mergeArchives(deps, { others: [scratch.place], shownAs: folder });
    } finally {
      scratch.remove();
    }
  });
}

/** Does what needs room in the folder for temporary files. */
async function inTemporaryFolder<T>({ signal }: Pick<ExportDeps, 'signal'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) stop({ kind: 'interrupted' });
    const failure = carriedFailure(error);
    if (failure?.kind !== 'no-space') throw error;
    const reason = 'the export cannot be unpacked there (no space is left)';
    const advice = 'Name another folder with TMPDIR.';
    return stop({ kind: 'archive', failure: { kind: 'unsupported', path: failure.path, reason, advice } });
  }
}

type Read = <Kind extends ExportKind>(kind: Kind) => AsyncIterable<ExportRecords[Kind]>;

async function fill(deps: ExportDeps, read: Read, { folder, store }: { folder: string; store: UnitStore }) {
  const receipts: Receipt[] = [];
  for await (const receipt of read('receipt')) receipts.push(receipt);
  await store.storeReceipts(receipts, [() => inPages(read('erasedState'), () => 1)], await store.stamp());
  await store.finishReceipts(receipts.map(({ receipt }) => receipt));
  for await (const page of inPages(read('hold'), () => 1)) await store.storeHolds(page);
  for await (const page of inPages(read('choice'), () => 1)) await store.storeChoices(page);
  for await (const page of inPages(read('log'), () => 1)) await store.storeLog(page);
  const lines = createCursor(read('line'));
  let count = 0;
  for await (const units of inPages(read('compaction'), ({ source }) => source.sizeBytes, GROUP)) {
    await store.storeUnits(units.map((unit) => ({ unit, lines: () => linesOf(lines, unit.key) })));
    count += units.length;
    deps.progress.update('reading the export', count, count);
    await stopIfInterrupted(deps);
  }
  if (!(await lines.isAtEnd())) deps.folders.refuseRest(folder, 'line');
  const pieces = createCursor(read('piece'));
  for await (const capture of read('capture')) {
    await store.storeCapture(capture, {
      known: null,
      versions: [...Map.groupBy(capture.states, ({ version }) => version)].map(([version, own]) => ({
        states: own,
        pieces: () =>
          inPages(
            pieces.takeWhile((piece) => piece.path === capture.path && piece.version === version),
            ({ sizeBytes }) => sizeBytes,
          ),
      })),
    });
    await stopIfInterrupted(deps);
  }
  if (!(await pieces.isAtEnd())) deps.folders.refuseRest(folder, 'piece');
  for await (const page of inPages(read('summary'), ({ text }) => text.length)) await store.storeSummaries(page);
  for await (const model of read('model'))
    for await (const page of inPages(read('vector'), () => 1)) await store.storeVectors(model, page);
}

/** Reads records that follow those of another file. */
type Cursor<T> = {
  /** The next records as long as they belong. */
  readonly takeWhile: (belongs: (record: T) => boolean) => AsyncGenerator<T>;
  readonly isAtEnd: () => Promise<boolean>;
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
    isAtEnd: async () => (await peek()).done === true,
  };
}

/** Once: the archive in a file that they are stored in first repeats nothing. */
async function* linesOf(cursor: Cursor<ExportRecords['line']>, key: UnitKey): AsyncGenerator<UnitPage> {
  const own = cursor.takeWhile(({ unit }) => unit === key);
  for await (const lines of inPages(own, ({ bytes }) => bytes.length)) yield { lines, pack: null };
}
