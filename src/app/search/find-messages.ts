import { chooseFeedback, relatedWords } from '../../core/search/added-words.ts';
import {
  countAnsweredKinds,
  isFromPeriod,
  type Period,
  readAnswerKinds,
  readPeriod,
  readPhrases,
  sharePhrases,
  spanOf,
} from '../../core/search/query-hints.ts';
import { formsOf, type QueryTerm, type Question, readQuestion } from '../../core/search/question.ts';
import {
  BROAD_WEIGHTS,
  DEEP_WEIGHTS,
  findPlaces,
  isAbout,
  KEYWORD_RARITY_POWER,
  KEYWORD_WEIGHTS,
  QUESTION_RARITY_POWER,
  QUESTION_WEIGHTS,
  rankCandidates,
  type Ranked,
  type RankOptions,
  weighSimilarity,
  weighWord,
  type WordHits,
} from '../../core/search/rank.ts';
import type {
  ArchivedBatch,
  BatchQuery,
  MessageIndex,
  Scored,
  SearchFilter,
  StoredCandidate,
} from '../../ports/archive-lookup.ts';
import type { ArchiveState } from '../../ports/archive.ts';

export type MessageSearch = {
  readonly query: string;
  readonly filter: SearchFilter;
  readonly limit: number;
  /** The texts of these lines. */
  readonly readTexts: (lineIds: readonly number[]) => Promise<readonly string[]>;
  /** Finds messages with a similar meaning; undefined: only words are compared. */
  readonly meaning?:
    | {
        readonly nearest: (limit: number) => Promise<readonly number[]>;
        readonly similarities: (lineIds: readonly number[]) => Promise<ReadonlyMap<number, number>>;
      }
    | undefined;
};

type RankedLine = { readonly lineId: number; readonly score: number };

const MAX_CANDIDATES = 200;
/** How many more have none of the words but a similar meaning. */
const NEAREST = 30;
const MAX_NEAREST = 300;
/** How many places are loaded at a time; some are not messages or are filtered out. */
const FIRST_PLACES = 400;
const PLACES_GROWTH = 4;
/** The first results, which matter most to someone who wants one answer. */
const HEAD_MESSAGES = 10;
/** A query with fewer words is meant literally, so messages around a match do not count. */
const MIN_QUESTION_WORDS = 3;
/** A question with so few words that occur is broad: its best messages differ, so that what they share says less. */
const MAX_BROAD_WORDS = 2;
const BROAD_FEEDBACK = 0.5;
/** The weight of a word from the best messages, relative to a query word. */
const FEEDBACK_SHARE = 0.15;
const FEEDBACK_MESSAGES = 10;
/** A word in more than this share of the messages does not distinguish them. */
const MAX_FEEDBACK_PART = 0.1;
/** The weight of a related word, relative to the query word. */
const RELATED_SHARE = 0.4;
/** Bonuses, as shares of the best word score: for a message with the kind of answer that is asked for, from the named period, and with all phrases. */
const [KIND_SHARE, PERIOD_SHARE, PHRASE_SHARE] = [0.2, 0.6, 0.3];
/** How many of the best messages are checked for kinds of answers and for phrases. */
const [KIND_MESSAGES, PHRASE_MESSAGES] = [30, 20];
/** More messages from a period tell nothing. */
const PERIOD_MESSAGES = 150;

/** Ids of the archived messages that match a text best. All calls should see one state of the archive. */
export async function findMessages(messages: MessageIndex, search: MessageSearch): Promise<readonly RankedLine[]> {
  const { query, filter, limit, meaning } = search;
  const question = readQuestion(query, await messages.listSpeakers());
  const vocabulary = await createVocabulary(messages, filter);
  const { listed, common, isBroad } = await vocabulary.listWords(question);
  const byWords = await loadCandidates(messages, { listed, filter, wanted: Math.max(MAX_CANDIDATES, limit) });
  const nearest = (await meaning?.nearest(Math.min(MAX_NEAREST, Math.max(NEAREST, limit)))) ?? [];
  const { speaker, asksWhen, isKeywords } = question;
  const period = isKeywords ? null : readPeriod(query);
  const others = [...nearest, ...(await listFrom(messages, period))];
  const loaded = addCandidates(byWords, inOrder(others, await messages.loadCandidates(others, filter)));
  if (loaded.length === 0) return [];
  const ids = loaded.flatMap(({ lineId, near }) => [lineId, ...near.map((one) => one.lineId)]);
  const around = [...new Set(ids)].toSorted((a, b) => a - b);
  const words = [...listed];
  for (const { word, weight } of common) words.push({ lineIds: await messages.listHitsAmong(word, around), weight });
  const near = new Set(others);
  const isFew = question.words.length < MIN_QUESTION_WORDS;
  const candidates = isFew ? loaded.filter((one) => near.has(one.lineId) || isAbout(one, words)) : loaded;
  const plain: RankOptions = {
    words,
    weights: isKeywords ? KEYWORD_WEIGHTS : isBroad ? BROAD_WEIGHTS : QUESTION_WEIGHTS,
    speaker,
    asksWhen,
    alsoFor: sumShares(await shareMeaning(candidates, search), sharePeriod(candidates, period)),
  };
  const told = await shareTold(rankCandidates(candidates, plain), { search, isKeywords });
  const options = { ...plain, alsoFor: sumShares(plain.alsoFor, told) };
  const first = rankCandidates(candidates, options);
  // If none of the words occurs anywhere, do not search for other words instead.
  if (isKeywords || byWords.length === 0) return first.slice(0, limit).map(toRankedLine);

  const best = first.slice(0, FEEDBACK_MESSAGES).map(({ candidate }) => candidate.lineId);
  const share = isBroad ? BROAD_FEEDBACK * FEEDBACK_SHARE : FEEDBACK_SHARE;
  const more = await vocabulary.listFeedback(await search.readTexts(best), question, share);
  const last = { ...options, words: [...words, ...more] };
  return limit > HEAD_MESSAGES
    ? rankTwice(candidates, last).slice(0, limit)
    : rankCandidates(candidates, last).slice(0, limit).map(toRankedLine);
}

/** Ranks the first results by one measure and the rest by another; scores never increase. */
function rankTwice(candidates: readonly StoredCandidate[], options: RankOptions): readonly RankedLine[] {
  const head = rankCandidates(candidates, options).slice(0, HEAD_MESSAGES).map(toRankedLine);
  const known = new Set(head.map(({ lineId }) => lineId));
  const most = head.at(-1)?.score ?? 0;
  const rest = rankCandidates(candidates, { ...options, weights: DEEP_WEIGHTS })
    .map(toRankedLine)
    .filter(({ lineId }) => !known.has(lineId))
    .map(({ lineId, score }) => ({ lineId, score: Math.min(score, most) }));
  return [...head, ...rest];
}

/** What counts for a message besides words, by its id, on the scale of `RankOptions.alsoFor`. */
type Share = (lineId: number) => number;

const NO_SHARE: Share = () => 0;

function sumShares(...shares: readonly Share[]): Share {
  return (lineId) => shares.reduce((sum, share) => sum + share(lineId), 0);
}

async function shareMeaning(candidates: readonly StoredCandidate[], { meaning }: MessageSearch): Promise<Share> {
  return meaning === undefined
    ? NO_SHARE
    : weighSimilarity(await meaning.similarities(candidates.map(({ lineId }) => lineId)));
}

/** Favors messages from the period that the query names. */
function sharePeriod(candidates: readonly StoredCandidate[], period: Period | null): Share {
  if (period === null) return NO_SHARE;
  const told = new Set(candidates.filter(({ at }) => isFromPeriod(period, at)).map(({ lineId }) => lineId));
  return (lineId) => (told.has(lineId) ? PERIOD_SHARE : 0);
}

/** Favors messages that contain the query's phrases verbatim, or the kind of thing that it asks for. */
async function shareTold(
  ranked: readonly Ranked<StoredCandidate>[],
  { search, isKeywords }: { search: MessageSearch; isKeywords: boolean },
): Promise<Share> {
  const phrases = readPhrases(search.query);
  const kinds = isKeywords ? [] : readAnswerKinds(search.query);
  const count = Math.max(phrases.length > 0 ? PHRASE_MESSAGES : 0, kinds.length > 0 ? KIND_MESSAGES : 0);
  if (count === 0) return NO_SHARE;
  const lineIds = ranked.slice(0, count).map(({ candidate }) => candidate.lineId);
  const texts = await search.readTexts(lineIds);
  const shares = new Map(
    lineIds.map((id, at) => {
      const text = texts[at] ?? '';
      const together = at < PHRASE_MESSAGES ? PHRASE_SHARE * sharePhrases(text, phrases) : 0;
      return [id, together + KIND_SHARE * countAnsweredKinds(text, kinds)] as const;
    }),
  );
  return (lineId) => shares.get(lineId) ?? 0;
}

function toRankedLine({ candidate, score }: Ranked<StoredCandidate>): RankedLine {
  return { lineId: candidate.lineId, score };
}

/** The messages from the period that a query names: few enough of them are candidates, whatever their words. */
async function listFrom(messages: MessageIndex, period: Period | null): Promise<readonly number[]> {
  if (period === null || period.year === null) return [];
  const lineIds = await messages.listFrom(spanOf(period, period.year), PERIOD_MESSAGES + 1);
  return lineIds.length > PERIOD_MESSAGES ? [] : lineIds;
}

/** Loads the best candidates, each text of a conversation once. */
async function loadCandidates(
  messages: MessageIndex,
  of: { readonly listed: readonly WordHits[]; readonly filter: SearchFilter; readonly wanted: number },
): Promise<readonly StoredCandidate[]> {
  let found: readonly StoredCandidate[] = [];
  let done = 0;
  for (let count = Math.max(FIRST_PLACES, 2 * of.wanted); ; count *= PLACES_GROWTH) {
    const places = findPlaces(of.listed, count);
    const more = places.slice(done);
    found = addCandidates(found, inOrder(more, await messages.loadCandidates(more, of.filter)));
    if (found.length >= of.wanted || places.length < count) break;
    done = places.length;
  }
  return found.slice(0, of.wanted);
}

function addCandidates(known: readonly StoredCandidate[], more: readonly StoredCandidate[]) {
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

/** How many batches are compared by meaning. */
const NEAREST_BATCHES = 20;

/** Batches that contain the words of a query or, given its vector, have a similar meaning. The two scores are added. */
export async function findBatches(
  { searchBatches, vectors }: Pick<ArchiveState, 'searchBatches' | 'vectors'>,
  query: BatchQuery,
  vector: Float32Array | null,
): Promise<readonly Scored<ArchivedBatch>[]> {
  if (vector === null) return searchBatches(query);
  const count = Math.max(NEAREST_BATCHES, query.limit);
  const byWords = await searchBatches({ ...query, limit: count });
  const nearest = await vectors.nearestBatches(vector, { filter: query.filter, limit: count });
  const likeness = weighSimilarity(new Map(nearest.map(({ id, score }) => [id, score ?? 0])));
  const best = byWords[0]?.score ?? 1;
  const wordScores = new Map(byWords.map(({ id, score }) => [id, score ?? 0]));
  const all = new Map([...byWords, ...nearest].map((batch) => [batch.id, batch]));
  return [...all.values()]
    .map((batch) => ({ ...batch, score: (wordScores.get(batch.id) ?? 0) + likeness(batch.id) * best }))
    .toSorted((a, b) => b.score - a.score || a.id - b.id)
    .slice(0, query.limit);
}

type Weighed = { readonly word: QueryTerm; readonly weight: number };

/** Words in more messages than this are only looked up among the candidates, if there are rarer words. */
const MAX_LISTED_HITS = 300_000;
/** Related words in more messages than this say nothing and are slow to list. */
const MAX_RELATED_HITS = 5000;
const MAX_FEEDBACK_HITS = 1000;

/** The weights of a query's words in an archive, and the messages that contain them. */
async function createVocabulary(messages: MessageIndex, filter: SearchFilter) {
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
    /** The words of a question and their related words, and those so common that only the candidates are checked for them. */
    listWords: async ({ words, isKeywords }: Question) => {
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
      const listed = [...(await listHits(rare)), ...(isKeywords ? [] : await listRelated(counted))];
      return { listed, common, isBroad: rare.length + common.length <= MAX_BROAD_WORDS };
    },
    /** Words that the best messages share. */
    listFeedback: async (texts: readonly string[], { words }: Question, share: number) => {
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
        weight: share * weighWord(lineIds.length, messageCount, QUESTION_RARITY_POWER),
      }));
    },
  };
}

function toQueryTerm(word: string): QueryTerm {
  return { forms: formsOf(word), isBeginning: false };
}
