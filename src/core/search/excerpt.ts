import { languagesOf } from '../languages/detect.ts';
import { foldLetters, simplify } from '../languages/fold.ts';
import { joinMarks, markedStems, STEM_MARK } from '../languages/stem.ts';
import { foldWord, isSpaceless, rootOf, WORD } from './words.ts';

/** A part of a text with single spaces for all white space. `marks` are the matched words in it, as ranges of UTF-16 indices. */
export type Excerpt = { readonly text: string; readonly marks: readonly ExcerptMark[] };

type ExcerptMark = { readonly start: number; readonly end: number };

/** The index reads no more of a text, so nothing beyond it was matched. */
const MAX_TEXT_CHARS = 200_000;
/** The window is chosen among the first this many matches. */
const MAX_FOUND = 2000;
const MAX_LEAD_CHARS = 60;
/** How far a cut may move to fall between words. */
const MAX_SNAP_CHARS = 24;

/** Creates a function that finds the part of a text with the most of the terms' words, in any form. Without matches it returns the beginning. */
export function createExcerpter({ terms, maxChars }: { terms: readonly string[]; maxChars: number }) {
  const words = terms.flatMap((term) => term.split(' '));
  const findWords = createWordFinder(words.filter((word) => !isSpaceless(word)));
  const findPieces = createPieceFinder(words.filter(isSpaceless));
  const find: Finder =
    findPieces === null
      ? findWords
      : (text) => [...findWords(text), ...findPieces(text)].toSorted((a, b) => a.start - b.start).slice(0, MAX_FOUND);
  return (whole: string): Excerpt => {
    const text = whole.slice(0, MAX_TEXT_CHARS);
    const { start, end } = chooseWindow(find(text), maxChars);
    const cut = cutText(text, { start, end, maxChars, isWhole: whole.length === text.length });
    return { text: cut, marks: find(cut).map((found) => ({ start: found.start, end: found.end })) };
  };
}

type FoundWord = ExcerptMark & { readonly root: string };

type Finder = (text: string) => readonly FoundWord[];

/** Finds substrings in scripts without spaces. Overlapping and adjacent ones are joined. Null if there is nothing to find. */
function createPieceFinder(pieces: readonly string[]): Finder | null {
  if (pieces.length === 0) return null;
  const any = new RegExp(
    `(?=(${pieces
      .map(simplify)
      .map((piece) => Array.from(piece).join('\\p{M}*'))
      .join('|')}))`,
    'gu',
  );
  return (text) => {
    const found: FoundWord[] = [];
    for (const { index, 1: piece = '' } of simplify(text).matchAll(any)) {
      const end = index + piece.length;
      const last = found.at(-1);
      if (last !== undefined && index <= last.end) found[found.length - 1] = { ...last, end: Math.max(end, last.end) };
      else found.push({ start: index, end, root: piece });
      if (found.length >= MAX_FOUND) break;
    }
    return found;
  };
}

const BEGINNING_CHARS = 2;

function createWordFinder(words: readonly string[]): (text: string) => readonly FoundWord[] {
  const stems = new Set(words.filter((word) => word.startsWith(STEM_MARK)));
  const roots = new Set(words.filter((word) => !stems.has(word)).map(rootOf));
  // The first characters rule out nearly every word.
  const beginnings = new Set([...roots].map(beginningOf));
  return (text) => {
    const found: FoundWord[] = [];
    if (roots.size === 0) return found;
    const languages = stems.size === 0 ? [] : languagesOf(text);
    const keyOf = (word: string): string | undefined => {
      const stem = markedStems(joinMarks(foldLetters(word)), languages).find((one) => stems.has(one));
      if (stem !== undefined || !beginnings.has(beginningOf(word))) return stem;
      const root = rootOf(word);
      return roots.has(root) ? root : undefined;
    };
    for (const match of text.matchAll(WORD)) {
      const [word] = match;
      const root = keyOf(word);
      if (root === undefined) continue;
      found.push({ start: match.index, end: match.index + word.length, root });
      if (found.length >= MAX_FOUND) break;
    }
    return found;
  };
}

/** Ignores combining marks. */
function beginningOf(word: string): string {
  return foldWord(word.slice(0, 2 * BEGINNING_CHARS)).slice(0, BEGINNING_CHARS);
}

/** The first stretch with the most distinct words. */
function chooseWindow(found: readonly FoundWord[], maxChars: number): ExcerptMark {
  const counts = new Map<string, number>();
  let best = { distinct: 0, start: 0, end: 0 };
  let first = 0;
  for (const { root, end } of found) {
    counts.set(root, (counts.get(root) ?? 0) + 1);
    for (let head = found[first]; head !== undefined && end - head.start > maxChars; head = found[first]) {
      const left = (counts.get(head.root) ?? 1) - 1;
      if (left === 0) counts.delete(head.root);
      else counts.set(head.root, left);
      first += 1;
    }
    if (counts.size > best.distinct) best = { distinct: counts.size, start: found[first]?.start ?? 0, end };
  }
  return best;
}

function cutText(text: string, window: ExcerptMark & { readonly maxChars: number; readonly isWhole: boolean }): string {
  const spare = Math.max(0, window.maxChars - (window.end - window.start));
  const from = Math.max(
    0,
    Math.min(window.start - Math.min(MAX_LEAD_CHARS, spare >> 1), text.length - window.maxChars),
  );
  const start = from === 0 ? 0 : snap(text, { from, step: 1, limit: window.start });
  const to = start + window.maxChars;
  const end = to >= text.length ? text.length : snap(text, { from: to, step: -1, limit: window.end });
  const shown = text.slice(start, end).replace(/\s+/g, ' ').trim();
  return `${start > 0 ? '…' : ''}${shown}${end < text.length || !window.isWhole ? '…' : ''}`;
}

/** The nearest place between words, or else between characters. */
function snap(text: string, { from, step, limit }: { from: number; step: 1 | -1; limit: number }): number {
  for (let moved = 0; moved <= MAX_SNAP_CHARS; moved += 1) {
    const at = from + moved * step;
    if (step > 0 ? at > limit : at < limit) break;
    if (/\s/.test(text[at] ?? ' ')) return at;
  }
  const code = text.charCodeAt(from);
  return code >= 0xdc00 && code <= 0xdfff ? from - step : from;
}
