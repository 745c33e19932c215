import type {
  ExchangedCapture,
  ExchangedState,
  MergedHold,
  MergedRule,
  OpenSource,
  Unit,
  UnitLine,
  UnitLineDraft,
  UnitReader,
  UnitStore,
} from '../../ports/exchange.ts';
import type { Archive } from '../../ports/archive.ts';
import type { Hold } from '../../ports/retention.ts';
import { type AppDeps, isInterrupted } from '../contract/deps.ts';
import type { MergeCount, MergedArchive } from '../contract/retention-reports.ts';
import { listRecords, UNCOLLECTED } from '../jobs/records.ts';
import { readArchivedText } from '../search/find-archived.ts';
import { mergeCapture } from './merge-captures.ts';
import { isErase } from './merge-conflicts.ts';

export type Merging = {
  /** It has the receipts and the erased states of all sources. */
  readonly store: UnitStore;
  readonly source: OpenSource;
  /** The receipts that it had before. */
  readonly knownReceipts: ReadonlySet<string>;
};

type Count = { -readonly [key in keyof MergeCount]: number };

/** Adds everything of one archive to another, which has nothing that the one has erased. Null: interrupted. */
export async function mergeOne(deps: AppDeps, merging: Merging): Promise<MergedArchive | null> {
  const { store, source } = merging;
  const { reader } = source;
  const [all, theirs] = [await store.receipts(), await reader.receipts()];
  const theirNames = new Set(theirs.map(({ receipt }) => receipt));
  const hasErased = all.some((one) => !theirNames.has(one.receipt) && isErase(one));
  const count = (): Count => ({ new: 0, known: 0, refused: 0 });
  const counts = {
    compactions: count(),
    lines: count(),
    captured: count(),
    holds: count(),
    droppedRules: count(),
    receipts: count(),
    summaries: count(),
    vectors: count(),
  };
  counts.receipts.new = [...theirNames].filter((name) => !merging.knownReceipts.has(name)).length;
  counts.receipts.known = theirs.length - counts.receipts.new;
  const holds = (await source.archive.retention.listHolds()).map(toMerged);
  counts.holds.new = await store.storeHolds(holds);
  counts.holds.known = holds.length - counts.holds.new;
  // What the other archive still has although it knows of the prune, it has kept.
  const prunes = new Map(
    all.flatMap((one) => (isErase(one) || theirNames.has(one.receipt) ? [] : [[one.receipt, one.atMs] as const])),
  );
  const rules = await listRules(source.archive);
  counts.droppedRules.new = await store.storeDroppedRules(rules);
  counts.droppedRules.known = rules.length - counts.droppedRules.new;
  const isDone = await mergeUnits(deps, merging, counts);
  if (!isDone) return null;
  for await (const capture of reader.captures()) {
    deps.progress.update('merging captured files', counts.captured.new + counts.captured.known, 1);
    const states = await withoutPruned({ store, source: reader, prunes }, capture);
    const sides = { target: store, source: reader, runtime: deps.runtime };
    if (states.length === 0) counts.captured.refused += 1;
    else if (await mergeCapture(sides, { ...capture, states })) counts.captured.new += 1;
    else counts.captured.known += 1;
    if (await isInterrupted(deps)) return null;
  }
  for await (const page of reader.summaries()) {
    // Nobody can tell which of them were made from what the target has erased.
    const added = hasErased ? 0 : await store.storeSummaries(page);
    counts.summaries.new += added;
    if (hasErased) counts.summaries.refused += page.length;
    else counts.summaries.known += page.length - added;
  }
  await mergeVectors(merging, counts.vectors);
  const uncollected = await listRecords(source.archive, 'batch', UNCOLLECTED);
  return { archive: source.path, ...counts, uncollectedBatches: uncollected.length };
}

export async function listRules({ droppedRules }: Pick<Archive, 'droppedRules'>): Promise<readonly MergedRule[]> {
  return (await droppedRules.list()).map(({ conversationId, path, text, droppedAt }) => ({
    conversationId,
    path,
    text,
    droppedAtMs: droppedAt.getTime(),
  }));
}

export function toMerged({ kind, value, reason, addedAt }: Hold): MergedHold {
  return { kind, value, reason, addedAtMs: addedAt.getTime() };
}

/** False: interrupted. */
async function mergeUnits(
  deps: AppDeps,
  { store, source }: Merging,
  counts: Readonly<Record<'compactions' | 'lines', Count>>,
): Promise<boolean> {
  const gone = new Set<string>();
  for await (const { unit } of store.units({ touchedOnly: true })) if (unit.isErased) gone.add(unit.key);
  const total = (await source.archive.measure()).compactions;
  counts.compactions.refused += (await source.archive.listPrepared()).length;
  let done = 0;
  for await (const { id, unit } of source.reader.units()) {
    const lines = source.reader.lines(id);
    if (await store.storeUnit(unit, withText(deps, unit, counted(lines, counts.lines)))) {
      counts.compactions[unit.isErased ? 'refused' : 'new'] += 1;
    } else {
      counts.compactions[gone.has(unit.key) && !unit.isErased ? 'refused' : 'known'] += 1;
      await store.storeFiles(unit);
    }
    done += 1;
    deps.progress.update('merging', done, Math.max(done, total));
    if (await isInterrupted(deps)) return false;
  }
  return true;
}

/** The states of a captured file that the target has, or has not pruned with this file since they were captured. */
async function withoutPruned(
  {
    store,
    source,
    prunes,
  }: { readonly store: UnitStore; readonly source: UnitReader; readonly prunes: ReadonlyMap<string, number> },
  { path, states }: ExchangedCapture,
): Promise<readonly ExchangedState[]> {
  const left: ExchangedState[] = [];
  for (const state of states) {
    const { sha256, capturedAtMs, version } = state;
    const originSha256 = await source.originOf(path, version);
    const isPruned = (await store.findErasedStates({ sha256, originSha256 })).some(
      (one) =>
        one.sha256 === sha256 &&
        one.originSha256 === originSha256 &&
        capturedAtMs <= (prunes.get(one.receipt) ?? Number.NEGATIVE_INFINITY),
    );
    if (!isPruned || (await store.hasState(sha256))) left.push(state);
  }
  return left;
}

async function* counted(pages: AsyncIterable<readonly UnitLine[]>, count: Count): AsyncGenerator<readonly UnitLine[]> {
  for await (const lines of pages) {
    const erased = lines.filter(({ receipt }) => receipt !== null).length;
    count.refused += erased;
    count.new += lines.length - erased;
    yield lines;
  }
}

/** The archive does not keep the words that search looks in: they are read from the lines again. */
async function* withText(
  { formats }: Pick<AppDeps, 'formats'>,
  { format }: Unit,
  pages: AsyncIterable<readonly UnitLine[]>,
): AsyncGenerator<readonly UnitLineDraft[]> {
  for await (const lines of pages)
    yield lines.map((line) => ({
      ...line,
      text: line.message === null ? '' : readArchivedText(formats, { format, line: line.line, bytes: line.bytes }),
    }));
}

async function mergeVectors({ store, source: { reader } }: Merging, count: Count): Promise<void> {
  const model = await reader.vectorModel();
  if (model === null) return;
  for await (const vectors of reader.vectors()) {
    const added = await store.storeVectors(model, vectors);
    if (added === null) count.refused += vectors.length;
    else {
      count.new += added;
      count.known += vectors.length - added;
    }
  }
}
