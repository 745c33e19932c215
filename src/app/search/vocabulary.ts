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
  readonly common: readonly { readonly word: QueryTerm; readonly weight: number }[];
};

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

  const listRelated = async ({ forms }: QueryTerm, weight: number): Promise<readonly WordHits[]> => {
    const related = relatedWords(forms).flatMap(formsOf);
    if (related.length === 0) return [];
    const word = { forms: [...new Set([...forms, ...related])], isBeginning: false };
    const count = await messages.countHits(word, MAX_RELATED_HITS + 1);
    if (count === 0 || count > MAX_RELATED_HITS) return [];
    const share = RELATED_SHARE * Math.min(weight, weighWord(count, messageCount, QUESTION_RARITY_POWER));
    return [{ lineIds: await messages.listHits(word, filter), weight: share }];
  };

  return {
    listWords: async ({ words, isKeywords }) => {
      const power = isKeywords ? KEYWORD_RARITY_POWER : QUESTION_RARITY_POWER;
      const found: { readonly word: QueryTerm; readonly count: number; readonly weight: number }[] = [];
      for (const word of words) {
        const count = await messages.countHits(word, messageCount);
        found.push({ word, count, weight: weighWord(count, messageCount, power) });
      }
      const counted = found.toSorted((a, b) => a.count - b.count);
      const listed: WordHits[] = [];
      const common: { word: QueryTerm; weight: number }[] = [];
      let hits = 0;
      for (const { word, weight, count } of counted.filter(({ count }) => count > 0)) {
        if (hits > 0 && hits + count > MAX_LISTED_HITS) {
          common.push({ word, weight });
          continue;
        }
        const lineIds = await messages.listHits(word, filter);
        hits += lineIds.length;
        listed.push({ lineIds, weight });
      }
      if (!isKeywords) for (const { word, weight } of counted) listed.push(...(await listRelated(word, weight)));
      return { listed, common };
    },
    listFeedback: async (texts, { words }) => {
      const maxHits = Math.min(MAX_FEEDBACK_HITS, Math.ceil(messageCount * MAX_FEEDBACK_PART));
      const weigh = async (word: string): Promise<number | null> => {
        const count = await messages.countHits(toQueryTerm(word), maxHits + 1);
        return count === 0 || count > maxHits ? null : weighWord(count, messageCount, QUESTION_RARITY_POWER);
      };
      const hits: WordHits[] = [];
      for (const word of await chooseFeedback(texts, { asked: words.flatMap(({ forms }) => forms), weigh })) {
        const lineIds = await messages.listHits(toQueryTerm(word), filter);
        const weight = FEEDBACK_SHARE * weighWord(lineIds.length, messageCount, QUESTION_RARITY_POWER);
        hits.push({ lineIds, weight });
      }
      return hits;
    },
  };
}

function toQueryTerm(word: string): QueryTerm {
  return { forms: formsOf(word), isBeginning: false };
}
