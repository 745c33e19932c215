import { matchesGlob } from '../../core/glob.ts';
import type { Archive, StoredCompaction } from '../../ports/archive.ts';
import type { CapturedFile } from '../../ports/captures.ts';
import type { Hold, KeptCompaction } from '../../ports/retention.ts';
import { type AppDeps, isInterrupted } from '../contract/deps.ts';
import { holdsOn } from './holds.ts';
import { createTextFinder, type TextFinder } from './text-finder.ts';

/** What a person wants to be rid of. */
export type EraseSelector =
  | { readonly kind: 'conversation'; readonly id: string }
  /** A glob for the paths of transcripts. */
  | { readonly kind: 'source'; readonly glob: string }
  /** Every line that has this text. */
  | { readonly kind: 'match'; readonly text: string }
  /** Every line of a message. */
  | { readonly kind: 'message'; readonly id: string };

/** A compaction of which something goes. `lineIds`: null if everything does. */
export type SelectedPart = {
  readonly compaction: KeptCompaction;
  readonly conversations: readonly string[];
  readonly lineIds: readonly number[] | null;
  readonly bytes: number;
};

export type Selection = {
  readonly parts: readonly SelectedPart[];
  /** Cycles whose summaries have the text. */
  readonly cycleIds: readonly number[];
  readonly capturedFiles: readonly CapturedFile[];
  readonly capturedLineIds: readonly number[];
  readonly holds: readonly Hold[];
  /** The archive has nothing else. */
  readonly isEverything: boolean;
};

/** Finds what a selector means, reading one compaction at a time. Null: the work was interrupted. */
export async function selectErased(
  deps: Pick<AppDeps, 'runtime' | 'signal' | 'progress'>,
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
  const parts: SelectedPart[] = [];
  const cycleIds: number[] = [];
  let count = 0;
  for await (const batch of archive.retention.listKept()) {
    for (const compaction of batch) {
      if (await isInterrupted(deps)) return null;
      count += 1;
      deps.progress.update('looking for what goes', count, count);
      if (selector.kind === 'source') {
        if (holdsPath(compaction, selector.glob)) parts.push(wholePart(compaction));
      } else if (selector.kind === 'conversation') {
        parts.push(...(await selectConversation(archive, compaction, selector.id)));
      } else if (selector.kind === 'message') {
        const lines = messageLines.get(compaction.id) ?? [];
        if (lines.length > 0) parts.push(toPart(compaction, lines));
      } else if (finder !== null) {
        parts.push(...(await selectMatches(archive, compaction, finder)));
        const stored = await archive.loadCompaction(compaction.id);
        if (stored !== null) cycleIds.push(...findSummaries(stored, finder));
      }
    }
  }
  const capturedFiles = await selectCapturedFiles(archive, selector, parts);
  const capturedLineIds: number[] = [];
  if (finder !== null)
    for await (const lines of archive.retention.readCaptured())
      for (const { id, bytes } of lines) if (finder.isIn(bytes)) capturedLineIds.push(id);
  const all = await archive.captures.list();
  return {
    parts,
    cycleIds,
    capturedFiles,
    capturedLineIds,
    holds: await findHolds(archive, {
      holds,
      parts,
      capturedFiles,
      finder: capturedLineIds.length > 0 ? finder : null,
    }),
    isEverything:
      parts.length === count &&
      count > 0 &&
      parts.every(({ lineIds }) => lineIds === null) &&
      capturedFiles.length === all.length,
  };
}

function holdsPath({ sourcePath, outputPath }: KeptCompaction, glob: string): boolean {
  return [sourcePath, outputPath].some((path) => path !== null && matchesGlob(path, glob));
}

export function wholePart(compaction: KeptCompaction): SelectedPart {
  const conversations = [...new Set(compaction.cycles.map(({ conversationId }) => conversationId))];
  return { compaction, conversations, lineIds: null, bytes: compaction.bytes };
}

type Line = { readonly lineId: number; readonly conversationId: string | null; readonly sizeBytes: number };

function toPart(compaction: KeptCompaction, lines: readonly Line[]): SelectedPart {
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
  compaction: KeptCompaction,
  conversationId: string,
): Promise<readonly SelectedPart[]> {
  const own = new Set(compaction.cycles.flatMap((cycle) => (cycle.conversationId === conversationId ? cycle.id : [])));
  if (own.size === 0) return [];
  if (own.size === compaction.cycles.length) return [wholePart(compaction)];
  return selectLines(archive, compaction, ({ cycleId }) => cycleId !== null && own.has(cycleId));
}

async function selectMatches(
  archive: Archive,
  compaction: KeptCompaction,
  finder: TextFinder,
): Promise<readonly SelectedPart[]> {
  return selectLines(archive, compaction, ({ bytes }) => finder.isIn(bytes));
}

async function selectLines(
  archive: Archive,
  compaction: KeptCompaction,
  isSelected: (line: { readonly cycleId: number | null; readonly bytes: Uint8Array }) => boolean,
): Promise<readonly SelectedPart[]> {
  const names = new Map(compaction.cycles.map(({ id, conversationId }) => [id, conversationId]));
  const lines: Line[] = [];
  for await (const batch of archive.readLines(compaction.id)) {
    for (const line of batch) {
      if (line.erased !== null || !isSelected(line)) continue;
      const conversationId = names.get(line.cycleId ?? 0) ?? null;
      lines.push({ lineId: line.id, conversationId, sizeBytes: line.bytes.length });
    }
  }
  return lines.length === 0 ? [] : [toPart(compaction, lines)];
}

/** The cycles whose summaries have the text, even if none of their lines does. */
function findSummaries({ cycles, inserted }: StoredCompaction, { isIn, isInText }: TextFinder): readonly number[] {
  const hasClip = inserted.some(({ bytes }) => isIn(bytes));
  return cycles.flatMap(({ id, live, made }) =>
    hasClip || [...live, ...made].some(({ content }) => isInText(content)) ? id : [],
  );
}

/** The captures of whole files: by path, or by the conversation's id in the file's name. */
async function selectCapturedFiles(
  archive: Archive,
  selector: EraseSelector,
  parts: readonly SelectedPart[],
): Promise<readonly CapturedFile[]> {
  if (selector.kind === 'match' || selector.kind === 'message') return [];
  const files = await archive.captures.list();
  if (selector.kind === 'source') return files.filter(({ path }) => matchesGlob(path, selector.glob));
  const whole = parts.filter(({ lineIds }) => lineIds === null);
  const paths = new Set(whole.flatMap(({ compaction }) => [compaction.sourcePath, compaction.outputPath]));
  return files.filter(({ path }) => paths.has(path) || path.slice(path.lastIndexOf('/') + 1).includes(selector.id));
}

/** The holds on any part. `finder`: single captured lines go, so held files are searched for the text. */
async function findHolds(
  archive: Archive,
  {
    holds,
    parts,
    capturedFiles,
    finder,
  }: Pick<Selection, 'holds' | 'parts' | 'capturedFiles'> & { readonly finder: TextFinder | null },
): Promise<readonly Hold[]> {
  const found = new Set<Hold>();
  for (const { compaction, conversations } of parts) {
    const paths = [compaction.sourcePath, compaction.outputPath];
    for (const hold of holdsOn(holds, { conversations, paths })) found.add(hold);
  }
  for (const { path } of capturedFiles)
    for (const hold of holdsOn(holds, { conversations: [], paths: [path] })) found.add(hold);
  if (finder === null) return [...found];
  for (const file of await archive.captures.list()) {
    const own = holdsOn(holds, { conversations: [], paths: [file.path] }).filter((hold) => !found.has(hold));
    if (own.length > 0 && (await hasText(archive, file, finder))) for (const hold of own) found.add(hold);
  }
  return [...found];
}

async function hasText(archive: Archive, file: CapturedFile, finder: TextFinder): Promise<boolean> {
  const states = await archive.captures.listStates(file.id);
  const versions = Map.groupBy(states, ({ version }) => version);
  for (const ofVersion of versions.values()) {
    const last = ofVersion.at(-1);
    if (last === undefined) continue;
    for await (const piece of archive.captures.read(last.id)) if (finder.isIn(piece)) return true;
  }
  return false;
}
