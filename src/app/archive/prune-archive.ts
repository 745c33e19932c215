import { createIndexSets } from '../../core/tool-groups.ts';
import type { Result } from '../../core/result.ts';
import type { ArchiveFigures } from '../../ports/archive-lookup.ts';
import type { Archive } from '../../ports/archive.ts';
import type { Hold, ErasableCompaction } from '../../ports/retention.ts';
import type { Failure } from '../contract/failure.ts';
import type { ArchiveEraseReport } from '../contract/archive-reports.ts';
import { type EraseDeps, eraseSelection, reportSelection, withHolds } from './erase-archived.ts';
import { holdsOn, isIn, listCaptured, type LocatedFile, scopeOf, scopeOfFile } from './holds.ts';
import { type Selection, wholePart } from './select.ts';

export type PruneRequest = {
  /** Conversations that were last archived before this are removed; null: age does not matter. */
  readonly before: Date | null;
  /** The oldest are removed until the archive takes about this many bytes; null: size does not matter. */
  readonly maxBytes: number | null;
  /** The newest conversations that stay in any case. */
  readonly keepLast: number;
  /** Only transcripts whose path, or a folder above it, matches this glob; null: all. */
  readonly project: string | null;
  /** False: only report what would go. */
  readonly isConfirmed: boolean;
};

/** Everything of a conversation: compactions that share an id or continue each other, and the captures of their files. */
type Conversation = {
  readonly compactions: readonly ErasableCompaction[];
  readonly captured: readonly LocatedFile[];
};

/** Removes whole conversations by a policy, the oldest first. What a hold protects stays. */
export async function pruneArchive(
  deps: EraseDeps,
  request: PruneRequest,
): Promise<Result<ArchiveEraseReport, Failure>> {
  return withHolds(deps, { kind: 'prune', isConfirmed: request.isConfirmed }, async (archive, holds) => {
    const lastFileId = await archive.retention.lastFileId();
    const all = await findConversations(deps, archive);
    const [{ captured }, usedBytes] = [await archive.measure(), await archive.usedBytes()];
    const chosen = choose(all, { policy: request, holds, captured, usedBytes });
    const selection = toSelection(all, chosen, lastFileId);
    // Stored model answers do not say which project they belong to.
    const paidBefore = request.project === null ? request.before : null;
    const planned = reportSelection(deps, selection, { kind: 'prune', paidBefore });
    if (planned.result === 'nothing' || !request.isConfirmed) return planned;
    const paid = paidBefore === null ? 'none' : { before: paidBefore };
    const aside = { notes: 0, choices: 0 };
    const plan = { kind: 'prune', at: deps.runtime.now(), reason: null, despiteHold: false, paid, aside } as const;
    return eraseSelection(deps, archive, { selection, holds, plan, planned });
  });
}

async function findConversations(deps: EraseDeps, archive: Archive): Promise<readonly Conversation[]> {
  const compactions: ErasableCompaction[] = [];
  for await (const batch of archive.retention.listErasable()) compactions.push(...batch);
  const captured = await listCaptured(deps, archive);
  // A subagent's file has the id of its session in its records, so it goes with it.
  const keys = [...compactions.map(keysOf), ...captured.map((file) => keysIn(scopeOfFile(file)))];
  const sets = createIndexSets(keys.length);
  const firstByKey = new Map<string, number>();
  for (const [index, own] of keys.entries()) {
    for (const key of own) {
      const first = firstByKey.get(key);
      if (first === undefined) firstByKey.set(key, index);
      else sets.join(first, index);
    }
  }
  return Array.from(Map.groupBy(keys.keys(), sets.firstOf).values(), (members) => ({
    compactions: members.flatMap((index) => compactions[index] ?? []),
    captured: members.flatMap((index) => captured[index - compactions.length] ?? []),
  }));
}

function keysIn({ conversations, paths }: ReturnType<typeof scopeOf>): readonly string[] {
  return [...paths.map((path) => `path ${path}`), ...conversations.map((id) => `conversation ${id}`)];
}

function keysOf(compaction: ErasableCompaction): readonly string[] {
  const ids = compaction.cycles.flatMap(({ id, parentId }) => [id, parentId ?? id]);
  return [...keysIn(scopeOf(compaction)), ...ids.map((id) => `cycle ${id}`)];
}

function newestOf({ compactions, captured }: Conversation): number {
  const times = [...compactions.map(({ archivedAt }) => archivedAt), ...captured.map(({ last }) => last.capturedAt)];
  return Math.max(...times.map((time) => time.getTime()));
}

function scopesOf({ compactions, captured }: Conversation): ReturnType<typeof scopeOf> {
  const scopes = [...compactions.map(scopeOf), ...captured.map(scopeOfFile)];
  return {
    conversations: scopes.flatMap(({ conversations }) => conversations),
    paths: scopes.flatMap(({ paths }) => paths),
  };
}

type Choice = { readonly chosen: readonly Conversation[]; readonly holds: readonly Hold[] };

type Choosing = Pick<ArchiveFigures, 'captured'> & {
  readonly policy: PruneRequest;
  readonly holds: readonly Hold[];
  /** Of the archive, without the log and free space. */
  readonly usedBytes: number;
};

function choose(all: readonly Conversation[], { policy, holds, captured, usedBytes }: Choosing): Choice {
  const { before, maxBytes, keepLast, project } = policy;
  const newestFirst = all
    .filter((one) => project === null || scopesOf(one).paths.some((path) => isIn(path, project)))
    .toSorted((a, b) => newestOf(b) - newestOf(a));
  const sizeOf = createEstimate(all, { captured, usedBytes });
  let leftBytes = usedBytes;
  const chosen: Conversation[] = [];
  const held = new Set<Hold>();
  for (const one of newestFirst.slice(keepLast).toReversed()) {
    const isOld = before !== null && newestOf(one) < before.getTime();
    if (!isOld && (maxBytes === null || leftBytes <= maxBytes)) continue;
    const own = holdsOn(holds, scopesOf(one));
    for (const hold of own) held.add(hold);
    if (own.length > 0) continue;
    chosen.push(one);
    leftBytes -= sizeOf(one);
  }
  return { chosen, holds: [...held] };
}

/** A conversation's share of the archive's file: indexes grow with what they lead to. */
function createEstimate(
  all: readonly Conversation[],
  { usedBytes, captured }: Pick<Choosing, 'captured' | 'usedBytes'>,
): (one: Conversation) => number {
  const share = captured.bytes.original === 0 ? 0 : captured.bytes.compressed / captured.bytes.original;
  const stored = (one: Conversation): number =>
    one.compactions.reduce((sum, { storedBytes }) => sum + storedBytes, 0) +
    one.captured.reduce((sum, { last }) => sum + last.sizeBytes * share, 0);
  const total = all.reduce((sum, one) => sum + stored(one), 0);
  return (one) => (total === 0 ? 0 : (stored(one) / total) * usedBytes);
}

function toSelection(all: readonly Conversation[], { chosen, holds }: Choice, lastFileId: number): Selection {
  const kept = all.flatMap(({ compactions }) => compactions.map(({ id }) => id)).toSorted((a, b) => b - a);
  return {
    parts: chosen.flatMap(({ compactions }) => compactions).map(wholePart),
    cycleIds: [],
    capturedFiles: chosen.flatMap(({ captured }) => captured),
    capturedLineIds: [],
    touchedPaths: [],
    takesCopies: false,
    holds,
    kept: { count: kept.length, lastId: kept[0] ?? 0, lastFileId },
    unsearched: 0,
    isEverything: chosen.length > 0 && chosen.length === all.length,
  };
}
