import { FUNCTION_WORDS } from '../extract/word-lists.ts';
import { languagesOf } from '../languages/detect.ts';
import { anyClass, FOLDED, foldLetters } from '../languages/fold.ts';
import { INDIAN, joinMarks, markedStems } from '../languages/stem.ts';

/** More terms add little, and each costs an index lookup. */
const MAX_TERMS = 64;
/** The longest path or URL that is searched as a whole; longer ones are data. */
const MAX_PHRASE_WORDS = 12;
/** Splits words as the index does: letters, digits and private-use characters with their combining marks. */
export const WORD = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;

/**
 * The search terms of any text: its distinct words, and connected words (`src/app.ts`) also as a sequence. Function words count only if
 * there are no others. Empty if the text has no words.
 */
export function readSearchTerms(query: string): readonly string[] {
  const chunks = query.split(/\s+/).map((chunk): readonly string[] => chunk.match(WORD) ?? []);
  const content = chunks.map((words) => words.filter((word) => !FUNCTION_WORDS.has(word.toLowerCase())));
  const terms = collectTerms(content);
  return terms.length > 0 ? terms : collectTerms(chunks);
}

function collectTerms(chunks: readonly (readonly string[])[]): readonly string[] {
  const terms = new Map<string, string>();
  const add = (term: string): void => {
    const key = term.toLowerCase();
    if (!terms.has(key)) terms.set(key, term);
  };
  for (const words of chunks) {
    if (terms.size >= MAX_TERMS) break;
    if (words.length > 1) add(words.slice(0, MAX_PHRASE_WORDS).join(' '));
    for (const word of words) add(word);
  }
  return [...terms.values()].slice(0, MAX_TERMS);
}

/** Removes case, accents and the commonest English endings, so that words which the index treats as one usually have the same root. */
export function rootOf(word: string): string {
  const folded = foldWord(word);
  if (!/^[a-z]{4,40}$/.test(folded)) return folded;
  const ending = ENDINGS.find((one) => folded.endsWith(one) && folded.length - one.length >= MIN_ROOT_CHARS) ?? '';
  const root = folded.slice(0, folded.length - ending.length);
  if (ending === 'ies' || ending === 'y') return `${root}i`;
  return root.replace(/([b-df-hj-np-tv-z])\1$/, '$1').replace(/y$/, 'i'); // 'plays' becomes 'play'
}

const MIN_ROOT_CHARS = 3;
/** The longest matching ending is removed. */
const ENDINGS = ['ations', 'ation', 'edly', 'ings', 'ing', 'ies', 'ers', 'ed', 'er', 'es', 'ly', 's', 'y', 'e'];

/** Removes case and accents. */
export function foldWord(word: string): string {
  return ASCII.test(word)
    ? word.toLowerCase()
    : word
        .normalize('NFD')
        .replace(/\p{M}+/gu, '')
        .toLowerCase();
}

const ASCII = /^[0-9A-Za-z]*$/;

/** Scripts that put no spaces between words or attach particles to them. */
const RUN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々]+/gu;
const ANY = new RegExp(RUN.source, 'u');
/** Ranges with all characters of these scripts and few others. Testing for them is far cheaper than testing for scripts. */
const CANDIDATES = /[\u0e01-\u0eff\u1000-\u19ff\u2e80-\udfff\uf900-\uffef]+/g;
const PREPARED = anyClass(CANDIDATES, FOLDED, INDIAN);

export function isSpaceless(text: string): boolean {
  return ANY.test(text);
}

/**
 * Prepares text for the index: letters folded, stretches without spaces as pairs of characters, followed by the last character alone, and at the
 * end the stems of words in other languages than English, whose stems the index makes itself.
 */
export function spaceOut(text: string): string {
  const spaced = replaceRuns(withoutEscapes(text), (characters) => [...pairsOf(characters), characters.at(-1) ?? '']);
  const languages = languagesOf(text);
  if (languages.length === 0) return spaced;
  const stems = new Set<string>();
  for (const word of new Set(spaced.match(INDEXED_WORD))) {
    for (const stem of markedStems(word, languages)) stems.add(stem);
  }
  return stems.size === 0 ? spaced : `${spaced} ${[...stems].join(' ')}`;
}

/** Line ends in JSON, the arguments of a call, are no letters of the word behind them. */
function withoutEscapes(text: string): string {
  return text.includes('\\') && text.includes('{"')
    ? text.replace(ESCAPE, (escape) => (escape === '\\\\' ? escape : ' '))
    : text;
}

const ESCAPE = /\\[\\nrt]/g;

/** Words as the index has them: letters with the accents of Latin, Greek and Cyrillic, digits, and private-use characters. */
export const INDEXED_WORD = /[\p{L}\p{N}\p{Co}\u0300-\u036f]+/gu;

/** Prepares a query in the same way: pairs of characters, and a single character only if it stands alone. Stems are forms of its words. */
export function spaceOutQuery(text: string): string {
  return replaceRuns(text, (characters) => (characters.length === 1 ? characters : pairsOf(characters)));
}

function replaceRuns(text: string, toWords: (characters: readonly string[]) => readonly string[]): string {
  if (!PREPARED.test(text)) return text;
  const spaceRun = (run: string): string => ` ${toWords(Array.from(foldRun(run))).join(' ')} `;
  return joinMarks(foldLetters(text)).replace(CANDIDATES, (part) => part.replace(RUN, spaceRun));
}

/** Removes combining marks, where the index would split words. */
function foldRun(run: string): string {
  return run.normalize('NFKC').replace(/\p{M}/gu, '');
}

function pairsOf(characters: readonly string[]): readonly string[] {
  return characters.slice(1).map((character, at) => `${characters[at] ?? ''}${character}`);
}
