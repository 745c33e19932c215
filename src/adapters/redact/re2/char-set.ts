/** Which characters match, by code point. */
export type CharSet = { readonly has: (codePoint: number) => boolean };

/** First and last code point of each stretch. */
export type Ranges = readonly (readonly [number, number])[];

export function rangeSet(ranges: Ranges): CharSet {
  return memoized((point) => ranges.some(([first, last]) => point >= first && point <= last));
}

export function unionOf(sets: readonly CharSet[]): CharSet {
  return memoized((point) => sets.some((set) => set.has(point)));
}

export function negated(set: CharSet): CharSet {
  return memoized((point) => !set.has(point));
}

/** The set with the other case of each letter. */
export function foldedSet(set: CharSet): CharSet {
  return memoized((point) => {
    if (set.has(point)) return true;
    const letter = String.fromCodePoint(point);
    return [letter.toLowerCase(), letter.toUpperCase()].some(
      (other) => other !== letter && isOneCharacter(other) && set.has(other.codePointAt(0) ?? 0),
    );
  });
}

/** A Unicode class by its name in `\p{…}`, such as `L` or `Greek`; null where there is none. */
export function unicodeSet(name: string): CharSet | null {
  const pattern = unicodePattern(name) ?? unicodePattern(`Script=${name}`);
  return pattern === null ? null : memoized((point) => pattern.test(String.fromCodePoint(point)));
}

function unicodePattern(name: string): RegExp | null {
  if (!/^[A-Za-z_=]{1,40}$/.test(name)) return null;
  try {
    return new RegExp(`^\\p{${name}}$`, 'u');
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function isOneCharacter(text: string): boolean {
  return text.length === String.fromCodePoint(text.codePointAt(0) ?? 0).length;
}

const TABLE_SIZE = 128;

/** ASCII is answered from a table: it is nearly everything. */
function memoized(has: (point: number) => boolean): CharSet {
  const table = Uint8Array.from({ length: TABLE_SIZE }, (_, point) => (has(point) ? 1 : 0));
  return { has: (point) => (point < TABLE_SIZE ? table[point] === 1 : has(point)) };
}

const DIGIT: Ranges = [[48, 57]];
const UPPER: Ranges = [[65, 90]];
const LOWER: Ranges = [[97, 122]];
const WORD: Ranges = [...DIGIT, ...UPPER, ...LOWER, [95, 95]];

/** `\d`, `\w`, `\s`: ASCII in this syntax. */
export const PERL_CLASSES: ReadonlyMap<string, CharSet> = new Map([
  ['d', rangeSet(DIGIT)],
  ['w', rangeSet(WORD)],
  [
    's',
    rangeSet([
      [9, 10],
      [12, 13],
      [32, 32],
    ]),
  ],
]);

/** The names in `[[:alpha:]]`. */
export const POSIX_CLASSES: ReadonlyMap<string, CharSet> = new Map(
  Object.entries({
    alnum: [...DIGIT, ...UPPER, ...LOWER],
    alpha: [...UPPER, ...LOWER],
    ascii: [[0, 127]],
    blank: [
      [9, 9],
      [32, 32],
    ],
    cntrl: [
      [0, 31],
      [127, 127],
    ],
    digit: DIGIT,
    graph: [[33, 126]],
    lower: LOWER,
    print: [[32, 126]],
    punct: [
      [33, 47],
      [58, 64],
      [91, 96],
      [123, 126],
    ],
    space: [
      [9, 13],
      [32, 32],
    ],
    upper: UPPER,
    word: WORD,
    xdigit: [...DIGIT, [65, 70], [97, 102]],
  } satisfies Readonly<Record<string, Ranges>>).map(([name, ranges]) => [name, rangeSet(ranges)]),
);
