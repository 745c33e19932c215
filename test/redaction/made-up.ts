/**
 * Made-up values for the tables of secrets: the same at each run, nobody's key. They are drawn here and not written out, so that
 * no scanner takes this repository's tests for leaked keys.
 */
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const LOWER = UPPER.toLowerCase();
const DIGITS = '0123456789';

export type Draw = {
  readonly of: (alphabet: string, count: number) => string;
  /** Letters of both cases and digits. */
  readonly alnum: (count: number) => string;
  readonly lower: (count: number) => string;
  readonly upper: (count: number) => string;
  readonly hex: (count: number) => string;
  readonly digits: (count: number) => string;
  /** Alphanumeric with `-` and `_` within. */
  readonly url: (count: number) => string;
  readonly base64: (count: number) => string;
  readonly uuid: () => string;
  /** As a person makes one up. */
  readonly password: () => string;
  /** One word, as a careless person takes it for a password. */
  readonly word: () => string;
  /** Four words. */
  readonly phrase: () => string;
  /** Capitals and digits. */
  readonly caps: (count: number) => string;
};

const PLAIN_WORDS = [
  'sunflower',
  'butterscotch',
  'dragonfly',
  'Moonraker',
  'tumbleweed',
  'Bluebird',
  'marmalade',
  'snowdrift',
];
const WORDS = ['Winter', 'harbor', 'Falcon', 'pepper', 'Copper', 'window', 'Maple', 'orbit', 'Lantern', 'breeze'];

export function createDraw(seed: number): Draw {
  let state = (seed % 2_147_483_646) + 1;
  const next = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return Math.floor((state / 2_147_483_647) * below);
  };
  const of = (alphabet: string, count: number): string =>
    Array.from({ length: count }, () => alphabet.charAt(next(alphabet.length))).join('');
  // The ends are alphanumeric and both a letter and a digit are in it, as in practically every real key.
  const framed = (alphabet: string, count: number): string =>
    `${of(LOWER, 1)}${of(alphabet, count - 3)}${of(DIGITS, 1)}${of(UPPER, 1)}`;
  return {
    of,
    alnum: (count) => framed(UPPER + LOWER + DIGITS, count),
    lower: (count) => `${of(LOWER, 1)}${of(LOWER + DIGITS, count - 2)}${of(DIGITS, 1)}`,
    upper: (count) => `${of(UPPER, 1)}${of(UPPER + DIGITS, count - 2)}${of(DIGITS, 1)}`,
    hex: (count) => `${of('abcdef', 1)}${of('abcdef0123456789', count - 2)}${of(DIGITS, 1)}`,
    digits: (count) => of('123456789', 1) + of(DIGITS, count - 1),
    url: (count) => framed(`${UPPER}${LOWER}${DIGITS}-_`, count),
    base64: (count) => framed(`${UPPER}${LOWER}${DIGITS}+/`, count),
    uuid: () => [8, 4, 4, 4, 12].map((count) => of('abcdef0123456789', count)).join('-'),
    caps: (count) => of(UPPER + DIGITS, count),
    word: () => PLAIN_WORDS[next(PLAIN_WORDS.length)] ?? '',
    phrase: () =>
      Array.from({ length: 4 }, () => PLAIN_WORDS[next(PLAIN_WORDS.length)] ?? '')
        .join(' ')
        .toLowerCase(),
    password: () =>
      `${WORDS[next(WORDS.length)] ?? ''}${of('!#%*_-.', 1)}${of(DIGITS, 2)}${WORDS[next(WORDS.length)] ?? ''}`,
  };
}
