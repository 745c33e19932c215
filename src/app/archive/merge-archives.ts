import { isArchiveUrl } from '../../core/paths.ts';
import { ok, type Result } from '../../core/result.ts';
import type { Deed } from '../../ports/archive.ts';
import type { ArchiveExchange, OpenSource, Receipt, UnitPage, UnitStore } from '../../ports/exchange.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure, stop, stopIfInterrupted } from '../contract/failure.ts';
import type { ArchiveMergeReport, MergeCount, MergedArchive } from '../contract/archive-reports.ts';
import { listRecords, UNCOLLECTED } from '../jobs/records.ts';
import { openForStoring } from '../write/settle.ts';
import { mergeCapture, withoutPruned } from './merge-captures.ts';
import { type Conflict, findConflict, isErase } from './merge-conflicts.ts';

export type MergeRequest = {
  /** Paths or URLs of archives. */
  readonly others: readonly string[];
  /** What messages and the report call the only other archive. By default, its path or URL. */
  readonly shownAs?: string;
};

export type MergeDeps = AppDeps & { readonly exchange: ArchiveExchange };

/**
 * Adds everything of other archives to this one, compaction by compaction, and removes nothing. It is refused if one of them still has what
 * another one has erased. Merging again changes nothing. The order matters only for stored model answers, vectors of different
 * models, and equal labels. Everything is checked before anything is stored; after an interruption, merging again finishes it.
 */
export async function mergeArchives(
  deps: MergeDeps,
  { others, shownAs }: MergeRequest,
): Promise<Result<ArchiveMergeReport, Failure>> {
  const sources: OpenSource[] = [];
  try {
    return await attempt({ file: deps.archivePath, progress: deps.progress }, async () => {
      const identity = await deps.exchange.identify(deps.archivePath);
      for (const other of others) {
        const opened = await openSource(deps, other, identity);
        sources.push({ ...opened, path: shownAs ?? opened.path });
      }
      for (const source of sources) await refuseDamage(deps, source);
      const archive = await openForStoring(deps);
      const target = await deps.exchange.openTarget(deps.archivePath);
      if (!target.ok) return stop({ kind: 'archive', failure: target.error });
      try {
        const { store } = target.value;
        const from = sources.map(({ path }) => (isArchiveUrl(path) ? path : deps.files.absolute(path))).join(', ');
        const deed = (details: object): Deed => ({
          action: shownAs === undefined ? 'merge' : 'import',
          doneAt: deps.runtime.now(),
          details: JSON.stringify({ from, ...details }),
        });
        await store.logWithFirst(deed({ begun: true }));
        const report = await mergeSources(deps, store, sources);
        const countNew = (kind: Kind): number => report.merged.reduce((sum, one) => sum + one[kind].new, 0);
        if (report.result === 'merged')
          await archive.log.add(deed(Object.fromEntries(KINDS.map((kind) => [kind, countNew(kind)]))));
        return ok(report);
      } finally {
        await target.value.close();
      }
    });
  } finally {
    for (const source of sources) await source.close();
  }
}

export async function openSource({ exchange }: MergeDeps, place: string, identity: string | null): Promise<OpenSource> {
  const opened = await exchange.openSource(place);
  if (!opened.ok) {
    const { error } = opened;
    const failure = error.kind === 'cannot-open' ? { advice: 'Check the path.', ...error } : error;
    return stop({ kind: 'archive', failure });
  }
  if (opened.value.identity !== identity) return opened.value;
  await opened.value.close();
  const reason = 'it is the archive that it would be merged into';
  return stop({ kind: 'archive', failure: { kind: 'cannot-open', path: place, reason, advice: 'Name another one.' } });
}

/** Reading all of it first keeps damage from being found when a part of it is stored. `more` follows what is damaged. */
export async function refuseDamage(deps: AppDeps, { path, archive }: OpenSource, more = ''): Promise<void> {
  for await (const step of archive.check()) {
    if (step.kind === 'progress') deps.progress.update(`${path}: ${step.stage}`, step.done, step.total);
    if (step.kind === 'damage')
      stop({ kind: 'archive', failure: { kind: 'damaged', path, reason: `${step.damage.message}${more}` } });
    await stopIfInterrupted(deps);
  }
}

async function mergeSources(
  deps: MergeDeps,
  store: UnitStore,
  sources: readonly OpenSource[],
): Promise<ArchiveMergeReport> {
  const known = await storeReceipts(deps, store, sources);
  const merged: MergedArchive[] = [];
  for (const source of sources) {
    const receipts = await source.reader.receipts();
    merged.push(await mergeOne(deps, { store, source, receipts, known }));
    const names = receipts.map(({ receipt }) => receipt);
    await store.finishReceipts(names);
    for (const receipt of names) known.add(receipt);
  }
  const isNew = merged.some((one) => KINDS.some((kind) => kind !== 'lines' && one[kind].new > 0));
  const result = isNew ? 'merged' : 'unchanged';
  return { schema: 'compact/archive-merge@1', archive: deps.archivePath, result, merged };
}

const MAX_COMPARISONS = 5;

/**
 * Checks that no archive has what another one has erased; then stores the receipts of all sources, and their hashes of erased captured files.
 * If another program changed the target meanwhile, it checks again. Gives the receipts that the target had before.
 */
async function storeReceipts(deps: MergeDeps, store: UnitStore, sources: readonly OpenSource[]): Promise<Set<string>> {
  for (let count = 0; count < MAX_COMPARISONS; count += 1) {
    const stamp = await store.stamp();
    const known = new Set((await store.receipts()).map(({ receipt }) => receipt));
    await refuseErased(deps, [{ path: deps.archivePath, reader: store }, ...sources]);
    const receipts: Receipt[] = [];
    for (const { reader } of sources) receipts.push(...(await reader.receipts()));
    const missing = receipts.filter(({ receipt }) => !known.has(receipt));
    const states = sources.map(({ reader }) => reader.erasedStates);
    if (await store.storeReceipts(missing, states, stamp)) return known;
  }
  return stop({ kind: 'archive', failure: { kind: 'busy', path: deps.archivePath } });
}

/** None of these archives, the target first, may have what another one has erased. */
async function refuseErased(deps: MergeDeps, sides: readonly Pick<OpenSource, 'path' | 'reader'>[]): Promise<void> {
  const [target, ...sources] = sides;
  const named = new Set<string>();
  for (const { reader } of sources) for (const { receipt } of await reader.receipts()) named.add(receipt);
  for (const side of sides)
    for (const receipt of await side.reader.unfinishedReceipts())
      if (side !== target || !named.has(receipt))
        // Of such an archive nobody knows yet what the erasures removed.
        refuse(side.path, {
          reason: 'nothing was merged, because another merge into this archive is at work, or was interrupted',
          advice: 'Wait for it, or run it again.',
        });
  for (const from of sides)
    for (const to of sides) {
      if (from === to) continue;
      // The target keeps what others have pruned, and prunes for itself. Of two others, the order would decide.
      const withPruned = from !== target && to !== target;
      const comparedElsewhere: ReadonlySet<string> = from === target ? named : new Set();
      const conflict = await findConflict(from.reader, to.reader, { withPruned, comparedElsewhere });
      if (conflict !== null)
        refuse(to.path, {
          reason: `nothing was merged, because ${from.path} has erased what this archive has, or may have: ${describe(conflict)}`,
          advice: 'Erase it here too, or merge without one of them.',
        });
      await stopIfInterrupted(deps);
    }
}

function refuse(path: string, why: { readonly reason: string; readonly advice: string }): never {
  return stop({ kind: 'archive', failure: { kind: 'unsupported', path, ...why } });
}

const MAX_NAMED = 3;

function describe({ compactions, lines, capturedFiles }: Conflict): string {
  const count = (found: number, noun: string): string => `${found} ${noun}${found === 1 ? '' : 's'}`;
  const files = [...capturedFiles].slice(0, MAX_NAMED).join(', ') + (capturedFiles.size > MAX_NAMED ? ', …' : '');
  return [
    count(compactions, 'compaction'),
    count(lines, 'line'),
    `${count(capturedFiles.size, 'captured file')} (${files})`,
  ]
    .filter((part) => !part.startsWith('0 '))
    .join(', ');
}

const KINDS = [
  'compactions',
  'lines',
  'captured',
  'holds',
  'choices',
  'receipts',
  'summaries',
  'vectors',
] as const satisfies readonly (keyof MergedArchive)[];

type Count = { -readonly [key in keyof MergeCount]: number };
type Kind = (typeof KINDS)[number];
type Counts = Readonly<Record<Kind, Count>>;

type Merging = {
  /** It has the receipts and the erased states of all sources. */
  readonly store: UnitStore;
  readonly source: OpenSource;
  /** Those of the source. */
  readonly receipts: readonly Receipt[];
  /** The receipts that the store had before. */
  readonly known: ReadonlySet<string>;
};

/** Adds everything of one archive to another, which has nothing that the one has erased. */
async function mergeOne(deps: AppDeps, { store, source, receipts, known }: Merging): Promise<MergedArchive> {
  const { reader, archive } = source;
  const theirs = new Set(receipts.map(({ receipt }) => receipt));
  const counts = Object.fromEntries(KINDS.map((kind) => [kind, { new: 0, known: 0, refused: 0 }])) as Counts;
  /** `added` null: all were refused. */
  const note = (count: Count, total: number, added: number | null): void => {
    count.new += added ?? 0;
    count[added === null ? 'refused' : 'known'] += total - (added ?? 0);
  };
  note(counts.receipts, receipts.length, [...theirs].filter((name) => !known.has(name)).length);
  const holds = await archive.retention.listHolds();
  note(counts.holds, holds.length, await store.storeHolds(holds));
  await store.storeLog(await archive.log.list());
  const choices = await archive.choices.list();
  note(counts.choices, choices.length, await store.storeChoices(choices));
  await mergeUnits(deps, { store, source }, counts);
  const others = (await store.receipts()).filter(({ receipt }) => !theirs.has(receipt));
  // What the other archive still has although it knows of the prune, it has kept.
  const prunes = new Map(others.flatMap((one) => (isErase(one) ? [] : [[one.receipt, one.atMs] as const])));
  const sides = { target: store, source: reader, runtime: deps.runtime };
  for await (const capture of reader.captures()) {
    deps.progress.update('merging captured files', counts.captured.new + counts.captured.known, 1);
    const states = await withoutPruned(sides, capture, prunes);
    if (states.length === 0) counts.captured.refused += 1;
    else note(counts.captured, 1, (await mergeCapture(sides, { ...capture, states })) ? 1 : 0);
    await stopIfInterrupted(deps);
  }
  // Nobody can tell which of them were made from what the target has erased.
  const hasErased = others.some(isErase);
  for await (const page of reader.summaries())
    note(counts.summaries, page.length, hasErased ? null : await store.storeSummaries(page));
  const model = await reader.vectorModel();
  if (model !== null)
    for await (const page of reader.vectors()) note(counts.vectors, page.length, await store.storeVectors(model, page));
  const uncollected = await listRecords(archive, 'batch', UNCOLLECTED);
  return { archive: source.path, ...counts, uncollectedBatches: uncollected.length };
}

async function mergeUnits(
  deps: AppDeps,
  { store, source: { reader, archive } }: Pick<Merging, 'store' | 'source'>,
  { compactions, lines }: Counts,
): Promise<void> {
  const gone = new Set<string>();
  for await (const { unit } of store.units({ touchedOnly: true })) if (unit.isErased) gone.add(unit.key);
  const total = (await archive.measure()).compactions;
  compactions.refused += (await archive.listPrepared()).length;
  let done = 0;
  for await (const group of inPages(reader.units(), ({ unit }) => unit.source.sizeBytes, GROUP)) {
    const counts = group.map(() => ({ new: 0, refused: 0 }));
    const stored = await store.storeUnits(
      group.map(({ id, unit }, at) => ({ unit, lines: () => counted(reader.lines(id), counts[at]) })),
    );
    for (const [at, { unit }] of group.entries()) {
      if (stored[at] === true) {
        compactions[unit.isErased ? 'refused' : 'new'] += 1;
        lines.new += counts[at]?.new ?? 0;
        lines.refused += counts[at]?.refused ?? 0;
      } else compactions[gone.has(unit.key) && !unit.isErased ? 'refused' : 'known'] += 1;
    }
    done += group.length;
    deps.progress.update('merging', done, Math.max(done, total));
    await stopIfInterrupted(deps);
  }
}

/** Starts at zero, because all of it may be repeated. */
async function* counted(
  pages: AsyncIterable<UnitPage>,
  count: Pick<Count, 'new' | 'refused'> = { new: 0, refused: 0 },
): AsyncGenerator<UnitPage> {
  count.new = 0;
  count.refused = 0;
  for await (const page of pages) {
    const erased = page.lines.filter(({ receipt }) => receipt !== null).length;
    count.refused += erased;
    count.new += page.lines.length - erased;
    yield page;
  }
}

/** Compactions of one transaction: one for each small compaction would take longer than all else. An interruption costs no more than a group. */
export const GROUP = { maxBytes: 8 * 1024 * 1024, maxCount: 200 } as const satisfies PageLimits;
/** Records that fit into a block of the archive. */
const PAGE: PageLimits = { maxBytes: 1024 * 1024, maxCount: 1000 };
type PageLimits = { readonly maxBytes: number; readonly maxCount: number };

/** As many items at once as are stored together. */
export async function* inPages<T>(
  items: AsyncIterable<T>,
  sizeOf: (item: T) => number,
  { maxBytes, maxCount }: PageLimits = PAGE,
): AsyncGenerator<readonly T[]> {
  let page: T[] = [];
  let sizeBytes = 0;
  for await (const item of items) {
    const size = sizeOf(item);
    if (page.length > 0 && (page.length >= maxCount || sizeBytes + size > maxBytes)) {
      yield page;
      page = [];
      sizeBytes = 0;
    }
    page.push(item);
    sizeBytes += size;
  }
  if (page.length > 0) yield page;
}
