import { createHeap } from '../heap.ts';
import type { MessageTraits } from './query-hints.ts';

/** The messages that contain a word, by ascending number. */
export type WordHits = { readonly lineIds: readonly number[]; readonly weight: number };

/**
 * The share of a word's weight that a message gets from a neighbor this many steps before (negative) or after it. The same person usually
 * spoke two messages before.
 */
const NEAR_SHARES: ReadonlyMap<number, number> = new Map([
  [-2, 0.4],
  [-1, 0.4],
  [0, 1],
  [1, 0.4],
  [2, 0.2],
]);

/** A neighbor of a message, this many steps before (negative) or after it. */
export type NearMessage = {
  readonly lineId: number;
  readonly steps: number;
  readonly sizeBytes: number;
  readonly traits: MessageTraits;
};

/** A message that may be what the query asks for. */
export type Candidate = {
  readonly lineId: number;
  readonly conversationId: string | null;
  readonly at: Date | null;
  readonly sizeBytes: number;
  readonly traits: MessageTraits;
  readonly name: string | null;
  readonly near: readonly NearMessage[];
};

/** How much each factor counts, relative to what it changes. */
type RankWeights = {
  /** For words of a question, when the message answers it. */
  readonly answer: number;
  /** For words of the message before that question, which it is usually about. */
  readonly askedAbout: number;
  /** For words of neighbors, multiplied with `NEAR_SHARES`. */
  readonly near: number;
  readonly speaker: number;
  readonly time: number;
  /** The penalty for a message that only asks. */
  readonly question: number;
  readonly session: number;
  /** The b of BM25, which makes long messages count less. */
  readonly length: number;
};

/** Measured on questions about long conversations. The answer often contains none of the words, but stands next to messages that do. */
export const QUESTION_WEIGHTS: RankWeights = {
  answer: 0.9,
  askedAbout: 0.7,
  near: 1,
  speaker: 0.15,
  time: 0.15,
  question: 0.2,
  session: 0.4,
  length: 0.5,
};

/** For a question with few words, which many messages answer, in as many sessions. */
export const BROAD_WEIGHTS: RankWeights = { ...QUESTION_WEIGHTS, session: 0 };

/** For results after the best ones: a reader who gets that far wants more from one speaker, and from other sessions. */
export const DEEP_WEIGHTS: RankWeights = { ...QUESTION_WEIGHTS, speaker: 0.5, question: 0.1, session: 0.2 };

/** BM25 by the messages' own words. Neighbors hardly count. */
export const KEYWORD_WEIGHTS: RankWeights = {
  answer: 0.4,
  askedAbout: 0.1,
  near: 0.25,
  speaker: 0.15,
  time: 0,
  question: 0,
  session: 0,
  length: 0.75,
};

export type RankOptions = {
  readonly words: readonly WordHits[];
  readonly weights: RankWeights;
  readonly speaker: string | null;
  readonly asksWhen: boolean;
  /** Other evidence for a message, by its number, where 1 equals the best word score. */
  readonly alsoFor: (lineId: number) => number;
};

export type Ranked<T> = { readonly candidate: T; readonly score: number };

const SESSION_MEMBERS = 3;
/** A pause this long separates two sessions. */
const SESSION_GAP_MS = 60 * 60_000;
/** The same in lines, if times are unknown. */
const SESSION_GAP_LINES = 50;
// The k1 of BM25, with each word counted once.
const SATURATION = 1.2;

/** Ranks candidates, best first: by the words in and around them, their speaker, whether they mention a time, and their session. */
export function rankCandidates<T extends Candidate>(
  candidates: readonly T[],
  options: RankOptions,
): readonly Ranked<T>[] {
  const byWords = scoreByWords(candidates, options);
  // If no message contains any of the words, other evidence alone sets the scale.
  const best = byWords.values().reduce((most, score) => Math.max(most, score), 0) || 1;
  const own = ({ lineId }: T): number => (byWords.get(lineId) ?? 0) + options.alsoFor(lineId) * best;
  const sessionScore = scoreSessions(candidates, { own, share: options.weights.session });
  return candidates
    .map((candidate) => ({
      candidate,
      score: adjust(candidate, own(candidate) + sessionScore(candidate), { ...options, best }),
    }))
    .toSorted((a, b) => b.score - a.score || a.candidate.lineId - b.candidate.lineId);
}

/** Whether a message contains one of the words, or answers a question that does. */
export function isAbout({ lineId, near }: Candidate, words: readonly WordHits[]): boolean {
  const places = [lineId, ...near.flatMap((one) => (isAnswered(one) ? [one.lineId] : []))];
  return words.some(({ lineIds }) => places.some((place) => includesSorted(lineIds, place)));
}

function isAnswered({ steps, traits }: NearMessage): boolean {
  return steps === -1 && traits.isQuestion;
}

function adjust(candidate: Candidate, score: number, options: RankOptions & { readonly best: number }): number {
  const isNamed = options.speaker !== null && candidate.name === options.speaker;
  const { isQuestion, mentionsTime } = candidate.traits;
  const { weights } = options;
  const spoken = score * (isNamed ? 1 + weights.speaker : 1);
  const timed = spoken + (options.asksWhen && mentionsTime ? weights.time * options.best : 0);
  return timed * (isQuestion ? 1 - weights.question : 1);
}

function scoreByWords(candidates: readonly Candidate[], { words, weights }: Pick<RankOptions, 'words' | 'weights'>) {
  const meanBytes = candidates.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) / Math.max(1, candidates.length);
  const lengthFactor = (sizeBytes: number): number => {
    const norm = 1 - weights.length + weights.length * (sizeBytes / Math.max(1, meanBytes));
    return (SATURATION + 1) / (1 + SATURATION * norm);
  };
  return new Map(
    candidates.map((candidate) => {
      const { lineId, sizeBytes } = candidate;
      const places = [
        { lineId, value: lengthFactor(sizeBytes) },
        ...candidate.near.map((one) => ({
          lineId: one.lineId,
          value: shareOf(one, candidate, weights) * lengthFactor(one.sizeBytes),
        })),
      ].toSorted((a, b) => b.value - a.value);
      let score = 0;
      for (const { lineIds, weight } of words) {
        const nearest = places.find((place) => includesSorted(lineIds, place.lineId));
        score += weight * (nearest?.value ?? 0);
      }
      return [lineId, score] as const;
    }),
  );
}

function shareOf(one: NearMessage, { near }: Candidate, weights: RankWeights): number {
  if (isAnswered(one)) return weights.answer;
  if (one.steps === -2 && near.some(isAnswered)) return weights.askedAbout;
  return weights.near * (NEAR_SHARES.get(one.steps) ?? 0);
}

function includesSorted(sorted: readonly number[], wanted: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === wanted;
}

/** The bonus that a message gets from its session: a share of the mean of the session's best. */
function scoreSessions<T extends Candidate>(
  candidates: readonly T[],
  { own, share: sessionShare }: { own: (candidate: T) => number; share: number },
): (candidate: T) => number {
  const sessions = groupSessions(candidates);
  const scores = new Map(
    sessions.flatMap((members) => {
      const best = members
        .map(own)
        .toSorted((a, b) => b - a)
        .slice(0, SESSION_MEMBERS);
      const share = (sessionShare * best.reduce((sum, score) => sum + score, 0)) / SESSION_MEMBERS;
      return members.map(({ lineId }) => [lineId, share] as const);
    }),
  );
  return ({ lineId }) => scores.get(lineId) ?? 0;
}

function groupSessions<T extends Candidate>(candidates: readonly T[]): readonly (readonly T[])[] {
  const sessions: T[][] = [];
  const last = new Map<string | null, T>();
  const open = new Map<string | null, T[]>();
  for (const candidate of candidates.toSorted((a, b) => a.lineId - b.lineId)) {
    const { conversationId } = candidate;
    const before = last.get(conversationId);
    let session = open.get(conversationId);
    if (session === undefined || before === undefined || isApart(before, candidate)) {
      session = [];
      sessions.push(session);
      open.set(conversationId, session);
    }
    session.push(candidate);
    last.set(conversationId, candidate);
  }
  return sessions;
}

function isApart(before: Candidate, after: Candidate): boolean {
  if (before.at === null || after.at === null) return after.lineId - before.lineId > SESSION_GAP_LINES;
  return Math.abs(after.at.getTime() - before.at.getTime()) > SESSION_GAP_MS;
}

/** The advantage of the most similar message over the least similar one, as a share of the best word score. */
const SIMILARITY_SHARE = 0.5;

/**
 * Converts similarities to the query into scores, as shares of the best word score. Models use different scales, so only the order and
 * relative distances of these messages count.
 */
export function weighSimilarity(similarities: ReadonlyMap<number, number>): (id: number) => number {
  const all = [...similarities.values()];
  const lowest = all.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
  const highest = all.reduce((most, one) => Math.max(most, one), Number.NEGATIVE_INFINITY);
  const range = highest - lowest;
  return (id) => {
    const similarity = similarities.get(id);
    return similarity === undefined || !(range > 0) ? 0 : (SIMILARITY_SHARE * (similarity - lowest)) / range;
  };
}

/** How much rare words count. 1 is BM25's measure; in questions rarity matters less. */
export const KEYWORD_RARITY_POWER = 1;
export const QUESTION_RARITY_POWER = 0.7;

export function weighWord(hitCount: number, messageCount: number, rarityPower: number): number {
  const others = Math.max(0, messageCount - hitCount);
  return Math.log(1 + (others + 0.5) / (hitCount + 0.5)) ** rarityPower;
}

/**
 * The numbers of the messages that contain most of the words or have them nearby, best first. If several neighbors contain a word, the
 * nearest counts. Approximate, since neighbors are found by number alone.
 */
export function findPlaces(words: readonly WordHits[], limit: number): readonly number[] {
  const ids = words.flatMap(({ lineIds }) => (lineIds.length === 0 ? [] : [lineIds[0] ?? 0, lineIds.at(-1) ?? 0]));
  const [first, last] = [Math.min(...ids), Math.max(...ids)];
  if (first > last) return [];
  const base = first - 2;
  const length = last - base + 3;
  const scores = new Float32Array(length);
  const shares = new Float32Array(length);
  const owners = new Uint8Array(length);
  const nearest = [...NEAR_SHARES].map(([step, share]) => ({ step: -step, share }));
  words.forEach(({ lineIds, weight }, word) => {
    for (const id of lineIds) {
      for (const { step, share } of nearest) {
        const at = id - base + step;
        const known = owners[at] === word + 1 ? (shares[at] ?? 0) : 0;
        if (share <= known) continue;
        owners[at] = word + 1;
        shares[at] = share;
        scores[at] = (scores[at] ?? 0) + (share - known) * weight;
      }
    }
  });
  return bestOf(scores, limit).map((at) => at + base);
}

/** The places with the highest scores, best first. The first of equals wins. */
function bestOf(scores: Float32Array, limit: number): readonly number[] {
  const heap = createHeap(); // the lowest kept score is on top
  let floor = 0;
  let size = 0;
  for (let at = 0; at < scores.length; at += 1) {
    const score = scores[at] ?? 0;
    if (score <= floor) continue;
    heap.push(-at, -score);
    size += 1;
    if (size <= limit) continue;
    heap.pop();
    size -= 1;
    floor = -heap.topKey();
  }
  const best: number[] = [];
  for (let at = heap.pop(); at !== null; at = heap.pop()) best.push(-at);
  return best.toReversed();
}
