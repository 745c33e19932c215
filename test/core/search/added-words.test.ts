import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseFeedback, relatedWords } from '../../../src/core/search/added-words.ts';

test('words that more of the best messages have, and weightier ones, are found first, none in two forms', async () => {
  const weights: Readonly<Record<string, number>> = { spruce: 2, varnish: 1, brush: 1 };
  const texts = ['the mast is spruce', 'masts: varnish and a brush', 'varnish, brushes and varnished masts', 'varnish'];
  const found = await chooseFeedback(texts, {
    asked: ['mast'],
    weigh: async (words) => words.map((word) => weights[word] ?? null),
    maxWeight: 2,
  });
  assert.deepEqual(found, ['varnish', 'spruce', 'brush']);
});

test('of a tool that says much only the beginning is found', async () => {
  const text = Array.from({ length: 5000 }, (_, at) => `word${at}x`).join(' ');
  assert.equal(
    (await chooseFeedback([text], { asked: [], weigh: async (words) => words.map(() => 1), maxWeight: 1 })).length,
    20,
  );
  const asked: string[] = [];
  await chooseFeedback([text], {
    asked: [],
    weigh: async (words) => {
      asked.push(...words);
      return words.map(() => 1);
    },
    maxWeight: 1,
  });
  assert.equal(asked.length, 30);
});

test('words that cannot be chosen any more are not weighed', async () => {
  const shared = Array.from({ length: 25 }, (_, at) => `shared${at}x`).join(' ');
  const weighed: string[] = [];
  const find = (maxWeight: number): Promise<readonly string[]> =>
    chooseFeedback([`${shared} once`, shared, 'spruce'], {
      asked: [],
      weigh: async (words) => {
        weighed.push(...words);
        return words.map((word) => (word === 'spruce' ? maxWeight : 1));
      },
      maxWeight,
    });
  assert.ok(!(await find(1.5)).includes('spruce'));
  assert.equal(weighed.length, 25);
  assert.equal((await find(3))[0], 'spruce');
});

test('a general word leads to particular ones, in whatever form it is asked for', () => {
  for (const form of ['pet', 'pets', 'Animals']) assert.ok(relatedWords([form]).includes('puppy'), form);
  assert.ok(relatedWords(['painting', 'deploying']).includes('rollout'));
});

test('a particular word leads nowhere', () => {
  assert.deepEqual(relatedWords(['puppy']), []);
  assert.deepEqual(relatedWords(['constructor', '__proto__', '']), []);
});

test('no word comes twice, and all can be looked up as they are', () => {
  const related = relatedWords(['family', 'relationship', 'job', 'database']);
  assert.equal(new Set(related).size, related.length);
  for (const word of related) assert.match(word, /^[a-z]+$/);
});
