import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Candidate,
  KEYWORD_WEIGHTS,
  QUESTION_WEIGHTS,
  rankCandidates,
  type RankOptions,
  weighSimilarity,
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

test('where only keywords are looked for the session makes no difference', () => {
  const words = [{ lineIds: [1, 2, 3, 900], weight: 1 }];
  const candidates = [candidate(900, { sizeBytes: 99 }), candidate(1), candidate(2), candidate(3)];
  assert.deepEqual(order(candidates, { words, weights: KEYWORD_WEIGHTS }), [900, 1, 2, 3]);
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
