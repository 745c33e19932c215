import { FUNCTION_WORDS } from '../extract/word-lists.ts';
import { lazily, lazilyFor } from '../lazy.ts';
import { anyClass, foldLetters } from './fold.ts';
import type { Language, Script } from './language.ts';
import { LATIN } from './latin.ts';
import { OTHER_SCRIPTS } from './other-scripts.ts';

/** All but English, which has files of its own. */
export const LANGUAGES: readonly Language[] = [...LATIN, ...OTHER_SCRIPTS];

/** Characters of each script, and no others. */
const SCRIPTS: Readonly<Record<Script, RegExp>> = {
  latin: /[a-z\u00df-\u024f\u1e00-\u1eff]/,
  cyrillic: /[\u0400-\u052f]/,
  greek: /[\u0370-\u03ff\u1f00-\u1fff]/,
  arabic: /[\u0620-\u06ff]/,
  hebrew: /[\u05d0-\u05ea]/,
  devanagari: /[\u0904-\u0963\u0971-\u097f]/,
  bengali: /[\u0985-\u09e3]/,
  kana: /[\u3041-\u30fa]/,
  han: /[\u3400-\u9fff]/,
  hangul: /[\uac00-\ud7af]/,
  thai: /[\u0e01-\u0e4e]/,
};
/** Scripts whose words cannot be looked up. */
const UNSPACED: ReadonlySet<Script> = new Set(['han', 'kana', 'hangul', 'thai']);

const BY_SCRIPT = Map.groupBy(LANGUAGES, ({ script }) => script);
const SCRIPT_NAMES = [...BY_SCRIPT.keys()];
const NOT_ASCII = /[^\0-\x7f]/;
const SEPARATOR = /[\s!-@[-`{-~«»„“”‘’…–—،؛؟।。、]/;
/** Also the articles that French and Italian write without a blank. */
const WORD = new RegExp(`${SEPARATOR.source.replace('[', '[^')}+'?`, 'gu');

export function hasSpaces({ script }: Language): boolean {
  return !UNSPACED.has(script);
}

/** Whether words stand without spaces between them. */
export function isJoined(language: Language): boolean {
  return !hasSpaces(language) && language.script !== 'hangul';
}

const languagesOfWord = lazily(() => {
  const found = new Map<string, Language[]>();
  for (const language of LANGUAGES) {
    if (!hasSpaces(language)) continue;
    for (const word of new Set(foldLetters(language.words).split(' '))) {
      const known = found.get(word);
      if (known === undefined) found.set(word, [language]);
      else known.push(language);
    }
  }
  return found;
});

export function isFunctionWord(word: string): boolean {
  return FUNCTION_WORDS.has(word) || languagesOfWord().has(foldLetters(word));
}

const abbreviations = lazily(() => new Set(LANGUAGES.flatMap(({ abbreviations = '' }) => abbreviations.split(' '))));

/** Whether a word, without its last full stop, is an abbreviation that is no word. */
export function isAbbreviation(word: string): boolean {
  return abbreviations().has(word);
}

/** Letters with accents that occur in a language's own table. */
const accentsOf = lazilyFor((language: Language) => new Set(Object.values(language).join('').match(LATIN_ACCENTS)));

/** A function word of English or of other languages. `reading`: the latest text in which it was seen. */
type FunctionWord = {
  readonly word: string;
  readonly isEnglish: boolean;
  readonly languages: readonly Language[];
  reading: number;
};

/** Many times the number of function words. */
const SLOTS = 16_384;

/** Function words by the hash of their characters: where they are not taken out of a text as strings, it is read several times as fast. */
const functionWords = lazily(() => {
  const slots: (FunctionWord | undefined)[] = Array.from({ length: SLOTS });
  for (const word of new Set([...FUNCTION_WORDS, ...languagesOfWord().keys()])) {
    let slot = 0;
    for (let at = 0; at < word.length; at += 1) slot = addToHash(slot, word.charCodeAt(at));
    slot = slotOf(slot);
    while (slots[slot] !== undefined) slot = (slot + 1) % SLOTS;
    const languages = languagesOfWord().get(word) ?? [];
    slots[slot] = { word, isEnglish: FUNCTION_WORDS.has(word), languages, reading: 0 };
  }
  return slots;
});

function addToHash(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193);
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 15)) & (SLOTS - 1);
}

const state = { reading: 0 };
const APOSTROPHE = 39;
/** Behind it, all characters are parts of words, but for the mark of the order of bytes. */
const LAST_SEPARATOR = 0x3002;

const isSeparator = lazily(() => {
  const found = new Uint8Array(65_536);
  for (let code = 0; code <= LAST_SEPARATOR; code += 1) found[code] = SEPARATOR.test(String.fromCharCode(code)) ? 1 : 0;
  found[0xfeff] = 1;
  return found;
});

/** The distinct function words among what `WORD` finds in a text. */
export function functionWordsIn(text: string): readonly FunctionWord[] {
  const [slots, separates] = [functionWords(), isSeparator()];
  const found: FunctionWord[] = [];
  state.reading += 1;
  for (let at = 0; at < text.length; at += 1) {
    if (separates[text.charCodeAt(at)] === 1) continue;
    const start = at;
    let hash = 0;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (separates[code] === 1 && code !== APOSTROPHE) break;
      hash = addToHash(hash, code);
      if (code !== APOSTROPHE) continue;
      at += 1;
      break;
    }
    let slot = slotOf(hash);
    for (let one = slots[slot]; one !== undefined; one = slots[slot]) {
      if (one.word.length === at - start && text.startsWith(one.word, start)) {
        if (one.reading !== state.reading) found.push(one);
        one.reading = state.reading;
        break;
      }
      slot = (slot + 1) % SLOTS;
    }
    at -= 1;
  }
  return found;
}

/** How much the distinct words and letters of a text speak for each language. A word that English shares counts half, a foreign letter against it. */
function weigh(text: string, words: readonly FunctionWord[] = functionWordsIn(text)) {
  const counts = new Map<Language, number>();
  let english = 0;
  for (const { isEnglish, languages } of words) {
    if (isEnglish) english += 1;
    for (const one of languages) counts.set(one, (counts.get(one) ?? 0) + (isEnglish ? SHARED : 1));
  }
  for (const accent of new Set(text.match(LATIN_ACCENTS))) {
    for (const language of BY_SCRIPT.get('latin') ?? []) {
      if (!accentsOf(language).has(accent)) counts.set(language, (counts.get(language) ?? 0) - SHARED);
    }
  }
  return { counts, english };
}

const SHARED = 0.5;
/** A language with less of the evidence than this share of the best one's is not meant. */
const ALSO_LIKELY = 0.75;

/**
 * The languages, except English, that a sentence in lower case may be in. Without a function word, all of its script, but none if it is ASCII:
 * technical terms stand in every language. None of the Latin script if it is rather English.
 */
export function likelyLanguages(sentence: string): readonly Language[] {
  const isAscii = !NOT_ASCII.test(sentence);
  const { counts, english } = weigh(sentence);
  if (isAscii && counts.size === 0) return [];
  return scriptsIn(sentence).flatMap((script) => {
    const all = BY_SCRIPT.get(script) ?? [];
    const most = mostOf(all, counts);
    if (script === 'latin' && english * SHARED > Math.max(most, SHARED)) return [];
    if (most > 0) return withAtLeast(most * ALSO_LIKELY, all, counts);
    return isAscii || (script === 'latin' && !LATIN_ACCENT.test(sentence)) ? [] : withAtLeast(most, all, counts);
  });
}

function mostOf(languages: readonly Language[], counts: ReadonlyMap<Language, number>): number {
  let most = -Infinity;
  for (const one of languages) most = Math.max(most, counts.get(one) ?? 0);
  return most;
}

function withAtLeast(least: number, languages: readonly Language[], counts: ReadonlyMap<Language, number>) {
  return languages.filter((one) => (counts.get(one) ?? 0) >= least);
}

const LATIN_ACCENT = /[\u00df-\u00f6\u00f8-\u024f\u1ea0-\u1eff]/;
const LATIN_ACCENTS = new RegExp(LATIN_ACCENT, 'g');

function scriptsIn(text: string): readonly Script[] {
  if (!NOT_ASCII.test(text)) return ['latin'];
  const found = SCRIPT_NAMES.filter((script) => SCRIPTS[script].test(text));
  // Japanese uses ideographs as well.
  return found.includes('kana') ? found.filter((script) => script !== 'han') : found;
}

const SAMPLE_CHARS = 600;
const MIN_EVIDENCE = 2;
/** Of the words of a text, so that the names in code and logs do not make a language. */
const MIN_SHARE = 0.06;
const SHORT_WORDS = 30;

/** A letter with an accent, or one of another script. */
const FOREIGN = anyClass(LATIN_ACCENT, ...SCRIPT_NAMES.flatMap((name) => (name === 'latin' ? [] : SCRIPTS[name])));

/** The languages, except English, in which a text of any kind is surely or probably written. */
export function languagesOf(text: string): readonly Language[] {
  const sample = foldLetters(text.slice(0, SAMPLE_CHARS).toLowerCase());
  const found = functionWordsIn(sample);
  if (!FOREIGN.test(sample) && isRatherEnglish(found)) return [];
  const { counts, english } = weigh(sample, found);
  const words = new Set(sample.match(WORD)).size;
  return scriptsIn(sample).flatMap((script) => {
    const all = BY_SCRIPT.get(script) ?? [];
    const most = mostOf(all, counts);
    if (script === 'latin') {
      const isMeant = most >= MIN_EVIDENCE && most >= words * MIN_SHARE && most >= english;
      if (isMeant) return withAtLeast(most * ALSO_LIKELY, all, counts);
      return words <= SHORT_WORDS && LATIN_ACCENT.test(sample) ? withAtLeast(most, all, counts) : [];
    }
    return most >= MIN_EVIDENCE ? withAtLeast(most * ALSO_LIKELY, all, counts) : all;
  });
}

/** Whether no language can have enough evidence, even if all words that are not only English speak for it. */
function isRatherEnglish(words: readonly FunctionWord[]): boolean {
  let [english, most] = [0, 0];
  for (const { isEnglish, languages } of words) {
    if (isEnglish) english += 1;
    if (languages.length > 0) most += isEnglish ? SHARED : 1;
  }
  return most < Math.max(MIN_EVIDENCE, english);
}

/** All languages whose words a query may hold: those of its scripts. None of the Latin script if it is rather English. */
export function languagesOfQuery(query: string): readonly Language[] {
  const asked = foldLetters(query.toLowerCase());
  const { counts, english } = weigh(asked);
  return scriptsIn(asked).flatMap((script) => {
    const all = BY_SCRIPT.get(script) ?? [];
    return script === 'latin' && english > Math.max(0, mostOf(all, counts)) ? [] : all;
  });
}
