import { stemmer } from 'stemmer';
import { INDEXED_WORD, spaceOut } from '../../../core/search/words.ts';
import type { QueryTerm } from '../../../core/search/question.ts';
import { MAX_SEARCH_CHARS } from '../search/engine.ts';

/** Longer words are data; Postgres cuts them off at 2 KB. */
const MAX_WORD_CHARS = 200;
/** SQLite's stemmer leaves longer words alone. */
const MAX_STEMMED_CHARS = 64;
/** Postgres allows a megabyte for the words of a tsvector. */
const MAX_VECTOR_BYTES = 500_000;
/** Of one word, and the highest one, in a tsvector. */
const MAX_POSITIONS = 255;
const MAX_POSITION = 16_383;

/** The words of a text in their order, as the index has them: without case, accents and English endings. */
function indexWords(text: string): readonly string[] {
  return queryWords(spaceOut(text));
}

/** The same for the text of a query, which is spaced out already. */
function queryWords(text: string): readonly string[] {
  const words = text.match(INDEXED_WORD) ?? [];
  return words.map(toIndexWord).filter((word) => word !== '');
}

const stems = new Map<string, string>();
const MAX_STEMS = 50_000;

function toIndexWord(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const plain = /^[\da-z]+$/.test(word)
    ? word
    : word
        .toLowerCase()
        .normalize('NFD')
        .replace(/[\u0300-\u036f]+/g, '')
        .normalize('NFC');
  const cut = plain.length > MAX_WORD_CHARS ? plain.slice(0, MAX_WORD_CHARS).toWellFormed() : plain;
  const result = plain.length > MAX_STEMMED_CHARS ? cut : stemmer(plain);
  if (stems.size >= MAX_STEMS) stems.clear();
  stems.set(word, result);
  return result;
}

/** The distinct words of a message as texts of tsvectors, each small enough for Postgres. */
export function messageVectors(text: string): readonly string[] {
  const vectors: string[] = [];
  let words: string[] = [];
  let sizeBytes = 0;
  for (const word of new Set(indexWords(text.slice(0, MAX_SEARCH_CHARS)))) {
    sizeBytes += Buffer.byteLength(word) + 4;
    if (sizeBytes > MAX_VECTOR_BYTES) {
      vectors.push(words.join(' '));
      words = [];
      sizeBytes = 0;
    }
    words.push(quote(word));
  }
  return words.length === 0 ? vectors : [...vectors, words.join(' ')];
}

/** All words of a batch with their positions; what does not fit into a tsvector is left out. */
export function batchVector(text: string): { readonly vector: string; readonly wordCount: number } {
  const words = indexWords(text);
  const positions = new Map<string, number[]>();
  let sizeBytes = 0;
  words.forEach((word, at) => {
    const known = positions.get(word);
    const added = known === undefined ? Buffer.byteLength(word) + 8 : 2;
    if (sizeBytes + added > MAX_VECTOR_BYTES) return;
    if ((known?.length ?? 0) >= MAX_POSITIONS || at >= MAX_POSITION) return;
    sizeBytes += added;
    if (known === undefined) positions.set(word, [at + 1]);
    else known.push(at + 1);
  });
  const vector = [...positions].map(([word, at]) => `${quote(word)}:${at.join(',')}`).join(' ');
  return { vector, wordCount: words.length };
}

/** A tsquery for messages with any form of a word; null: it has none that could be found. */
export function messageQuery({ forms, isBeginning }: QueryTerm): string | null {
  const wanted = forms.flatMap((form) => {
    const words = queryWords(form);
    return words.length === 0 ? [] : [words.map((word) => quote(word) + (isBeginning ? ':*' : '')).join(' & ')];
  });
  return wanted.length === 0 ? null : [...new Set(wanted)].map((one) => `(${one})`).join(' | ');
}

/** A tsquery for batches with a word, or with words that follow each other; null: there are none that could be found. */
export function phraseQuery(term: string): string | null {
  const words = queryWords(term);
  return words.length === 0 ? null : words.map(quote).join(' <-> ');
}

/** A word has no characters that would need to be escaped. */
function quote(word: string): string {
  return `'${word}'`;
}
