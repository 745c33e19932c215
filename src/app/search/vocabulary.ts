import {
  chooseFeedback,
  FEEDBACK_SHARE,
  MAX_FEEDBACK_PART,
  RELATED_SHARE,
  relatedWords,
} from '../../core/search/added-words.ts';
import { KEYWORD_RARITY_POWER, QUESTION_RARITY_POWER, weighWord, type WordHits } from '../../core/search/places.ts';
import { formsOf, type QueryTerm, type Question } from '../../core/search/question.ts';
import type { MessageIndex, SearchFilter } from '../../ports/archive-lookup.ts';

type ListedWords = {
  /** Words with all messages that contain them. */
  readonly listed: readonly WordHits[];
  /** Words so common that only the candidates are checked for them. */
  readonly common: readonly Weighed[];
};

type Weighed = { readonly word: QueryTerm; readonly weight: number };

export type Vocabulary = {
  /** The words of a question and their related words. */
  readonly listWords: (question: Question) => Promise<ListedWords>;
  /** Words that the best messages share. */
  readonly listFeedback: (texts: readonly string[], question: Question) => Promise<readonly WordHits[]>;
};

/** Words in more messages than this are only looked up among the candidates, if there are rarer words. */
const MAX_LISTED_HITS = 300_000;
/** Related words in more messages than this say nothing and are slow to list. */
const MAX_RELATED_HITS = 5000;
const MAX_FEEDBACK_HITS = 1000;

/** The weights of a query's words in an archive, and the messages that contain them. */
export async function createVocabulary(messages: MessageIndex, filter: SearchFilter): Promise<Vocabulary> {
  const messageCount = await messages.countMessages();

  const listHits = async (words: readonly Weighed[]): Promise<readonly WordHits[]> => {
    const terms = words.map(({ word }) => word);
    const hits = terms.length === 0 ? [] : await messages.listHits(terms, filter);
    return words.map(({ weight }, at) => ({ lineIds: hits[at] ?? [], weight }));
  };

  const listRelated = async (words: readonly Weighed[]): Promise<readonly WordHits[]> => {
    const related = words.flatMap(({ word: { forms }, weight }) => {
      const others = relatedWords(forms).flatMap(formsOf);
      return others.length === 0 ? [] : [{ forms: [...new Set([...forms, ...others])], weight }];
    });
    if (related.length === 0) return [];
    const terms = related.map(({ forms }): QueryTerm => ({ forms, isBeginning: false }));
    const counts = await messages.countHits(terms, MAX_RELATED_HITS + 1);
    return listHits(
      terms.flatMap((word, at) => {
        const [count, most] = [counts[at] ?? 0, related[at]?.weight ?? 0];
        if (count === 0 || count > MAX_RELATED_HITS) return [];
        return [
          { word, weight: RELATED_SHARE * Math.min(most, weighWord(count, messageCount, QUESTION_RARITY_POWER)) },
        ];
      }),
    );
  };

  return {
    listWords: async ({ words, isKeywords }) => {
      const power = isKeywords ? KEYWORD_RARITY_POWER : QUESTION_RARITY_POWER;
      const counts = words.length === 0 ? [] : await messages.countHits(words, messageCount);
      const counted = words
        .map((word, at) => ({ word, count: counts[at] ?? 0 }))
        .map((one) => ({ ...one, weight: weighWord(one.count, messageCount, power) }))
        .toSorted((a, b) => a.count - b.count);
      const rare: Weighed[] = [];
      const common: Weighed[] = [];
      let hits = 0;
      for (const { word, weight, count } of counted.filter(({ count }) => count > 0)) {
        const isCommon = hits > 0 && hits + count > MAX_LISTED_HITS;
        (isCommon ? common : rare).push({ word, weight });
        if (!isCommon) hits += count;
      }
      return { listed: [...(await listHits(rare)), ...(isKeywords ? [] : await listRelated(counted))], common };
    },
    listFeedback: async (texts, { words }) => {
      const maxHits = Math.min(MAX_FEEDBACK_HITS, Math.ceil(messageCount * MAX_FEEDBACK_PART));
      const weigh = async (words: readonly string[]): Promise<readonly (number | null)[]> =>
        (words.length === 0 ? [] : await messages.countHits(words.map(toQueryTerm), maxHits + 1)).map((count) =>
          count === 0 || count > maxHits ? null : weighWord(count, messageCount, QUESTION_RARITY_POWER),
        );
      const chosen = await chooseFeedback(texts, {
        asked: words.flatMap(({ forms }) => forms),
        weigh,
        maxWeight: weighWord(1, messageCount, QUESTION_RARITY_POWER),
      });
      return (await listHits(chosen.map((word) => ({ word: toQueryTerm(word), weight: 0 })))).map(({ lineIds }) => ({
        lineIds,
        weight: FEEDBACK_SHARE * weighWord(lineIds.length, messageCount, QUESTION_RARITY_POWER),
      }));
    },
  };
}

function toQueryTerm(word: string): QueryTerm {
  return { forms: formsOf(word), isBeginning: false };
}
