import { FUNCTION_WORDS } from '../extract/english.ts';
import { plainNumber } from './names.ts';

const WORD = /[\p{L}\p{N}_]+/gu;
// What turns a sentence into its opposite is no filler.
const TELLING: ReadonlySet<string> = new Set(['not', 'no', 'must', 'only', 'before', 'after', 'without']);

/** The words that a sentence is known by, whatever its quotes, case and punctuation; "don't" is "not". */
export function keyWords(text: string): readonly string[] {
  const plain = plainNumber(text.normalize('NFKC').toLowerCase())
    .replace(/can['’]t\b/g, 'not')
    .replace(/n['’]t\b/g, ' not')
    .replace(/\bcannot\b/g, 'not');
  return (plain.match(WORD) ?? []).filter((word) => TELLING.has(word) || !FUNCTION_WORDS.has(word));
}

export function sentenceKey(text: string): string {
  return keyWords(text).join(' ');
}
