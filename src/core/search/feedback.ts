import { FUNCTION_WORDS } from '../extract/english.ts';
import { spaceOutSought } from './spaceless.ts';
import { wordsOf } from './question.ts';

/** How much a word of the best messages counts, beside one that was asked for. */
export const FEEDBACK_SHARE = 0.1;
export const FEEDBACK_MESSAGES = 10;
const FEEDBACK_WORDS = 20;
/** Of each message: a tool's output would be all that is heard. */
const MAX_WORDS_A_MESSAGE = 30;
const MAX_CHARS = 4000;
const MIN_WORD_CHARS = 3;
/** A word that more of the messages have tells none from the other. */
export const MAX_FEEDBACK_PART = 0.1;

/** Words of the best messages that were not asked for; `weigh` is null for one that is too common or in no index. */
export function chooseFeedback(
  texts: readonly string[],
  { asked, weigh }: { readonly asked: ReadonlySet<string>; readonly weigh: (word: string) => number | null },
): readonly string[] {
  const values = new Map<string, number>();
  const weights = new Map<string, number | null>();
  const weighOnce = (word: string): number | null => {
    const known = weights.get(word);
    const weight = known === undefined ? weigh(word) : known;
    weights.set(word, weight);
    return weight;
  };
  for (const text of texts) {
    const words = new Set(wordsOf(spaceOutSought(text.slice(0, MAX_CHARS))).filter(isTelling));
    for (const word of [...words].slice(0, MAX_WORDS_A_MESSAGE)) {
      if (asked.has(word)) continue;
      const weight = weighOnce(word);
      if (weight !== null) values.set(word, (values.get(word) ?? 0) + weight);
    }
  }
  return [...values]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, FEEDBACK_WORDS)
    .map(([word]) => word);
}

function isTelling(word: string): boolean {
  return !FUNCTION_WORDS.has(word) && (word.length >= MIN_WORD_CHARS || /[^\p{ASCII}]/u.test(word));
}
