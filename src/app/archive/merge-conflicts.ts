import { sessionIdOf } from '../../core/session-id.ts';
import type { Receipt, Unit, UnitReader } from '../../ports/exchange.ts';

/** What one archive has erased, and another one still has. */
export type Conflict = {
  readonly compactions: number;
  readonly lines: number;
  /** Captured files that have something of it, or may have: an erasure keeps no hash of a captured file. */
  readonly capturedFiles: number;
};

type Erased = {
  /** Receipts of erasures, without those of prune. */
  readonly erasures: readonly Receipt[];
  readonly touched: ReadonlyMap<string, { readonly id: number; readonly unit: Unit }>;
  /** Of whole compactions: hashes of their originals and outputs, their paths, and session ids. */
  readonly contents: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
  readonly sessions: ReadonlySet<string>;
  /** Of single lines. */
  readonly hashes: ReadonlySet<string>;
  readonly capturedHashes: ReadonlySet<string>;
};

/**
 * Finds what `from` has erased and `to` still has; null: nothing. A known receipt proves nothing, because a merge may have been killed after it
 * was stored. Ids of conversations count only if they are session ids: others are made from the first message, which transcripts may share.
 * `withPruned`: also compactions that `from` has pruned.
 */
export async function findConflict(
  from: UnitReader,
  to: UnitReader,
  { withPruned }: { readonly withPruned: boolean },
): Promise<Conflict | null> {
  const erased = await readErased(from, withPruned);
  if (erased.touched.size === 0 && erased.erasures.length === 0) return null;
  const compactions = new Set<number>();
  const own = new Set<number>();
  let lines = 0;
  for await (const { id, unit } of to.units()) {
    const theirs = erased.touched.get(unit.key);
    if (theirs !== undefined) {
      if (hasMoreSummaries(unit, theirs.unit)) compactions.add(id);
      else if (!unit.isErased) lines += await countLeft({ from, to }, { fromId: theirs.id, toId: id });
    } else if ((await from.findUnit(unit.key)) === null) {
      own.add(id);
      if (!unit.isErased && isSameText(unit, erased)) compactions.add(id);
    }
  }
  if (erased.hashes.size > 0)
    for await (const page of to.lineHashes())
      lines += page.filter(({ unitId, sha256 }) => own.has(unitId) && erased.hashes.has(sha256)).length;
  const capturedFiles = (await findCaptures(from, to, erased)).size;
  const conflict = { compactions: compactions.size, lines, capturedFiles };
  return Object.values(conflict).every((count) => count === 0) ? null : conflict;
}

async function readErased(from: UnitReader, withPruned: boolean): Promise<Erased> {
  const receipts = await from.receipts();
  const erasures = receipts.filter(isErase);
  const names = new Set(erasures.map(({ receipt }) => receipt));
  const touched = new Map<string, { readonly id: number; readonly unit: Unit }>();
  const [contents, paths, sessions] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const [hashes, capturedHashes] = [new Set<string>(), new Set<string>()];
  if (receipts.length > 0)
    for await (const found of from.units({ touchedOnly: true })) {
      const { unit } = found;
      const isErasure = names.has(unit.receipt ?? '');
      if (isErasure || (withPruned && unit.isErased)) touched.set(unit.key, found);
      if (!isErasure || !unit.isErased) continue;
      for (const sha256 of [unit.source.sha256, unit.output.sha256]) contents.add(sha256);
      for (const { sourcePath, outputPath } of [unit, ...unit.files])
        for (const path of [sourcePath, outputPath]) if (path !== null) paths.add(path);
      for (const { conversationId } of unit.cycles)
        if (isSessionId(conversationId)) sessions.add(conversationId.toLowerCase());
    }
  for (const receipt of names)
    for (const kind of ['archived', 'captured'] as const)
      for await (const page of from.erasedHashes(kind, receipt))
        for (const sha256 of page) {
          if (kind === 'archived') hashes.add(sha256);
          // If the archive still has the line elsewhere, the erasure kept it on purpose.
          if (!(await from.hasCaptured(sha256))) capturedHashes.add(sha256);
        }
  return { erasures, touched, contents, paths, sessions, hashes, capturedHashes };
}

function isSessionId(conversationId: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(conversationId);
}

/** Whether a compaction that the other archive does not have is of a transcript that was erased there whole. */
function isSameText(unit: Unit, { contents, paths, sessions, touched, erasures }: Erased): boolean {
  const isOlder = erasures.some(({ atMs }) => unit.createdAtMs <= atMs);
  return (
    contents.has(unit.source.sha256) ||
    (isOlder && paths.has(unit.sourcePath)) ||
    unit.cycles.some(
      ({ parent, conversationId, batches }) =>
        sessions.has(conversationId.toLowerCase()) ||
        (parent !== null &&
          !batches.every(isErasedBatch) &&
          touched.get(parent.unit)?.unit.cycles[parent.cycle]?.batches.some(isErasedBatch) === true),
    )
  );
}

function isErasedBatch({ content }: Unit['cycles'][number]['batches'][number]): boolean {
  return content === '';
}

/** Whether a compaction has summaries that the same one in the other archive has lost. */
function hasMoreSummaries(unit: Unit, theirs: Unit): boolean {
  if (theirs.isErased) return !unit.isErased;
  return theirs.cycles.some(({ batches }, at) =>
    batches.some((batch, position) => {
      const own = unit.cycles[at]?.batches[position];
      return isErasedBatch(batch) && own !== undefined && !isErasedBatch(own);
    }),
  );
}

/** How many lines the same compaction has lost in one archive only. */
async function countLeft(
  { from, to }: { readonly from: UnitReader; readonly to: UnitReader },
  { fromId, toId }: { readonly fromId: number; readonly toId: number },
): Promise<number> {
  const lost = new Set<number>();
  for await (const page of from.lines(fromId))
    for (const { line, receipt } of page) if (receipt !== null) lost.add(line);
  let left = 0;
  if (lost.size > 0)
    for await (const page of to.lines(toId))
      left += page.filter(({ line, receipt }) => receipt === null && lost.has(line)).length;
  return left;
}

async function findCaptures(from: UnitReader, to: UnitReader, erased: Erased): Promise<ReadonlySet<string>> {
  const { erasures, contents, paths, sessions, capturedHashes } = erased;
  const found = new Set<string>();
  const lastMs = Math.max(...erasures.map(({ atMs }) => atMs));
  const lastOfFilesMs = Math.max(...erasures.flatMap((one) => (reportOf(one).capturedFiles > 0 ? one.atMs : [])));
  for await (const { path, states } of to.captures()) {
    const isBefore = (limitMs: number): boolean => states.some(({ capturedAtMs }) => capturedAtMs <= limitMs);
    const isKnown =
      paths.has(path) ||
      sessions.has(sessionIdOf(path)?.toLowerCase() ?? '') ||
      states.some(({ sha256 }) => contents.has(sha256));
    if (isBefore(lastOfFilesMs) || (isKnown && isBefore(lastMs))) {
      const kept = (await from.findCapture(path))?.states ?? [];
      if (!kept.some(({ capturedAtMs }) => capturedAtMs <= lastMs)) found.add(path);
    }
    if (capturedHashes.size === 0 || found.has(path)) continue;
    for (const state of states)
      for await (const pieces of to.pieces(path, state))
        if (pieces.some(({ receipt, sha256 }) => receipt === null && capturedHashes.has(sha256))) found.add(path);
  }
  return found;
}

export function isErase(receipt: Pick<Receipt, 'report'>): boolean {
  return reportOf(receipt).kind === 'erase';
}

/** Checked where receipts are read. */
function reportOf({ report }: Pick<Receipt, 'report'>): { readonly kind: string; readonly capturedFiles: number } {
  return JSON.parse(report) as { readonly kind: string; readonly capturedFiles: number };
}
