import { type QueryTerm, wordsOf } from '../../core/search/question.ts';
import { foldWord, rootOf, spaceOut } from '../../core/search/words.ts';
import type { FoundMessage, MessageIndex } from '../../ports/archive-lookup.ts';
import type { IndexBacklog, IndexCursor } from '../../ports/archive-index.ts';
import type { Archive, ArchiveState } from '../../ports/archive.ts';
import { readMessages, type IndexDeps } from './update-index.ts';

/** Messages that the index lacks, by the roots of their words. */
type Scanned = { readonly ids: ReadonlyMap<string, readonly number[]>; readonly left: IndexBacklog };

/** Reading takes about 30 ms for a megabyte, in every search. */
const MAX_SCANNED_BYTES = 4 * 1024 * 1024;
const BEGIN: IndexCursor = { kind: 'archived', before: null };

/** Reads the newest of what is not indexed, for an archive whose index cannot be brought up to date. */
export async function scanBacklog({ formats }: Pick<IndexDeps, 'formats'>, archive: Archive): Promise<Scanned> {
  const { index } = archive;
  const all = await index.measure();
  const slice = all.bytes === 0 ? null : await index.read(BEGIN, MAX_SCANNED_BYTES);
  const ids = new Map<string, number[]>();
  // Of a captured line, the archive does not know yet who said it and when.
  const scanned = slice === null || slice.next.kind === 'captured' ? null : slice;
  for (const { lineId, text } of scanned === null ? [] : await readMessages(formats, archive, scanned))
    for (const root of new Set(wordsOf(spaceOut(text)).map(rootOf))) {
      const known = ids.get(root);
      if (known === undefined) ids.set(root, [lineId]);
      else known.push(lineId);
    }
  const left = { messages: all.messages - (scanned?.messages ?? 0), bytes: all.bytes - (scanned?.bytes ?? 0) };
  return { ids, left };
}

/** The same index, with the scanned messages in it. */
export function withScanned({ messages, loadLines }: ArchiveState, { ids }: Scanned): MessageIndex {
  const find = ({ forms, isBeginning }: QueryTerm): readonly number[] => {
    const roots = isBeginning
      ? [...ids.keys()].filter((root) => forms.some((form) => root.startsWith(foldWord(form))))
      : forms.map(rootOf);
    return [...new Set(roots.flatMap((root) => ids.get(root) ?? []))];
  };
  const unite = (left: readonly number[], right: readonly number[]): readonly number[] =>
    right.length === 0 ? left : [...left, ...right].toSorted((a, b) => a - b);
  return {
    ...messages,
    countHits: async (words, atMost) =>
      (await messages.countHits(words, atMost)).map((count, at) =>
        Math.min(atMost, count + find(words[at] ?? NOTHING).length),
      ),
    listHits: async (words, filter) =>
      (await messages.listHits(words, filter)).map((found, at) => unite(found, find(words[at] ?? NOTHING))),
    listHitsAmong: async (word, lineIds) => {
      const asked = new Set(lineIds);
      return unite(
        await messages.listHitsAmong(word, lineIds),
        find(word).filter((id) => asked.has(id)),
      );
    },
    listNewest: async (words, limits) => {
      const scanned = await messages.loadCandidates(unite([], [...new Set(words.flatMap(find))]), limits.filter);
      const found = (await loadLines(scanned.map(({ lineId }) => lineId))).flatMap((line): readonly FoundMessage[] =>
        line.message === null ? [] : [{ ...line, message: line.message }],
      );
      const newest = [...found, ...(await messages.listNewest(words, limits))];
      return newest.toSorted((a, b) => b.lineId - a.lineId).slice(0, limits.limit);
    },
  };
}

const NOTHING: QueryTerm = { forms: [], isBeginning: false };
