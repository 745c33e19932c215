import { FUNCTION_WORDS } from '../extract/word-lists.ts';

/** What is looked for is said in the first of them; each more costs a look through the index. */
const MAX_TERMS = 64;
/** A path or an address as a whole; what is longer is somebody's data. */
const MAX_PHRASE_WORDS = 12;
/** As the index parts words: letters, digits and private characters, with the marks that stand on them. */
const WORD = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;

/**
 * What any text asks for: its words, each once, and where several hang together (`src/app.ts`) those words in that order too. Function
 * words count only where there are no others. Empty: there is no word in it.
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

/** Without case, accents and the commonest endings: words that the index takes for one mostly have one root. */
export function rootOf(word: string): string {
  const folded = foldWord(word);
  if (!/^[a-z]{4,40}$/.test(folded)) return folded;
  const ending = ENDINGS.find((one) => folded.endsWith(one) && folded.length - one.length >= MIN_ROOT_CHARS) ?? '';
  const root = folded.slice(0, folded.length - ending.length);
  if (ending === 'ies' || ending === 'y') return `${root}i`;
  return root.replace(/([b-df-hj-np-tv-z])\1$/, '$1').replace(/y$/, 'i'); // plays as play
}

const MIN_ROOT_CHARS = 3;
/** The longest that a word has is taken off. */
const ENDINGS = ['ations', 'ation', 'edly', 'ings', 'ing', 'ies', 'ers', 'ed', 'er', 'es', 'ly', 's', 'y', 'e'];

/** Without case and accents. */
export function foldWord(word: string): string {
  return ASCII.test(word)
    ? word.toLowerCase()
    : word
        .normalize('NFD')
        .replace(/\p{M}+/gu, '')
        .toLowerCase();
}

const ASCII = /^[0-9A-Za-z]*$/;

/** Scripts that put no spaces between words, or join particles to them. */
const RUN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々]+/gu;
const ANY = new RegExp(RUN.source, 'u');

export function isSpaceless(text: string): boolean {
  return ANY.test(text);
}

/** What the index is given of a text: stretches without spaces become their pairs of characters, and the last one alone. */
export function spaceOut(text: string): string {
  return replaceRuns(text, (characters) => [...pairsOf(characters), characters.at(-1) ?? '']);
}

/** The same of what is looked for: pairs, and one character only where it stands alone. */
export function spaceOutQuery(text: string): string {
  return replaceRuns(text, (characters) => (characters.length === 1 ? characters : pairsOf(characters)));
}

function replaceRuns(text: string, toWords: (characters: readonly string[]) => readonly string[]): string {
  if (!isSpaceless(text)) return text;
  return text.replace(RUN, (run) => ` ${toWords(Array.from(foldRun(run))).join(' ')} `);
}

/** Marks that stand on letters part words for the index. */
function foldRun(run: string): string {
  return run.normalize('NFKC').replace(/\p{M}/gu, '');
}

function pairsOf(characters: readonly string[]): readonly string[] {
  return characters.slice(1).map((character, at) => `${characters[at] ?? ''}${character}`);
}
