import { matchesGlob } from '../../core/glob.ts';
import type { Archive, StoredCompaction } from '../../ports/archive.ts';
import type { CapturedFile } from '../../ports/captures.ts';
import type { ErasedIds, Hold, HoldScope, ErasableCompaction, KeptCount } from '../../ports/retention.ts';
import { type AppDeps, isInterrupted } from '../contract/deps.ts';
import { holdsOn } from './holds.ts';
import { type CapturedMatches, matchCaptured } from './match-captured.ts';
import { belongsTo, findLinesOf, isWhollyOf } from './sessions.ts';
import { createTextFinder, type TextFinder } from './text-finder.ts';

/** What to erase. */
export type EraseSelector =
  | { readonly kind: 'conversation'; readonly id: string }
  /** A glob for the paths of transcripts. */
  | { readonly kind: 'source'; readonly glob: string }
  /** Every line that contains this text. */
  | { readonly kind: 'match'; readonly text: string }
  /** Every line of a message. */
  | { readonly kind: 'message'; readonly id: string };

/** A compaction with lines to erase. `lineIds`: null means all of them. */
export type SelectedPart = {
  readonly compaction: ErasableCompaction;
  readonly conversations: readonly string[];
  readonly lineIds: readonly number[] | null;
  readonly bytes: number;
};

export type Selection = {
  readonly parts: readonly SelectedPart[];
  /** Cycles whose summaries contain the text. */
  readonly cycleIds: readonly number[];
  readonly capturedFiles: readonly CapturedFile[];
  readonly capturedLineIds: readonly number[];
  /** The captured files that lose lines. */
  readonly touchedPaths: readonly string[];
  /** Captured lines with the same bytes as a selected line are erased too. */
  readonly takesCopies: boolean;
  readonly holds: readonly Hold[];
  /** Every compaction that was looked at. */
  readonly kept: KeptCount;
  /** The number of captured files that could not be searched completely. */
  readonly unsearched: number;
  /** Nothing else is in the archive. */
  readonly isEverything: boolean;
};

/** Finds what a selector matches, reading one compaction at a time. Null: the work was interrupted. */
export async function planErasure(
  deps: Pick<AppDeps, 'files' | 'formats' | 'runtime' | 'signal' | 'progress'>,
  {
    archive,
    selector,
    holds,
  }: { readonly archive: Archive; readonly selector: EraseSelector; readonly holds: readonly Hold[] },
): Promise<Selection | null> {
  const finder = selector.kind === 'match' ? createTextFinder(selector.text) : null;
  const messageLines =
    selector.kind === 'message'
      ? Map.groupBy(await archive.retention.findMessageLines(selector.id), ({ compactionId }) => compactionId)
      : new Map();
  const lastFileId = await archive.retention.lastFileId();
  const parts: SelectedPart[] = [];
  const cycleIds: number[] = [];
  let count = 0;
  let lastId = 0;
  for await (const batch of archive.retention.listErasable()) {
    for (const compaction of batch) {
      if (await isInterrupted(deps)) return null;
      count += 1;
      lastId = compaction.id;
      deps.progress.update('searching the archive', count, count);
      if (selector.kind === 'source') {
        if (holdsPath(compaction, selector.glob)) parts.push(wholePart(compaction));
      } else if (selector.kind === 'conversation') {
        parts.push(...(await selectConversation(archive, compaction, selector.id)));
      } else if (selector.kind === 'message') {
        const lines = messageLines.get(compaction.id) ?? [];
        if (lines.length > 0)
          parts.push(toPart(compaction, [...lines, ...(await selectPacked(deps, archive, { compaction, lines }))]));
      } else if (finder !== null) {
        parts.push(...(await selectMatches(deps, archive, { compaction, finder })));
        const stored = await archive.loadCompaction(compaction.id);
        if (stored !== null) cycleIds.push(...findSummaries(stored, finder));
      }
    }
  }
  const all = await archive.captures.list();
  const capturedFiles = selectCapturedFiles(all, selector, parts);
  const matches =
    finder === null
      ? await selectCapturedLines(deps, archive, { files: all.filter((one) => !capturedFiles.includes(one)), selector })
      : await matchCaptured(deps, archive, finder);
  if (matches === null) return null;
  const takesCopies = selector.kind === 'match' || selector.kind === 'message';
  const selection = { parts, cycleIds, capturedFiles, capturedLineIds: matches.lineIds, takesCopies };
  return {
    ...selection,
    holds: await findHolds(archive, { holds, ids: idsOf(selection), captured: all }),
    touchedPaths: matches.paths,
    kept: { count, lastId, lastFileId },
    unsearched: selector.kind === 'message' ? all.length : matches.unsearched,
    isEverything:
      parts.length === count &&
      count > 0 &&
      parts.every(({ lineIds }) => lineIds === null) &&
      capturedFiles.length === all.length,
  };
}

function holdsPath({ paths }: ErasableCompaction, glob: string): boolean {
  return paths.some((path) => matchesGlob(path, glob));
}

export function wholePart(compaction: ErasableCompaction): SelectedPart {
  const conversations = [...new Set(compaction.cycles.map(({ conversationId }) => conversationId))];
  return { compaction, conversations, lineIds: null, bytes: compaction.bytes };
}

type Line = { readonly lineId: number; readonly conversationId: string | null; readonly sizeBytes: number };

function toPart(compaction: ErasableCompaction, lines: readonly Line[]): SelectedPart {
  const conversations = new Set(lines.flatMap(({ conversationId }) => conversationId ?? []));
  return {
    compaction,
    conversations: [...conversations],
    lineIds: lines.map(({ lineId }) => lineId),
    bytes: lines.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  };
}

async function selectConversation(
  archive: Archive,
  compaction: ErasableCompaction,
  conversationId: string,
): Promise<readonly SelectedPart[]> {
  const own = new Set(compaction.cycles.flatMap((cycle) => (cycle.conversationId === conversationId ? cycle.id : [])));
  if (own.size === 0) return [];
  if (own.size === compaction.cycles.length) return [wholePart(compaction)];
  const lines = await findLines(archive, compaction, ({ cycleId }) => cycleId !== null && own.has(cycleId));
  return lines.length === 0 ? [] : [toPart(compaction, lines)];
}

async function selectMatches(
  { files }: Pick<AppDeps, 'files'>,
  archive: Archive,
  { compaction, finder }: { readonly compaction: ErasableCompaction; readonly finder: TextFinder },
): Promise<readonly SelectedPart[]> {
  const lines = await findLines(archive, compaction, async ({ bytes }) => {
    if (finder.isIn(bytes)) return true;
    const unpacked = mayBePacked(compaction) ? await files.unpackRecord(bytes) : null;
    return unpacked !== null && finder.isIn(unpacked);
  });
  return lines.length === 0 ? [] : [toPart(compaction, lines)];
}

/** Only logs of Inspect AI repeat conversations compressed; elsewhere a line that looks like it is anybody's text. */
const mayBePacked = ({ format }: ErasableCompaction): boolean => format === 'inspect';

/** The lines that repeat, compressed, the conversations of these lines. */
async function selectPacked(
  { files }: Pick<AppDeps, 'files'>,
  archive: Archive,
  { compaction, lines }: { readonly compaction: ErasableCompaction; readonly lines: readonly Line[] },
): Promise<readonly Line[]> {
  if (!mayBePacked(compaction)) return [];
  const conversations = new Set(lines.map(({ conversationId }) => conversationId));
  const packed = await findLines(archive, compaction, async ({ bytes }) => (await files.unpackRecord(bytes)) !== null);
  return packed.filter(({ conversationId }) => conversationId === null || conversations.has(conversationId));
}

async function findLines(
  archive: Archive,
  compaction: ErasableCompaction,
  isSelected: (line: { readonly cycleId: number | null; readonly bytes: Uint8Array }) => boolean | Promise<boolean>,
): Promise<readonly Line[]> {
  const names = new Map(compaction.cycles.map(({ id, conversationId }) => [id, conversationId]));
  const lines: Line[] = [];
  for await (const batch of archive.readLines(compaction.id)) {
    for (const line of batch) {
      if (line.erased !== null || !(await isSelected(line))) continue;
      const conversationId = names.get(line.cycleId ?? 0) ?? null;
      lines.push({ lineId: line.id, conversationId, sizeBytes: line.bytes.length });
    }
  }
  return lines;
}

/** The cycles whose summaries contain the text, even if none of their lines does. */
function findSummaries({ cycles, inserted }: StoredCompaction, { isIn, isInText }: TextFinder): readonly number[] {
  const hasClip = inserted.some(({ bytes }) => isIn(bytes));
  return cycles.flatMap(({ id, live, made }) =>
    hasClip || [...live, ...made].some(({ content }) => isInText(content)) ? id : [],
  );
}

/** Captured files to erase whole: by path, or because they have nothing of other conversations. */
function selectCapturedFiles(
  files: readonly CapturedFile[],
  selector: EraseSelector,
  parts: readonly SelectedPart[],
): readonly CapturedFile[] {
  if (selector.kind === 'match' || selector.kind === 'message') return [];
  if (selector.kind === 'source') return files.filter(({ path }) => matchesGlob(path, selector.glob));
  const whole = parts.filter(({ lineIds }) => lineIds === null);
  const paths = new Set(whole.flatMap(({ compaction }) => compaction.paths));
  return files.filter(
    (file) => paths.has(file.path) || (belongsTo(file, selector.id) && isWhollyOf(file, selector.id)),
  );
}

/** The lines of one conversation in captured files that have others too. */
async function selectCapturedLines(
  deps: Pick<AppDeps, 'files' | 'formats'>,
  archive: Archive,
  { files, selector }: { readonly files: readonly CapturedFile[]; readonly selector: EraseSelector },
): Promise<CapturedMatches> {
  if (selector.kind !== 'conversation') return { lineIds: [], paths: [], unsearched: 0 };
  const lineIds = new Set<number>();
  const paths: string[] = [];
  let unsearched = 0;
  for (const file of files.filter((one) => belongsTo(one, selector.id))) {
    const own = await findLinesOf(deps, archive, { file, conversation: selector.id });
    if (own === null) unsearched += 1;
    if (own !== null && own.size > 0) paths.push(file.path);
    for (const id of own ?? []) lineIds.add(id);
  }
  return { lineIds: [...lineIds], paths, unsearched };
}

/** The ids that the archive needs to erase a selection. */
export function idsOf({
  parts,
  cycleIds,
  capturedFiles,
  capturedLineIds,
  takesCopies,
}: Omit<Selection, 'holds' | 'touchedPaths' | 'kept' | 'unsearched' | 'isEverything'>): ErasedIds {
  return {
    compactionIds: parts.flatMap(({ compaction, lineIds }) => (lineIds === null ? compaction.id : [])),
    lineIds: parts.flatMap(({ lineIds }) => lineIds ?? []),
    takesCopies,
    cycleIds,
    capturedFileIds: capturedFiles.map(({ id }) => id),
    capturedLineIds,
  };
}

/** The holds on anything that would change, including summaries of the whole lineage and copies in captured files. */
async function findHolds(
  archive: Archive,
  {
    holds,
    ids,
    captured,
  }: { readonly holds: readonly Hold[]; readonly ids: ErasedIds; readonly captured: readonly CapturedFile[] },
): Promise<readonly Hold[]> {
  if (holds.length === 0) return [];
  const { compactionIds, capturedFileIds } = await archive.retention.findEffect(ids);
  const files = new Set(capturedFileIds);
  const changed = captured.filter(({ id }) => files.has(id));
  return holdsOnCompactions(archive, { holds, compactions: new Set(compactionIds), changed });
}

/** The holds on compactions, by their ids, and on files. */
async function holdsOnCompactions<T extends HoldScope>(
  { retention }: Pick<Archive, 'retention'>,
  of: {
    readonly holds: readonly T[];
    readonly compactions: ReadonlySet<number>;
    readonly changed: readonly CapturedFile[];
  },
): Promise<readonly T[]> {
  const { holds, compactions, changed } = of;
  const captured = {
    conversations: changed.flatMap(({ sessions }) => sessions),
    paths: changed.map(({ path }) => path),
  };
  const found = new Set(holdsOn(holds, captured));
  for await (const batch of retention.listErasable()) {
    for (const { id, cycles, paths: own } of batch) {
      if (!compactions.has(id)) continue;
      const conversations = cycles.map(({ conversationId }) => conversationId);
      for (const hold of holdsOn(holds, { conversations, paths: own })) found.add(hold);
    }
  }
  return [...found];
}
