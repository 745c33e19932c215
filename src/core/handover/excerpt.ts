import { safeCut } from '../extract/character.ts';
import { MAX_UNIT_CHARS, type Span, splitLong, splitSentences, trimmed } from '../extract/sentence.ts';
import { linesOf } from '../extract/units.ts';

type ExcerptOptions = {
  readonly maxChars: number;
  /** The share of those characters that the beginning gets first, and then the end. */
  readonly openingShare?: number;
  readonly closingShare?: number;
  /** Rates a sentence or line from the middle. 0 excludes it from this choice. */
  readonly worthOf?: (text: string) => number;
  /** Leaves out code blocks if the text does not fit with them, except at its beginning. */
  readonly skipsCode?: boolean;
};

// Nobody writes more by hand. Of pasted text the first and the last part are read.
const MAX_READ_CHARS = 60_000;
const GAP = ' … ';

/**
 * Returns the text if it fits, else its beginning, its end and the best of the middle, with `…` in each gap. Lines stay lines and empty
 * lines are dropped. Everything but `…` is quoted exactly.
 */
export function excerptOf(text: string, options: ExcerptOptions): string {
  const { maxChars, openingShare = 0.6, closingShare = 0.2, worthOf, skipsCode = false } = options;
  if (text.length <= maxChars) return lineTexts(text).join('\n');
  const read = text.length <= MAX_READ_CHARS ? text : endsOf(text);
  const all = sentencesOf(read);
  const units = skipsCode && spell(read, all).length > maxChars ? withoutCode(all) : all;
  const [first] = units;
  const last = units.at(-1);
  if (first === undefined || last === undefined || maxChars < 1) return '';
  const whole = spell(read, units);
  if (whole.length <= maxChars) return whole;
  const chosen = new Set<number>();
  let left = maxChars;
  /** Takes a unit and returns its length; 0 if it is taken already or does not fit. */
  const take = (index: number): number => {
    const unit = units[index];
    if (unit === undefined || chosen.has(index)) return 0;
    const chars = unit.end - unit.start + (chosen.has(index - 1) || chosen.has(index + 1) ? 1 : GAP.length);
    if (chars > left) return 0;
    chosen.add(index);
    left -= chars;
    return chars;
  };
  /** Takes neighboring units until they add up to this many characters. */
  const takeRun = (start: number, step: number, wantedChars: number): void => {
    for (let index = start, taken = 0; taken < wantedChars; index += step) {
      const chars = take(index);
      if (chars === 0) return;
      taken += chars;
    }
  };
  takeRun(0, 1, Math.floor(maxChars * openingShare));
  if (chosen.size === 0) return cutAtBlank(read.slice(first.start, first.end), maxChars);
  takeRun(units.length - 1, -1, Math.floor(maxChars * closingShare));
  if (worthOf !== undefined) {
    units
      .map((unit, index) => ({ index, worth: worthOf(read.slice(unit.start, unit.end)) }))
      .filter(({ worth, index }) => worth > 0 && !chosen.has(index))
      .sort((a, b) => b.worth - a.worth || a.index - b.index)
      .forEach(({ index }) => take(index));
  }
  takeRun(
    units.findIndex((_, index) => !chosen.has(index)),
    1,
    maxChars,
  );
  return spell(read, units, chosen);
}

function lineTexts(text: string): readonly string[] {
  return linesOf(text, { start: 0, end: text.length }).map(({ start, end }) => text.slice(start, end));
}

// Longer than a unit, with room for blank lines before it and for what shows that it ends.
const OPENING_CHARS = 4 * MAX_UNIT_CHARS;

/** The first sentence, cut to fit. */
export function openingOf(text: string, maxChars: number): string {
  const [near] = sentencesOf(text.slice(0, OPENING_CHARS));
  const isWhole = near !== undefined && near.end < OPENING_CHARS - MAX_UNIT_CHARS;
  const [first] = isWhole ? [near] : sentencesOf(text.slice(0, MAX_READ_CHARS));
  return first === undefined ? '' : cutAtBlank(text.slice(first.start, first.end), maxChars);
}

/** Cuts text between words and appends `…`. */
export function cutAtBlank(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  if (maxChars < 2) return '';
  const head = text.slice(0, safeCut(text, maxChars - 1));
  const blank = /\s\S*$/.exec(head)?.index ?? -1;
  // Without a usable space, as in some scripts or a very long word, the text is cut anywhere.
  const end = blank > maxChars / 2 ? blank : head.length;
  return `${head.slice(0, end).trimEnd()}…`;
}

const FENCE = /^(?:```|~~~)/;
const STARTS_LIST = /^(?:[-*+•>|#]|\d{1,3}[.)]\s)/;

type Sentence = Span & { readonly isCode: boolean };

/** Splits prose into sentences, and lists, tables and code into lines. */
function sentencesOf(text: string): readonly Sentence[] {
  let isFenced = false;
  return linesOf(text, { start: 0, end: text.length }).flatMap((line): readonly Sentence[] => {
    const written = text.slice(line.start, line.end);
    const isFence = FENCE.test(written);
    const isCode = isFence || isFenced;
    if (isFence) isFenced = !isFenced;
    const sentences = isCode || STARTS_LIST.test(written) ? trimmed(text, line) : splitSentences(text, line);
    return sentences.flatMap((sentence) => splitLong(text, sentence)).map((span) => ({ ...span, isCode }));
  });
}

/** Code at the beginning stays, because it says what the text is about. */
function withoutCode(sentences: readonly Sentence[]): readonly Sentence[] {
  const firstProse = sentences.findIndex(({ isCode }) => !isCode);
  return firstProse < 0 ? sentences : sentences.filter(({ isCode }, index) => !isCode || index < firstProse);
}

function spell(text: string, units: readonly Span[], chosen?: ReadonlySet<number>): string {
  let spelt = '';
  let previous: Span | null = null;
  let wasLeftOut = false;
  units.forEach((unit, index) => {
    if (chosen !== undefined && !chosen.has(index)) {
      wasLeftOut = true;
      return;
    }
    if (previous !== null) {
      const gap = text.slice(previous.end, unit.start);
      const isSameLine = !/[\n\r\u0085\u2028\u2029]/.test(gap);
      spelt += (wasLeftOut ? ' …' : '') + (isSameLine ? (gap === '' ? '' : ' ') : '\n');
    } else if (wasLeftOut) spelt += '… ';
    spelt += text.slice(unit.start, unit.end);
    previous = unit;
    wasLeftOut = false;
  });
  return wasLeftOut ? `${spelt} …` : spelt;
}

function endsOf(text: string): string {
  const half = MAX_READ_CHARS / 2;
  return `${text.slice(0, safeCut(text, half))}\n${text.slice(safeCut(text, text.length - half))}`;
}
