import { FUNCTION_WORDS } from '../extract/english.ts';
import { wordsOf } from './question.ts';
import { rootOf } from './root.ts';
import { spaceOutSought } from './spaceless.ts';

/** How much a word of the best messages counts, beside one that was asked for. */
export const FEEDBACK_SHARE = 0.15;
export const FEEDBACK_MESSAGES = 10;
const FEEDBACK_WORDS = 20;
/** Of each message: a tool's output would be all that is heard. */
const MAX_WORDS_A_MESSAGE = 30;
const MAX_CHARS = 4000;
const MIN_WORD_CHARS = 3;
/** A word that more of the messages have tells none from the other. */
export const MAX_FEEDBACK_PART = 0.1;

/** Words of the best messages that were not asked for in any form; `weigh` is null for one that is too common or in no index. */
export function chooseFeedback(
  texts: readonly string[],
  { asked, weigh }: { readonly asked: readonly string[]; readonly weigh: (word: string) => number | null },
): readonly string[] {
  const askedRoots = new Set(asked.map(rootOf));
  const heard = new Map<string, { readonly word: string; readonly weight: number | null; count: number }>();
  for (const text of texts) {
    const words = new Map(
      wordsOf(spaceOutSought(text.slice(0, MAX_CHARS)))
        .filter(isTelling)
        .map((word) => [rootOf(word), word]),
    );
    for (const [root, word] of [...words].slice(0, MAX_WORDS_A_MESSAGE)) {
      if (askedRoots.has(root)) continue;
      const known = heard.get(root);
      if (known === undefined) heard.set(root, { word, weight: weigh(word), count: 1 });
      else known.count += 1;
    }
  }
  return [...heard.values()]
    .flatMap(({ word, weight, count }) => (weight === null ? [] : [{ word, value: weight * count }]))
    .toSorted((a, b) => b.value - a.value)
    .slice(0, FEEDBACK_WORDS)
    .map(({ word }) => word);
}

function isTelling(word: string): boolean {
  return !FUNCTION_WORDS.has(word) && (word.length >= MIN_WORD_CHARS || /[^\p{ASCII}]/u.test(word));
}
