import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPhrases, sharePhrases } from '../../../src/core/search/phrases.ts';

for (const [query, phrases] of [
  ['where is src/app/keel.ts', [['src', 'app', 'keel', 'ts']]],
  ['who said "the green boat"?', [['the', 'green', 'boat']]],
  ["Ada's boat, can't", []],
  ['“green boat” a_b', [['green', 'boat']]],
  ['"unclosed boat', []],
  ['', []],
] as const) {
  test(`the phrases of ${JSON.stringify(query)}`, () => {
    assert.deepEqual(readPhrases(query), phrases);
  });
}

test('a text holds a phrase where its words stand together, whatever stands between them', () => {
  const phrases = [
    ['green', 'boat'],
    ['src', 'app'],
  ];
  const shares = ['The GREEN-boat', 'boat green', 'green boats', 'src/app and green boat'].map((text) =>
    sharePhrases(text, phrases),
  );
  assert.deepEqual(shares, [0.5, 0, 0, 1]);
});
