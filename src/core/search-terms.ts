import { FUNCTION_WORDS } from './extract/english.ts';

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
