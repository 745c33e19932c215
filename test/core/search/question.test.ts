import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { readQuestion } from '../../../src/core/search/question.ts';
import { STEM_MARK } from '../../../src/core/languages/stem.ts';
import { oddTexts } from '../../support/messages.ts';

/** The words of a question without stems; several forms of one are joined by `|`, and `*` stands behind a beginning. */
function words(query: string, speakers: readonly string[] = []): readonly string[] {
  return readQuestion(query, speakers).words.map(
    ({ forms, isBeginning }) =>
      `${forms.filter((form) => !form.startsWith(STEM_MARK)).join('|')}${isBeginning ? '*' : ''}`,
  );
}

test('a word is also looked for by its stems in the languages that the query may be in', () => {
  const stems = (query: string): readonly string[] =>
    readQuestion(query, []).words.flatMap(({ forms }) => forms.filter((form) => form.startsWith(STEM_MARK)));
  assert.deepEqual(stems('таблицами'), [`${STEM_MARK}таблиц`]);
  assert.ok(stems('Rechnungen').includes(`${STEM_MARK}rechnung`));
  assert.deepEqual(stems('which of the boats is green'), []);
});

for (const [query, asked] of [
  ['green boat', ['green', 'boat']],
  ['Which of the boats is green?', ['boats', 'green']],
  ['who is it', ['who', 'is', 'it']],
  ['Boat boat BOAT', ['boat']],
  ['who wrote it', ['wrote|write|written']],
  ['leaving', ['leaving|leave|left']],
  ['running on', ['running|run|ran']],
  ['src/app/search.ts:42', ['src', 'app', 'search', 'ts', '42']],
  ['NEAR("a b", 5) AND NOT x* ^y', ['near', 'b', '5', 'x']],
  ['"-:*()', []],
  ['', []],
  ['😀 \ud800 \0', []],
  ['東京都 2020年', ['东京', '京都', '2020', '年*']],
  ['हिन्दी', ['ह\ue13fन\ue14dद\ue140']],
] as const) {
  test(`the words of ${JSON.stringify(query)}`, () => {
    assert.deepEqual(words(query), asked);
  });
}

test('those who spoke are not looked for, but where there is nothing else', () => {
  assert.deepEqual(words('What did Ada paint?', ['Ada Byron', 'Ben']), ['paint']);
  assert.deepEqual(words('What about Ada?', ['Ada']), ['ada']);
  assert.deepEqual(words('the tide at noon', ['Tide']), ['tide', 'noon']);
});

test('the one speaker that is named is known, and of two none is', () => {
  const speaker = (query: string): string | null => readQuestion(query, ['Ada Byron', 'Ben']).speaker;
  assert.deepEqual(['What did ada say?', "Is that Ben's?", 'Did Ben and Ada meet?', 'What is it?'].map(speaker), [
    'Ada Byron',
    'Ben',
    null,
    null,
  ]);
});

test('a question about time is told from others', () => {
  const asksWhen = (query: string): boolean => readQuestion(query, []).asksWhen;
  assert.deepEqual(
    ['When did it break?', 'In what year was that?', 'how long did it take', 'What happened when it broke?'].map(
      asksWhen,
    ),
    [true, true, true, false],
  );
});

test('up to three words, however small, are keywords', () => {
  const isKeywords = (query: string): boolean => readQuestion(query, ['Ada']).isKeywords;
  assert.deepEqual(['', 'boat', 'Ada boat keel', 'who is it?', 'where is the boat'].map(isKeywords), [
    true,
    true,
    true,
    true,
    false,
  ]);
});

test('a text of any length asks for so many words at the most', () => {
  const many = Array.from({ length: 20_000 }, (_, at) => `word${at}`).join(' ');
  assert.equal(words(many).length, 64);
  assert.deepEqual(words('x'.repeat(10_240)), ['x'.repeat(200)]);
});

test('no word holds what an index could take for syntax', () => {
  fc.assert(
    fc.property(
      fc.array(oddTexts).map((texts) => texts.join(' ')),
      (query) => {
        for (const { forms } of readQuestion(query, []).words)
          for (const form of forms) assert.match(form, /^[\p{L}\p{N}\p{Co}\u0300-\u036f]+$/u);
      },
    ),
  );
});
