import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { spaceOut, spaceOutSought } from '../../../src/core/search/spaceless.ts';

const toWords = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '');

for (const [text, indexed, sought] of [
  ['the boat', 'the boat', 'the boat'],
  ['東京都', '東京 京都 都', '東京 京都'],
  ['猫', '猫', '猫'],
  ['v2の設定, ok', 'v2 の設 設定 定 , ok', 'v2 の設 設定 , ok'],
  ['가\u1102\u1161', '가나 나', '가나'],
  ['ตลาด', 'ตล ลา าด ด', 'ตล ลา าด'],
  ['น้ำ', 'นา า', 'นา'],
] as const) {
  test(`${JSON.stringify(text)} is given to the index, and looked for, as words`, () => {
    assert.deepEqual([toWords(spaceOut(text)), toWords(spaceOutSought(text))], [toWords(indexed), toWords(sought)]);
  });
}

test('what is looked for is among the words of every text that holds it', () => {
  const run = fc.string({ unit: fc.constantFrom('東', '京', '都', 'の', 'ト', '한'), minLength: 2, maxLength: 6 });
  fc.assert(
    fc.property(run, run, run, (before, inside, after) => {
      const indexed = new Set(toWords(spaceOut(`${before}${inside}${after}`)));
      for (const word of toWords(spaceOutSought(inside))) assert.ok(indexed.has(word));
    }),
  );
});
