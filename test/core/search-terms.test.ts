import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { readSearchTerms } from '../../src/core/search-terms.ts';
import { oddTexts } from '../support/messages.ts';

for (const [query, terms] of [
  ['green boat', ['green', 'boat']],
  ['Which of the boats is green?', ['boats', 'green']],
  ['who is it', ['who', 'is', 'it']],
  ["can't-do", ['can t do', 'can', 't', 'do']],
  ['Boat boat BOAT', ['Boat']],
  ['src/app/search.ts:42', ['src app search ts 42', 'src', 'app', 'search', 'ts', '42']],
  ['NEAR("a b", 5) AND NOT x* ^y', ['NEAR', 'b', '5', 'x']],
  ['"-:*()', []],
  ['', []],
  ['😀 \ud800 \0', []],
  ['na\u0308ive 東京', ['na\u0308ive', '東京']],
] as const) {
  test(`the terms of ${JSON.stringify(query)}`, () => {
    assert.deepEqual(readSearchTerms(query), terms);
  });
}

test('a text of any length asks for so many terms at the most', () => {
  const words = Array.from({ length: 20_000 }, (_, at) => `word${at}`).join(' ');
  assert.equal(readSearchTerms(words).length, 64);
  assert.equal(readSearchTerms('x/'.repeat(50_000))[0]?.split(' ').length, 12);
});

test('no term holds what an index could take for syntax', () => {
  fc.assert(
    fc.property(
      fc.array(oddTexts).map((texts) => texts.join(' ')),
      (query) => {
        for (const term of readSearchTerms(query))
          assert.match(term, /^[\p{L}\p{N}\p{M}\p{Co}]+( [\p{L}\p{N}\p{M}\p{Co}]+)*$/u);
      },
    ),
  );
});
