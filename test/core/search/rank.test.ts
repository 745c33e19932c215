import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  BROAD_WEIGHTS,
  type Candidate,
  findPlaces,
  KEYWORD_WEIGHTS,
  QUESTION_WEIGHTS,
  rankCandidates,
  type RankOptions,
  weighSimilarity,
  weighWord,
} from '../../../src/core/search/rank.ts';

const PLAIN: RankOptions = {
  words: [],
  weights: QUESTION_WEIGHTS,
  speaker: null,
  asksWhen: false,
  alsoFor: () => 0,
};

function candidate(lineId: number, changes: Partial<Candidate> = {}): Candidate {
  const traits = { isQuestion: false, mentionsTime: false };
  return { lineId, conversationId: 'a', at: null, sizeBytes: 100, traits, name: null, near: [], ...changes };
}

function order(candidates: readonly Candidate[], changes: Partial<RankOptions>): readonly number[] {
  return rankCandidates(candidates, { ...PLAIN, ...changes }).map((ranked) => ranked.candidate.lineId);
}

test('of messages that are equally good the earlier comes first', () => {
  assert.deepEqual(order([candidate(3), candidate(1), candidate(2)], {}), [1, 2, 3]);
});

test('a message in a session that has much of what is sought comes before one that stands alone', () => {
  const words = [{ lineIds: [1, 2, 3, 900], weight: 1 }];
  assert.deepEqual(order([candidate(900), candidate(1), candidate(2), candidate(3)], { words }), [1, 2, 3, 900]);
});

test('where only keywords are looked for, or a question is broad, the session makes no difference', () => {
  const words = [{ lineIds: [1, 2, 3, 900], weight: 1 }];
  const candidates = [candidate(900, { sizeBytes: 99 }), candidate(1), candidate(2), candidate(3)];
  for (const weights of [KEYWORD_WEIGHTS, BROAD_WEIGHTS])
    assert.deepEqual(order(candidates, { words, weights }), [900, 1, 2, 3]);
});

test('the words that a question is about count for its answer, more than those around other messages', () => {
  const near = (first: number, isQuestion: boolean): Candidate['near'] =>
    [-1, -2].map((steps) => ({
      lineId: first + steps,
      steps,
      sizeBytes: 100,
      traits: { isQuestion: isQuestion && steps === -1, mentionsTime: false },
    }));
  const words = [{ lineIds: [1, 101], weight: 1 }];
  const candidates = [candidate(3, { near: near(3, false) }), candidate(103, { near: near(103, true) })];
  assert.deepEqual(order(candidates, { words }), [103, 3]);
});

test('what speaks for a message otherwise counts as a share of the best score by words', () => {
  const words = [{ lineIds: [1], weight: 4 }];
  const far = [candidate(1), candidate(900)];
  assert.deepEqual(order(far, { words, alsoFor: (lineId) => (lineId === 900 ? 1.1 : 0) }), [900, 1]);
  assert.deepEqual(order(far, { words, alsoFor: (lineId) => (lineId === 900 ? 0.9 : 0) }), [1, 900]);
});

test('very many candidates are ranked like few', () => {
  const many = Array.from({ length: 200_000 }, (_, at) => candidate(at + 1));
  assert.equal(order(many, { words: [{ lineIds: [150_000], weight: 1 }] })[0], 150_000);
});

test('the most alike has a half of the best score by words, the least nothing, the others by their distance', () => {
  const weigh = weighSimilarity(
    new Map([
      [1, 0.8],
      [2, 0.6],
      [3, 0.7],
    ]),
  );
  assert.deepEqual(
    [1, 2, 3, 4].map((id) => Math.round(weigh(id) * 1000)),
    [500, 0, 250, 0],
  );
});

test('where all are as much alike, or there are none, nothing speaks for any', () => {
  const same = new Map([
    [1, 0.4],
    [2, 0.4],
  ]);
  assert.deepEqual(
    [weighSimilarity(same)(1), weighSimilarity(new Map())(1), weighSimilarity(new Map([[1, 0.9]]))(1)],
    [0, 0, 0],
  );
});

test('places with more of the words in them, or nearer, come first', () => {
  const words = [
    { lineIds: [10, 50], weight: 1 },
    { lineIds: [11, 50], weight: 2 },
  ];
  assert.deepEqual(findPlaces(words, 4), [50, 11, 10, 12]);
});

test('of a word that stands around a place several times the nearest counts alone', () => {
  assert.deepEqual(findPlaces([{ lineIds: [1, 2, 3, 4, 5], weight: 1 }], 9).slice(0, 5), [1, 2, 3, 4, 5]);
});

test('there are no places where there are no hits', () => {
  assert.deepEqual([findPlaces([], 5), findPlaces([{ lineIds: [], weight: 1 }], 5)], [[], []]);
});

test('the best places are those of the highest scores, whatever their number', () => {
  const hits = fc
    .uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 20 })
    .map((ids) => ids.toSorted((a, b) => a - b));
  fc.assert(
    fc.property(fc.array(hits, { maxLength: 4 }), fc.integer({ min: 1, max: 10 }), (lists, limit) => {
      const words = lists.map((lineIds, at) => ({ lineIds, weight: 1 + at }));
      assert.deepEqual(findPlaces(words, limit), findPlaces(words, 200).slice(0, limit));
    }),
  );
});

test('a rarer word weighs more, and one that all messages have still something', () => {
  const weights = [1, 10, 100, 1000].map((count) => weighWord(count, 1000, 1));
  assert.deepEqual(
    weights,
    weights.toSorted((a, b) => b - a),
  );
  assert.ok((weights.at(-1) ?? 0) > 0);
});
