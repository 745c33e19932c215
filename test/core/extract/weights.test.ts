import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTermIndex } from '../../../src/core/extract/terms.ts';
import { weighTerms } from '../../../src/core/extract/weights.ts';

/** What 'dann', a word of `frequency` of the units, is worth there, and what a word of one unit is. */
function worthOf(frequency: number, units: number, isEnglish: boolean): readonly boolean[] {
  const index = createTermIndex({ stem: (word) => word, isEnglish, speakers: [] });
  const letters = (unit: number): string =>
    String.fromCharCode(
      ...String(unit)
        .split('')
        .map((digit) => 97 + Number(digit)),
    );
  for (let unit = 0; unit < units; unit += 1) {
    const text = `${unit < frequency ? 'dann' : 'still'} wort${letters(unit)}`;
    index.add(text, { start: 0, end: text.length }, { voice: 'user', messageIndex: unit });
  }
  const worth = weighTerms(index, { messageCount: units, isEnglish });
  const at = (word: string): boolean => index.knownTermsIn(word).every((term) => (worth[term] ?? 0) > 0);
  return [at('dann'), at('worta')];
}

test('without a list of stop-words, a word of many sentences is one', () => {
  assert.deepEqual(worthOf(6, 200, false), [false, true]);
});

test('a word of a few sentences is none, nor is any where there are few sentences', () => {
  assert.deepEqual(
    [worthOf(5, 200, false), worthOf(4, 50, false), worthOf(20, 30, false)],
    [
      [true, true],
      [true, true],
      [true, true],
    ],
  );
});

test('with a list only what it names is one', () => {
  assert.deepEqual(worthOf(6, 200, true), [true, true]);
});
