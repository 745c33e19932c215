import { FEEDBACK_MESSAGES, FEEDBACK_SHARE, MAX_FEEDBACK_PART, chooseFeedback } from '../../core/search/feedback.ts';
import { weighMeaning } from '../../core/search/meaning.ts';
import { PHRASE_MESSAGES, PHRASE_SHARE, readPhrases, sharePhrases } from '../../core/search/phrases.ts';
import { findPlaces, weighWord } from '../../core/search/places.ts';
import type { WordHits } from '../../core/search/places.ts';
import { readQuestion } from '../../core/search/question.ts';
import type { SoughtWord } from '../../core/search/question.ts';
import { isAbout, rankCandidates } from '../../core/search/rank.ts';
import type { Ranked } from '../../core/search/rank.ts';
import { formsOf } from '../../core/search/word-forms.ts';
import type { MessageIndex, SearchFilter, StoredCandidate } from '../../ports/message-index.ts';

export type MessageSearch = {
  readonly query: string;
  readonly filter: SearchFilter;
  readonly limit: number;
  /** What some of the lines say. */
  readonly readTexts: (lineIds: readonly number[]) => readonly string[];
  /** Messages that are about the same as the query, and how much alike some are; undefined: only their words are looked at. */
  readonly meaning?: {
    readonly nearest: (limit: number) => readonly number[];
    readonly similarities: (lineIds: readonly number[]) => ReadonlyMap<number, number>;
  };
};

export type RankedLine = { readonly lineId: number; readonly score: number };

/** So many are looked at closely. */
const MAX_CANDIDATES = 200;
/** So many more, that have none of the words but mean about the same. */
const NEAREST = 30;
const MAX_NEAREST = 300;
/** Places that are looked up at a time: some are no messages, or are not let through. */
const FIRST_PLACES = 400;
const PLACES_GROWTH = 4;
/** Words that more messages have are only looked for among the candidates, where there are rarer ones. */
const MAX_LISTED_HITS = 300_000;
/** With fewer words than this somebody looks for the words, and not for what stands around them. */
const MIN_QUESTION_WORDS = 3;
const MAX_FEEDBACK_HITS = 1000;

/** Numbers of the archived messages that fit a text best. */
export function findMessages(messages: MessageIndex, search: MessageSearch): readonly RankedLine[] {
  return messages.inOneState(() => rankMessages(messages, search));
}

function rankMessages(messages: MessageIndex, search: MessageSearch): readonly RankedLine[] {
  const { query, filter, limit, readTexts, meaning } = search;
  const question = readQuestion(query, messages.listSpeakers());
  const messageCount = messages.countMessages();
  const { listed, common } = listWords(messages, { words: question.words, filter, messageCount });
  const byWords = loadCandidates(messages, { listed, filter, wanted: Math.max(MAX_CANDIDATES, limit) });
  const nearest = meaning?.nearest(Math.min(MAX_NEAREST, Math.max(NEAREST, limit))) ?? [];
  const loaded = addCandidates(byWords, inOrder(nearest, messages.loadCandidates(nearest, filter)));
  if (loaded.length === 0) return [];
  const around = idsAround(loaded);
  const words = [
    ...listed,
    ...common.map(({ word, weight }) => ({ lineIds: messages.listHitsAmong(word, around), weight })),
  ];
  const isFew = question.words.length < MIN_QUESTION_WORDS;
  const near = new Set(nearest);
  const candidates = isFew ? loaded.filter((one) => near.has(one.lineId) || isAbout(one, words)) : loaded;
  const { speaker, asksWhen } = question;
  const similarities = meaning?.similarities(candidates.map(({ lineId }) => lineId));
  const meaningShare = similarities === undefined ? () => 0 : weighMeaning(similarities);
  const plain = { words, speaker, asksWhen, alsoFor: meaningShare };
  const phraseShare = readPhraseShares(rankCandidates(candidates, plain), search);
  const options = { ...plain, alsoFor: (lineId: number): number => meaningShare(lineId) + phraseShare(lineId) };
  const first = rankCandidates(candidates, options);
  // Where none of the words stands anywhere, others must not be looked for in their place.
  if (byWords.length === 0) return first.slice(0, limit).map(toRankedLine);

  const maxHits = Math.min(MAX_FEEDBACK_HITS, Math.ceil(messageCount * MAX_FEEDBACK_PART));
  const heard = chooseFeedback(readTexts(first.slice(0, FEEDBACK_MESSAGES).map(({ candidate }) => candidate.lineId)), {
    asked: question.words.flatMap(({ forms }) => forms),
    weigh: (word) => {
      const count = messages.countHits(toSought(word), maxHits + 1);
      return count === 0 || count > maxHits ? null : weighWord(count, messageCount);
    },
  });
  const more = heard.map((word): WordHits => {
    const lineIds = messages.listHits(toSought(word), filter);
    return { lineIds, weight: FEEDBACK_SHARE * weighWord(lineIds.length, messageCount) };
  });
  const ranked = rankCandidates(candidates, { ...options, words: [...words, ...more] });
  return ranked.slice(0, limit).map(toRankedLine);
}

function toRankedLine({ candidate, score }: Ranked<StoredCandidate>): RankedLine {
  return { lineId: candidate.lineId, score };
}

/** Which of the best hold word for word what stands together in the query. */
function readPhraseShares(
  ranked: readonly Ranked<StoredCandidate>[],
  { query, readTexts }: MessageSearch,
): (lineId: number) => number {
  const phrases = readPhrases(query);
  if (phrases.length === 0) return () => 0;
  const lineIds = ranked.slice(0, PHRASE_MESSAGES).map(({ candidate }) => candidate.lineId);
  const texts = readTexts(lineIds);
  const shares = new Map(lineIds.map((id, at) => [id, PHRASE_SHARE * sharePhrases(texts[at] ?? '', phrases)]));
  return (lineId) => shares.get(lineId) ?? 0;
}

function toSought(word: string): SoughtWord {
  return { forms: formsOf(word), isBeginning: false };
}

type Weighed = { readonly word: SoughtWord; readonly weight: number };

/** The rarest words with all the messages that have them, and those of which that would be too many. */
function listWords(
  messages: MessageIndex,
  of: { readonly words: readonly SoughtWord[]; readonly filter: SearchFilter; readonly messageCount: number },
): { readonly listed: readonly WordHits[]; readonly common: readonly Weighed[] } {
  const counted = of.words
    .map((word) => ({ word, count: messages.countHits(word, of.messageCount) }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => a.count - b.count);
  const listed: WordHits[] = [];
  const common: Weighed[] = [];
  let hits = 0;
  for (const { word, count } of counted) {
    const weight = weighWord(count, of.messageCount);
    if (hits > 0 && hits + count > MAX_LISTED_HITS) {
      common.push({ word, weight });
      continue;
    }
    const lineIds = messages.listHits(word, of.filter);
    hits += lineIds.length;
    listed.push({ lineIds, weight });
  }
  return { listed, common };
}

/** The best that can be found, each text of a conversation once. */
function loadCandidates(
  messages: MessageIndex,
  of: { readonly listed: readonly WordHits[]; readonly filter: SearchFilter; readonly wanted: number },
): readonly StoredCandidate[] {
  let found: readonly StoredCandidate[] = [];
  let done = 0;
  for (let count = Math.max(FIRST_PLACES, 2 * of.wanted); ; count *= PLACES_GROWTH) {
    const places = findPlaces(of.listed, count);
    const more = places.slice(done);
    found = addCandidates(found, inOrder(more, messages.loadCandidates(more, of.filter)));
    if (found.length >= of.wanted || places.length < count) break;
    done = places.length;
  }
  return found.slice(0, of.wanted);
}

function addCandidates(
  known: readonly StoredCandidate[],
  more: readonly StoredCandidate[],
): readonly StoredCandidate[] {
  const found = new Map<string, StoredCandidate>();
  for (const candidate of [...known, ...more]) {
    const key = `${candidate.sha256} ${candidate.conversationId ?? ''}`;
    if (!found.has(key)) found.set(key, candidate);
  }
  return [...found.values()];
}

function inOrder(lineIds: readonly number[], candidates: readonly StoredCandidate[]): readonly StoredCandidate[] {
  const byId = new Map(candidates.map((candidate) => [candidate.lineId, candidate]));
  return lineIds.flatMap((id) => byId.get(id) ?? []);
}

function idsAround(candidates: readonly StoredCandidate[]): readonly number[] {
  const ids = candidates.flatMap(({ lineId, near }) => [lineId, ...near.map((one) => one.lineId)]);
  return [...new Set(ids)].toSorted((a, b) => a - b);
}
