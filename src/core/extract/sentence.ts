import { CHARACTER, classAt, isBlankCode, safeCut } from './character.ts';

/** A range of UTF-16 indices in a message's text; `end` is exclusive. */
export type Span = { readonly start: number; readonly end: number };

/** Longer units would crowd out others, so longer sentences are split. */
export const MAX_UNIT_CHARS = 240;

const ABBREVIATIONS: ReadonlySet<string> = new Set(
  'mr mrs ms dr prof sr jr st vs etc e.g i.e eg ie cf al approx no nos vol fig ca inc ltd dept est jan feb mar apr jun jul aug sep sept oct nov dec a.m p.m u.s u.k'.split(
    ' ',
  ),
);
// Full stops of scripts that write no space after them, or that have marks of their own.
const WIDE_STOPS = '。！？｡।॥؟۔։።';
const STOPS = '.!?…';
/** Searching with a pattern is much faster than looking at every character. */
const STOP = new RegExp(`[${STOPS}${WIDE_STOPS}]`, 'g');
const CLOSERS = '"\'’”»)]）」』*_`~';

const MARK = { none: 0, stop: 1, wideStop: 2, closer: 3 } as const;
/** A mark for each UTF-16 unit: looking it up is much faster than searching the lists for every character. */
const MARKS = buildMarks();

/** The sentences of a line, trimmed. Abbreviations and initials do not end a sentence. */
export function splitSentences(text: string, { start, end }: Span): readonly Span[] {
  const found: Span[] = [];
  const read = end < text.length ? text.slice(0, end) : text;
  let from = start;
  let after = start;
  STOP.lastIndex = start;
  while (STOP.test(read)) {
    const i = STOP.lastIndex - 1;
    const mark = MARKS[text.charCodeAt(i)];
    // Stops in a row have one end.
    after = Math.max(after, i + 1);
    while (after < end && MARKS[text.charCodeAt(after)] !== MARK.none) after += 1;
    if (mark === MARK.stop && !endsSentence(text, { from, stop: i, after, end })) continue;
    pushTrimmed(found, text, { start: from, end: after });
    from = after;
    STOP.lastIndex = after;
  }
  if (from < end) pushTrimmed(found, text, { start: from, end });
  return found;
}

/** Splits a span into pieces of at most `maxChars`, at a clause end, blank or separator where possible. */
export function splitLong(text: string, span: Span, maxChars = MAX_UNIT_CHARS): readonly Span[] {
  if (span.end - span.start <= maxChars) return [span];
  const pieces: Span[] = [];
  let from = span.start;
  while (span.end - from > maxChars) {
    const cut = cutAt(text, from, from + maxChars);
    pushTrimmed(pieces, text, { start: from, end: cut });
    from = cut;
  }
  pushTrimmed(pieces, text, { start: from, end: span.end });
  return pieces;
}

/** The span without blanks at its ends, or nothing if it is all blank. */
export function trimmed(text: string, span: Span): readonly Span[] {
  const spans: Span[] = [];
  pushTrimmed(spans, text, span);
  return spans;
}

/** Appends the span without blanks at its ends, unless it is all blank. */
export function pushTrimmed(spans: Span[], text: string, { start, end }: Span): void {
  let from = start;
  let to = end;
  while (from < to && isBlankCode(text.charCodeAt(from))) from += 1;
  while (to > from && isBlankCode(text.charCodeAt(to - 1))) to -= 1;
  if (from < to) spans.push({ start: from, end: to });
}

function buildMarks(): Uint8Array {
  const marks = new Uint8Array(65_536);
  for (const [characters, mark] of [
    [CLOSERS, MARK.closer],
    [STOPS, MARK.stop],
    [WIDE_STOPS, MARK.wideStop],
  ] as const) {
    for (const character of characters) marks[character.charCodeAt(0)] = mark;
  }
  return marks;
}

type StopPlace = { readonly from: number; readonly stop: number; readonly after: number; readonly end: number };

function endsSentence(text: string, { from, stop, after, end }: StopPlace): boolean {
  if (after >= end) return true;
  if (!isBlankCode(text.charCodeAt(after))) return false;
  let next = after;
  while (next < end && isBlankCode(text.charCodeAt(next))) next += 1;
  if (text.charAt(stop) !== '.' && text.charAt(stop) !== '…') return true;
  if (classAt(text, next) === CHARACTER.lower && text.charCodeAt(next) < 128) return false;
  if (after > stop + 1) return true;
  let wordStart = stop;
  while (wordStart > from && !isBlankCode(text.charCodeAt(wordStart - 1))) wordStart -= 1;
  const word = text
    .slice(wordStart, stop)
    .toLowerCase()
    .replace(/^[("'[]+/, '');
  const isInitial = word.length === 1 && word !== 'i' && classAt(text, stop - 1) === CHARACTER.upper;
  return !isInitial && !ABBREVIATIONS.has(word);
}

const MIN_CUT_SHARE = 0.6;

function cutAt(text: string, from: number, limit: number): number {
  const floor = from + Math.floor((limit - from) * MIN_CUT_SHARE);
  for (const isPlace of [isClauseEnd, isBlankAt, isSeparatorAt]) {
    for (let i = limit; i > floor; i -= 1) if (isPlace(text, i)) return i;
  }
  return safeCut(text, limit);
}

function isClauseEnd(text: string, index: number): boolean {
  return ',;:，、；：'.includes(text.charAt(index - 1)) && (isBlankAt(text, index) || text.charCodeAt(index - 1) > 255);
}

function isBlankAt(text: string, index: number): boolean {
  return isBlankCode(text.charCodeAt(index));
}

function isSeparatorAt(text: string, index: number): boolean {
  return text.charCodeAt(index) < 128 && classAt(text, index) === CHARACTER.separator;
}
