import { sessionIdOf } from '../../core/paths.ts';
import type { ExchangedCapture, Receipt, Unit, UnitKey, UnitReader } from '../../ports/exchange.ts';

/** What one archive has erased, and another one still has. */
export type Conflict = {
  readonly compactions: number;
  /** If many were erased, at least so many. */
  readonly lines: number;
  /** Paths of captured files that have something of it. */
  readonly capturedFiles: ReadonlySet<string>;
};

type Erased = {
  /** By receipt: when it was erased. Without prunes. */
  readonly erasures: ReadonlyMap<string, number>;
  /** The same of prunes that count. */
  readonly prunes: ReadonlyMap<string, number>;
  /** The ids of compactions that were erased in whole or in part. */
  readonly touched: ReadonlyMap<UnitKey, number>;
  /** Of whole compactions: hashes of their originals and outputs, their paths, and session ids, with the time of the last erasure. */
  readonly gone: ReadonlyMap<string, number>;
  /** Receipts of erasures, without prunes, that the other archive knows. */
  readonly known: ReadonlySet<string>;
  /** As in the options of `findConflict`. */
  readonly comparedElsewhere: ReadonlySet<string>;
};

type Sides = { readonly from: UnitReader; readonly to: UnitReader; readonly erased: Erased };

/**
 * Finds what `from` has erased and `to` still has; null: nothing. A known receipt proves nothing, because a merge may have been killed after it
 * was stored. Ids of conversations count only if they are session ids: others are made from the first message, which transcripts may share.
 * What an unfinished merge brought to `from` counts for nothing where `to` knows the receipt. Erased lines are compared a part at a time, so
 * memory is bounded.
 */
export async function findConflict(
  from: UnitReader,
  to: UnitReader,
  options: {
    /** Also what `from` has pruned. */
    readonly withPruned: boolean;
    /** Receipts whose erased captured states another archive has too, which is compared with `to` as well. */
    readonly comparedElsewhere: ReadonlySet<string>;
  },
): Promise<Conflict | null> {
  const erased = await readErased(from, to, options);
  if (erased.erasures.size === 0 && erased.prunes.size === 0) return null;
  const sides = { from, to, erased };
  const { compactions, own, ...counted } = await findCompactions(sides);
  const lines = counted.lines + (await countErasedLines(sides, own));
  const capturedFiles = new Set([...(await findCaptures(sides)), ...(await findCapturedLines(sides))]);
  return compactions + lines + capturedFiles.size === 0 ? null : { compactions, lines, capturedFiles };
}

async function readErased(
  from: UnitReader,
  to: UnitReader,
  { withPruned, comparedElsewhere }: Parameters<typeof findConflict>[2],
): Promise<Erased> {
  const [erasures, prunes] = [new Map<string, number>(), new Map<string, number>()];
  const known = new Set((await to.receipts()).flatMap((one) => (isErase(one) ? [one.receipt] : [])));
  const unfinished = await from.unfinishedReceipts();
  for (const one of await from.receipts())
    if (unfinished.has(one.receipt) && known.has(one.receipt)) continue;
    else if (isErase(one)) erasures.set(one.receipt, one.atMs);
    else if (withPruned) prunes.set(one.receipt, one.atMs);
  const touched = new Map<UnitKey, number>();
  const gone = new Map<string, number>();
  if (erasures.size + prunes.size > 0)
    for await (const { id, unit } of from.units({ touchedOnly: true })) {
      const atMs = erasures.get(unit.receipt ?? '');
      if (atMs !== undefined || (withPruned && unit.isErased)) touched.set(unit.key, id);
      if (atMs === undefined || !unit.isErased) continue;
      const paths = [unit, ...unit.files].flatMap(({ sourcePath, outputPath }) => [
        sourcePath,
        outputPath ?? sourcePath,
      ]);
      for (const name of [unit.source.sha256, unit.output.sha256, ...paths, ...sessionsOf(unit)])
        gone.set(name, Math.max(atMs, gone.get(name) ?? 0));
    }
  return { erasures, prunes, touched, gone, known, comparedElsewhere };
}

function sessionsOf({ cycles }: Unit): readonly string[] {
  const ids = cycles.map(({ conversationId }) => conversationId.toLowerCase());
  return ids.filter((id) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id));
}

/** `own`: the ids of compactions that only `to` has. */
async function findCompactions(
  sides: Sides,
): Promise<Pick<Conflict, 'compactions' | 'lines'> & { readonly own: ReadonlySet<number> }> {
  const { from, to, erased } = sides;
  const own = new Set<number>();
  let [compactions, lines] = [0, 0];
  for await (const { id, unit } of to.units()) {
    const fromId = erased.touched.get(unit.key);
    if (fromId !== undefined) {
      if (hasMoreSummaries(unit, await from.loadUnit(fromId))) compactions += 1;
      else if (!unit.isErased) lines += await countLeft(sides, { fromId, toId: id });
    } else if ((await from.findUnit(unit.key)) === null) {
      own.add(id);
      if (!unit.isErased && (await isSameText(unit, sides))) compactions += 1;
    }
  }
  return { compactions, lines, own };
}

/** Whether a compaction that the other archive does not have is of a transcript that was erased there whole. */
async function isSameText(unit: Unit, { from, erased }: Sides): Promise<boolean> {
  const { gone, erasures } = erased;
  const isOlder = [...erasures.values()].some((atMs) => unit.createdAtMs <= atMs);
  if (gone.has(unit.source.sha256) || (isOlder && gone.has(unit.sourcePath))) return true;
  if (sessionsOf(unit).some((id) => gone.has(id))) return true;
  const states = await from.findErasedStates({ sha256: unit.source.sha256, originSha256: null });
  if (states.some(({ receipt }) => erasures.has(receipt)) && !(await from.hasState(unit.source.sha256))) return true;
  for (const { parent, batches } of unit.cycles) {
    const parentId = parent === null ? undefined : erased.touched.get(parent.unit);
    if (parent === null || parentId === undefined || batches.every(isErasedBatch)) continue;
    if ((await from.loadUnit(parentId)).cycles[parent.cycle]?.batches.some(isErasedBatch) === true) return true;
  }
  return false;
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
async function countLeft({ from, to }: Sides, { fromId, toId }: { fromId: number; toId: number }) {
  const lost = new Set<number>();
  for await (const { lines } of from.lines(fromId))
    for (const { line, receipt } of lines) if (receipt !== null) lost.add(line);
  let left = 0;
  if (lost.size > 0)
    for await (const { lines } of to.lines(toId))
      left += lines.filter(({ line, receipt }) => receipt === null && lost.has(line)).length;
  return left;
}

/** How many hashes are compared at once: about 20 MB of memory. For each such part, the hashes of the other archive are read again. */
const MAX_HASHES = 100_000;

/** Counts erased lines among compactions that only `to` has. */
async function countErasedLines({ from, to, erased }: Sides, own: ReadonlySet<number>): Promise<number> {
  const count = async (hashes: ReadonlySet<string>): Promise<number> => {
    let lines = 0;
    if (hashes.size > 0 && own.size > 0)
      for await (const page of to.lineHashes())
        lines += page.filter(({ unitId, sha256 }) => own.has(unitId) && hashes.has(sha256)).length;
    return lines;
  };
  let hashes = new Set<string>();
  for await (const { kind, page, gone } of listErasedHashes(from, erased)) {
    for (const sha256 of kind === 'archived' ? page : gone) hashes.add(sha256);
    if (hashes.size < MAX_HASHES) continue;
    const lines = await count(hashes);
    if (lines > 0) return lines;
    hashes = new Set();
  }
  return count(hashes);
}

/** Captured files with single lines that were erased. If there are many such lines, not all of the files. */
async function findCapturedLines({ from, to, erased }: Sides): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const { gone } of listErasedHashes(from, erased)) {
    for (const sha256 of await to.findLines(gone)) for (const path of await to.filesWith(sha256)) found.add(path);
    if (found.size > 0) return found;
  }
  return found;
}

type ErasedHashes = {
  readonly kind: 'archived' | 'captured';
  readonly page: readonly string[];
  /** The lines of the page that no captured file has any more. The erasure kept the others on purpose. */
  readonly gone: readonly string[];
};

async function* listErasedHashes(from: UnitReader, { erasures }: Erased): AsyncGenerator<ErasedHashes> {
  for (const receipt of erasures.keys())
    for (const kind of ['archived', 'captured'] as const)
      for await (const page of from.erasedHashes(kind, receipt)) {
        const kept = await from.findLines(page);
        yield { kind, page, gone: page.filter((one) => !kept.has(one)) };
      }
}

/** Captured files that were erased, or whose transcripts were. */
async function findCaptures(sides: Sides): Promise<ReadonlySet<string>> {
  const { from, to, erased } = sides;
  const found = new Set<string>();
  let hasStates = false;
  for await (const page of from.erasedStates()) {
    hasStates = page.length > 0;
    break;
  }
  for await (const capture of to.captures()) {
    const { path, sessions, states } = capture;
    // A file goes with its conversation if all of its conversations were erased.
    const sessionTimes = sessions.map((id) => erased.gone.get(id.toLowerCase()) ?? Number.NEGATIVE_INFINITY);
    const erasedAtMs = Math.max(
      ...[
        erased.gone.get(path),
        erased.gone.get(sessionIdOf(path)?.toLowerCase() ?? ''),
        ...(sessionTimes.length === 0 ? [] : [Math.min(...sessionTimes)]),
        ...states.map(({ sha256 }) => erased.gone.get(sha256)),
      ].map((atMs) => atMs ?? Number.NEGATIVE_INFINITY),
    );
    const older = states.filter(({ capturedAt }) => capturedAt.getTime() <= erasedAtMs);
    if (older.length > 0) {
      const kept = await hashesOf(from, path);
      if (older.some(({ sha256 }) => !kept.has(sha256))) found.add(path);
    }
    if (hasStates && !found.has(path) && (await hasErasedState(capture, sides))) found.add(path);
  }
  return found;
}

async function hashesOf(reader: UnitReader, path: string): Promise<ReadonlySet<string>> {
  return new Set(((await reader.findCapture(path))?.states ?? []).map(({ sha256 }) => sha256));
}

/**
 * Whether a file has a state that was erased, or a longer or shorter one of the same file. What `from` has again counts as kept, and what `to` has
 * captured since the erasure, or the prune, as new if it knows of it.
 */
async function hasErasedState({ path, states }: ExchangedCapture, sides: Sides): Promise<boolean> {
  const { from, to, erased } = sides;
  const kept = await hashesOf(from, path);
  for (const { version, sha256, capturedAt } of states) {
    if (kept.has(sha256)) continue;
    const capturedAtMs = capturedAt.getTime();
    const originSha256 = await to.originOf(path, version);
    for (const state of await from.findErasedStates({ sha256, originSha256 })) {
      const { receipt } = state;
      const isSamePath = state.originSha256 === originSha256;
      const prunedAtMs = erased.prunes.get(receipt);
      if (prunedAtMs !== undefined && isSamePath && state.sha256 === sha256 && capturedAtMs <= prunedAtMs) return true;
      const erasedAtMs = erased.erasures.get(receipt);
      if (erasedAtMs === undefined || erased.comparedElsewhere.has(receipt)) continue;
      if (!isSamePath && (erased.known.has(receipt) || (await from.hasState(sha256)))) continue; // kept at another path
      const isNew = capturedAtMs > erasedAtMs && (await hasErasedOrigin(originSha256, sides));
      if (!isNew) return true;
    }
  }
  return false;
}

/** Whether `to` has erased the file too, or knows of the erasure. */
async function hasErasedOrigin(originSha256: string | null, { to, erased }: Sides): Promise<boolean> {
  if (originSha256 === null) return false;
  const states = await to.findErasedStates({ sha256: originSha256, originSha256 });
  return states.some(({ receipt }) => erased.known.has(receipt));
}

export function isErase({ report }: Pick<Receipt, 'report'>): boolean {
  const { kind } = JSON.parse(report) as { readonly kind: string }; // checked where receipts are read
  return kind === 'erase';
}
