import { matchesGlob } from '../../core/paths.ts';
import type { Archive, StoredCompaction, StoredLine } from '../../ports/archive.ts';
import type { CapturedFile } from '../../ports/captures.ts';
import type { ErasableCompaction, ErasedIds, Hold, KeptCount, MessageLine } from '../../ports/retention.ts';
import type { AppDeps } from '../contract/deps.ts';
import { stopIfInterrupted } from '../contract/failure.ts';
import { createTextFinder, type FoundLines, matchCaptured, type TextFinder } from './find-text.ts';
import { holdsOn, listCaptured, type LocatedFile, scopeOf, scopeOfFile } from './holds.ts';
import { belongsTo, findLinesOf, isWhollyOf } from './sessions.ts';

export type EraseSelector =
  | { readonly kind: 'conversation'; readonly id: string }
  /** A glob for the paths of transcripts. */
  | { readonly kind: 'source'; readonly glob: string }
  | { readonly kind: 'match'; readonly text: string }
  | { readonly kind: 'message'; readonly id: string };

/** A compaction with lines to erase. `lineIds`: null means all of them. */
export type SelectedPart = {
  readonly compaction: ErasableCompaction;
  readonly conversations: readonly string[];
  readonly lineIds: readonly number[] | null;
  readonly bytes: number;
};

type Selected = {
  readonly parts: readonly SelectedPart[];
  /** Cycles whose summaries contain the text. */
  readonly cycleIds: readonly number[];
  readonly capturedFiles: readonly CapturedFile[];
  readonly capturedLineIds: readonly number[];
  /** Captured lines with the same bytes as a selected line are erased too. */
  readonly takesCopies: boolean;
};

export type Selection = Selected & {
  /** The captured files that lose lines. */
  readonly touchedPaths: readonly string[];
  readonly holds: readonly Hold[];
  /** Every compaction that was looked at. */
  readonly kept: KeptCount;
  /** The number of captured files that could not be searched completely. */
  readonly unsearched: number;
  /** Nothing else is in the archive. */
  readonly isEverything: boolean;
};

type SelectDeps = Pick<AppDeps, 'files' | 'formats' | 'runtime' | 'signal' | 'progress'>;
type Selecting = { readonly archive: Archive; readonly selector: EraseSelector };

/** Finds what a selector matches, reading one compaction at a time. */
export async function planErasure(
  deps: SelectDeps,
  { archive, selector, holds }: Selecting & { holds: readonly Hold[] },
): Promise<Selection> {
  const finder = selector.kind === 'match' ? createTextFinder(selector.text) : null;
  const messages = selector.kind === 'message' ? await archive.retention.findMessageLines(selector.id) : [];
  const lastFileId = await archive.retention.lastFileId();
  const parts: SelectedPart[] = [];
  const cycleIds: number[] = [];
  let [count, lastId] = [0, 0];
  for await (const batch of archive.retention.listErasable())
    for (const compaction of batch) {
      await stopIfInterrupted(deps);
      count += 1;
      lastId = compaction.id;
      deps.progress.update('searching the archive', count, count);
      parts.push(...(await selectPart(deps, compaction, { archive, selector, messages, finder })));
      const stored = finder === null ? null : await archive.loadCompaction(compaction.id);
      if (stored !== null && finder !== null) cycleIds.push(...findSummaries(stored, finder));
    }
  const all = await listCaptured(deps, archive);
  const capturedFiles = selectCapturedFiles(all, selector, parts);
  const others = all.filter((one) => !capturedFiles.includes(one));
  const { lineIds, paths, unsearched } = await selectCapturedLines(deps, others, { archive, selector, finder });
  const takesCopies = selector.kind === 'match' || selector.kind === 'message';
  const selected = { parts, cycleIds, capturedFiles, capturedLineIds: [...lineIds], takesCopies };
  const isWhole = parts.length === count && parts.every((part) => part.lineIds === null);
  return {
    ...selected,
    holds: await findHolds(archive, { holds, selected, captured: all }),
    touchedPaths: paths,
    kept: { count, lastId, lastFileId },
    unsearched: selector.kind === 'message' ? all.length : unsearched,
    isEverything: count > 0 && isWhole && capturedFiles.length === all.length,
  };
}

export function wholePart(compaction: ErasableCompaction): SelectedPart {
  return { compaction, conversations: scopeOf(compaction).conversations, lineIds: null, bytes: compaction.bytes };
}

type Line = Omit<MessageLine, 'compactionId'>;

function toParts(compaction: ErasableCompaction, lines: readonly Line[]): readonly SelectedPart[] {
  if (lines.length === 0) return [];
  const conversations = [...new Set(lines.flatMap(({ conversationId }) => conversationId ?? []))];
  const bytes = lines.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return [{ compaction, conversations, lineIds: lines.map(({ lineId }) => lineId), bytes }];
}

type Finding = Selecting & { readonly finder: TextFinder | null };

/** What a selector matches in one compaction. */
async function selectPart(
  { files }: Pick<AppDeps, 'files'>,
  compaction: ErasableCompaction,
  { archive, selector, messages, finder }: Finding & { messages: readonly MessageLine[] },
): Promise<readonly SelectedPart[]> {
  const find = (isSelected: IsSelected): Promise<readonly Line[]> => findLines(archive, compaction, isSelected);
  // Only logs of Inspect AI repeat conversations compressed; elsewhere a line that looks like it is anybody's text.
  const unpack = async (bytes: Uint8Array) => (compaction.format === 'inspect' ? files.unpackRecord(bytes) : null);
  switch (selector.kind) {
    case 'source':
      return compaction.paths.some((path) => matchesGlob(path, selector.glob)) ? [wholePart(compaction)] : [];
    case 'conversation': {
      const own = new Set(compaction.cycles.flatMap((one) => (one.conversationId === selector.id ? one.id : [])));
      if (own.size === 0) return [];
      if (own.size === compaction.cycles.length) return [wholePart(compaction)];
      return toParts(compaction, await find(({ cycleId }) => cycleId !== null && own.has(cycleId)));
    }
    case 'message': {
      const lines = messages.filter(({ compactionId }) => compactionId === compaction.id);
      if (lines.length === 0 || compaction.format !== 'inspect') return toParts(compaction, lines);
      // The lines that repeat, compressed, the conversations of these lines.
      const conversations = new Set([null, ...lines.map(({ conversationId }) => conversationId)]);
      const packed = await find(async ({ bytes }) => (await unpack(bytes)) !== null);
      return toParts(compaction, [...lines, ...packed.filter((one) => conversations.has(one.conversationId))]);
    }
    default: {
      const isIn = (bytes: Uint8Array | null): boolean => bytes !== null && finder?.isIn(bytes) === true;
      return toParts(compaction, await find(async ({ bytes }) => isIn(bytes) || isIn(await unpack(bytes))));
    }
  }
}

type IsSelected = (line: Pick<StoredLine, 'cycleId' | 'bytes'>) => boolean | Promise<boolean>;

async function findLines(archive: Archive, compaction: ErasableCompaction, isSelected: IsSelected) {
  const names = new Map(compaction.cycles.map(({ id, conversationId }) => [id, conversationId]));
  const lines: Line[] = [];
  for await (const batch of archive.readLines(compaction.id))
    for (const line of batch) {
      if (line.erased !== null || !(await isSelected(line))) continue;
      const conversationId = names.get(line.cycleId ?? 0) ?? null;
      lines.push({ lineId: line.id, conversationId, sizeBytes: line.bytes.length });
    }
  return lines;
}

/** The cycles whose summaries or titles contain the text, even if none of their lines does. */
function findSummaries({ cycles, inserted }: StoredCompaction, { isIn, isInText }: TextFinder): readonly number[] {
  const hasClip = inserted.some(({ bytes }) => isIn(bytes));
  return cycles.flatMap(({ id, live, made, title }) =>
    hasClip || isInText(title ?? '') || [...live, ...made].some(({ content }) => isInText(content)) ? id : [],
  );
}

/** Captured files to erase whole: by path, or because they have nothing of other conversations. */
function selectCapturedFiles(files: readonly LocatedFile[], selector: EraseSelector, parts: readonly SelectedPart[]) {
  if (selector.kind === 'match' || selector.kind === 'message') return [];
  if (selector.kind === 'source')
    return files.filter((file) => scopeOfFile(file).paths.some((path) => matchesGlob(path, selector.glob)));
  const whole = parts.filter(({ lineIds }) => lineIds === null);
  const paths = new Set(whole.flatMap(({ compaction }) => compaction.paths));
  return files.filter(
    (file) =>
      scopeOfFile(file).paths.some((path) => paths.has(path)) ||
      (belongsTo(file, selector.id) && isWhollyOf(file, selector.id)),
  );
}

/** Lines of captured files: those with the text, or of one conversation if the files have others too. */
async function selectCapturedLines(
  deps: SelectDeps,
  files: readonly CapturedFile[],
  { archive, selector, finder }: Finding,
): Promise<Pick<FoundLines, 'lineIds'> & { readonly paths: readonly string[]; readonly unsearched: number }> {
  const lineIds = new Set<number>();
  const paths: string[] = [];
  let unsearched = 0;
  for (const [at, file] of files.entries()) {
    let found: FoundLines | null = null;
    if (finder !== null) {
      deps.progress.update('searching captured files', at, files.length);
      found = await matchCaptured(deps, { archive, file, finder });
    } else if (selector.kind === 'conversation' && belongsTo(file, selector.id))
      found = await findLinesOf(deps, archive, { file, conversation: selector.id });
    if (found === null) continue;
    if (!found.isComplete) unsearched += 1;
    if (found.lineIds.size > 0) paths.push(file.path);
    for (const id of found.lineIds) lineIds.add(id);
  }
  return { lineIds, paths, unsearched };
}

/** The ids that the archive needs to erase a selection. */
export function idsOf({ parts, cycleIds, capturedFiles, capturedLineIds, takesCopies }: Selected): ErasedIds {
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
  { retention }: Archive,
  of: { readonly holds: readonly Hold[]; readonly selected: Selected; readonly captured: readonly LocatedFile[] },
): Promise<readonly Hold[]> {
  if (of.holds.length === 0) return [];
  const { compactionIds, capturedFileIds } = await retention.findEffect(idsOf(of.selected));
  const [compactions, files] = [new Set(compactionIds), new Set(capturedFileIds)];
  const scopes = of.captured.filter(({ id }) => files.has(id)).map(scopeOfFile);
  for await (const batch of retention.listErasable())
    scopes.push(...batch.filter(({ id }) => compactions.has(id)).map(scopeOf));
  return of.holds.filter((hold) => scopes.some((scope) => holdsOn([hold], scope).length > 0));
}
