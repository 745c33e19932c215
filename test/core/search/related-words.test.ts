import assert from 'node:assert/strict';
import { test } from 'node:test';
import { relatedWords } from '../../../src/core/search/related-words.ts';

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
