import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTraits } from '../../../src/core/search/traits.ts';

for (const [text, isQuestion] of [
  ['Shall we?', true],
  ['Shall we? ', true],
  ['"Shall we?"', true],
  ['Shall we? [image: a boat]', true],
  ['行きますか？', true],
  ['Shall we? I think so.', false],
  ['see a?b=c', false],
  ['', false],
] as const) {
  test(`${JSON.stringify(text)} ${isQuestion ? 'ends' : 'does not end'} as a question`, () => {
    assert.equal(readTraits(text).isQuestion, isQuestion);
  });
}

for (const [text, namesTime] of [
  ['we met yesterday', true],
  ['on Tuesday', true],
  ['the 3rd try', true],
  ['in 1998', true],
  ['at 9:30', true],
  ['3月に', true],
  ['the Monte Carlo method', false],
  ['port 8080', false],
] as const) {
  test(`${JSON.stringify(text)} ${namesTime ? 'says' : 'does not say'} when`, () => {
    assert.equal(readTraits(text).namesTime, namesTime);
  });
}

test('a text of megabytes costs what its ends cost', () => {
  assert.deepEqual(readTraits(`${'x '.repeat(1_000_000)}yesterday?${'['.repeat(300)}`), {
    isQuestion: false,
    namesTime: false,
  });
});
