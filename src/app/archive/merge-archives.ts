import { err, ok, type Result } from '../../core/result.ts';
import type { ArchiveFailure } from '../../ports/archive.ts';
import type { ArchiveExchange, OpenSource, Receipt, UnitReader, UnitStore } from '../../ports/exchange.ts';
import { type AppDeps, isInterrupted } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import type { ArchiveMergeReport, MergedArchive } from '../contract/retention-reports.ts';
import { openSettled } from '../write/settle.ts';
import { readOnly } from './holds.ts';
import { type Conflict, findConflict } from './merge-conflicts.ts';
import { mergeOne } from './merge-one.ts';

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
  request: MergeRequest,
): Promise<Result<ArchiveMergeReport, Failure>> {
  const sources: OpenSource[] = [];
  try {
    return await attempt({ file: deps.archivePath, progress: deps.progress }, async () => {
      const identity = await deps.exchange.identify(deps.archivePath);
      for (const other of request.others) {
        const opened = await openSource(deps, other, identity);
        if (!opened.ok) return opened;
        sources.push({ ...opened.value, path: request.shownAs ?? opened.value.path });
      }
      return await mergeSources(deps, sources);
    });
  } finally {
    for (const source of sources) await source.close();
  }
}

async function openSource(
  { exchange }: MergeDeps,
  place: string,
  identity: string | null,
): Promise<Result<OpenSource, Failure>> {
  const opened = await exchange.openSource(place);
  if (!opened.ok) {
    const { error } = opened;
    const failure = error.kind === 'cannot-open' ? { advice: 'Check the path.', ...error } : error;
    return err({ kind: 'archive', failure });
  }
  if (opened.value.identity !== identity) return ok(opened.value);
  await opened.value.close();
  const reason = 'it is the archive that it would be merged into';
  return err({ kind: 'archive', failure: { kind: 'cannot-open', path: place, reason, advice: 'Name another one.' } });
}

/** Null: it is sound. Reading all of it first keeps damage from being found when a part of it is stored. */
async function findDamage(deps: MergeDeps, { path, archive }: OpenSource): Promise<Failure | null> {
  for await (const step of archive.check()) {
    if (step.kind === 'progress') deps.progress.update(`${path}: ${step.stage}`, step.done, step.total);
    if (step.kind === 'damage') {
      const failure: ArchiveFailure = { kind: 'damaged', path, reason: step.damage.message };
      return { kind: 'archive', failure };
    }
    if (await isInterrupted(deps)) return { kind: 'interrupted' };
  }
  return null;
}

async function mergeSources(
  deps: MergeDeps,
  sources: readonly OpenSource[],
): Promise<Result<ArchiveMergeReport, Failure>> {
  for (const source of sources) {
    const failure = await findDamage(deps, source);
    if (failure !== null) return err(failure);
  }
  const archive = await openSettled(deps, 'create');
  if (archive === null || archive.isReadOnly) return err(readOnly(deps.archivePath));
  const target = await deps.exchange.openTarget(deps.archivePath);
  if (!target.ok) return err({ kind: 'archive', failure: target.error });
  const { store } = target.value;
  try {
    const knownReceipts = await storeReceipts(deps, store, sources);
    if (!knownReceipts.ok) return knownReceipts;
    const merged: MergedArchive[] = [];
    for (const source of sources) {
      const done = await mergeOne(deps, { store, source, knownReceipts: knownReceipts.value });
      if (done === null) return err({ kind: 'interrupted' });
      merged.push(done);
      const receipts = (await source.reader.receipts()).map(({ receipt }) => receipt);
      await store.finishReceipts(receipts);
      for (const receipt of receipts) knownReceipts.value.add(receipt);
    }
    return ok(reportOf(deps, merged));
  } finally {
    await target.value.close();
  }
}

const MAX_COMPARISONS = 5;

/**
 * Checks that no archive has what another one has erased; then stores the receipts of all sources, and their hashes of erased captured files.
 * If another program changed the target meanwhile, it checks again. Gives the receipts that the target had before.
 */
async function storeReceipts(
  deps: MergeDeps,
  store: UnitStore,
  sources: readonly OpenSource[],
): Promise<Result<Set<string>, Failure>> {
  for (let count = 0; count < MAX_COMPARISONS; count += 1) {
    const stamp = await store.stamp();
    const known = new Set((await store.receipts()).map(({ receipt }) => receipt));
    const failure = await findErased(deps, [{ path: deps.archivePath, reader: store }, ...sources]);
    if (failure !== null) return err(failure);
    const receipts: Receipt[] = [];
    for (const { reader } of sources) receipts.push(...(await reader.receipts()));
    const missing = receipts.filter(({ receipt }) => !known.has(receipt));
    if (
      await store.storeReceipts(
        missing,
        sources.map(({ reader }) => reader.erasedStates()),
        stamp,
      )
    )
      return ok(known);
  }
  return err({ kind: 'archive', failure: { kind: 'busy', path: deps.archivePath } });
}

type Side = { readonly path: string; readonly reader: UnitReader };

/** Null: none of these archives, the target first, has what another one has erased. */
async function findErased(deps: MergeDeps, sides: readonly Side[]): Promise<Failure | null> {
  const [target, ...sources] = sides;
  const named = new Set<string>();
  for (const { reader } of sources) for (const { receipt } of await reader.receipts()) named.add(receipt);
  for (const side of sides)
    for (const receipt of await side.reader.unfinishedReceipts())
      if (side !== target || !named.has(receipt)) return refuseUnfinished(side.path);
  for (const from of sides)
    for (const to of sides) {
      if (from === to) continue;
      // The target keeps what others have pruned, and prunes for itself. Of two others, the order would decide.
      const withPruned = from !== target && to !== target;
      const conflict = await findConflict(from.reader, to.reader, {
        withPruned,
        comparedElsewhere: from === target ? named : new Set(),
      });
      if (conflict !== null) return refuseErased(from.path, to.path, conflict);
      if (await isInterrupted(deps)) return { kind: 'interrupted' };
    }
  return null;
}

/** Of such an archive nobody knows yet what the erasures removed. */
function refuseUnfinished(path: string): Failure {
  const reason = 'nothing was merged, because another merge into this archive is at work, or was interrupted';
  const advice = 'Wait for it, or run it again.';
  return { kind: 'archive', failure: { kind: 'unsupported', path, reason, advice } };
}

function refuseErased(from: string, to: string, { compactions, lines, capturedFiles }: Conflict): Failure {
  const counts = [
    `${compactions} ${compactions === 1 ? 'compaction' : 'compactions'}`,
    `${lines} ${lines === 1 ? 'line' : 'lines'}`,
    describeFiles(capturedFiles),
  ].filter((part) => !part.startsWith('0 '));
  const reason = `nothing was merged, because ${from} has erased what this archive has, or may have: ${counts.join(', ')}`;
  const advice = 'Erase it here too, or merge without one of them.';
  return { kind: 'archive', failure: { kind: 'unsupported', path: to, reason, advice } };
}

const MAX_NAMED = 3;

function describeFiles(files: ReadonlySet<string>): string {
  const named = [...files].slice(0, MAX_NAMED).join(', ') + (files.size > MAX_NAMED ? ', …' : '');
  return `${files.size} ${files.size === 1 ? 'captured file' : 'captured files'} (${named})`;
}

function reportOf({ archivePath }: MergeDeps, merged: readonly MergedArchive[]): ArchiveMergeReport {
  const isNew = merged.some((one) =>
    [one.compactions, one.captured, one.holds, one.droppedRules, one.receipts, one.summaries, one.vectors].some(
      (count) => count.new > 0,
    ),
  );
  return {
    schema: 'compact/archive-merge@1',
    archive: archivePath,
    result: isNew ? 'merged' : 'unchanged',
    merged,
  };
}
