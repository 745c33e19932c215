import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createExcerpter } from '../../../src/core/search/excerpt.ts';
import { readSearchTerms } from '../../../src/core/search/words.ts';
import { oddTexts } from '../../support/messages.ts';

/** The excerpt with its marked words in brackets. */
function excerpt(text: string, query: string, maxChars = 60): string {
  const { text: shown, marks } = createExcerpter({ terms: readSearchTerms(query), maxChars })(text);
  return marks
    .toReversed()
    .reduce(
      (marked, { start, end }) => `${marked.slice(0, start)}[${marked.slice(start, end)}]${marked.slice(end)}`,
      shown,
    );
}

test('a short text is shown whole, its white space as single spaces', () => {
  assert.equal(excerpt(' The green\n\n\tboat ', 'boat'), 'The green [boat]');
});

test('the window with the most different words is shown, cut between words', () => {
  const filler = 'the tide went out and came in again '.repeat(10);
  const text = `${filler}a hull, a hull, a hull. ${filler}The mast of the hull broke near the old keel. ${filler}`;
  assert.equal(excerpt(text, 'hull mast keel'), '…The [mast] of the [hull] broke near the old [keel]. the tide went…');
});

test('a word is marked whatever its ending and its accents, and no word that only begins like it', () => {
  assert.equal(
    excerpt('She PAINTED while painting paints, not pains', 'paints'),
    'She [PAINTED] while [painting] [paints], not pains',
  );
  assert.equal(excerpt('Le café, le cafe\u0301, l’e\u0301té', 'cafe été'), 'Le [café], le [cafe\u0301], l’[e\u0301té]');
  assert.equal(excerpt('The car and the cars carry a carpet', 'car'), 'The [car] and the [cars] carry a carpet');
  assert.equal(excerpt('cities run, a city is running', 'city run'), '[cities] [run], a [city] is [running]');
});

test('in scripts without spaces what was looked for is marked as one piece', () => {
  const marked = (text: string, terms: readonly string[]): readonly string[] => {
    const shown = createExcerpter({ terms, maxChars: 60 })(text);
    return shown.marks.map(({ start, end }) => shown.text.slice(start, end));
  };
  assert.deepEqual(marked('昨日、東京都に行きました。京都も', ['東京', '京都', '昨']), ['昨', '東京都', '京都']);
  assert.deepEqual(marked('ไปตลาดกับแม่ by bus', ['ตล', 'ลา', 'าด', 'bus']), ['ตลาด', 'bus']);
});

test('where no word is found the text begins', () => {
  assert.equal(excerpt('one two three four five six', 'nothing', 12), 'one two…');
});

test('what is cut parts no character', () => {
  for (let maxChars = 1; maxChars < 12; maxChars += 1) {
    const { text } = createExcerpter({ terms: [], maxChars })('😀'.repeat(50));
    assert.ok(text.isWellFormed(), text);
  }
});

test('a text of many megabytes costs what its beginning costs', () => {
  const shown = createExcerpter({ terms: ['needle'], maxChars: 60 })(`${'hay '.repeat(5_000_000)}needle`);
  assert.deepEqual(shown, { text: `${'hay '.repeat(15).trimEnd()}…`, marks: [] });
});

test('an excerpt of any text is bounded, and each mark is a stretch of it, in order', () => {
  fc.assert(
    fc.property(
      fc.array(oddTexts, { maxLength: 20 }),
      oddTexts,
      fc.integer({ min: 1, max: 80 }),
      (texts, query, maxChars) => {
        const found = createExcerpter({ terms: readSearchTerms(query), maxChars })(texts.join(' '));
        assert.ok(found.text.length <= maxChars + 2);
        let done = 0;
        for (const { start, end } of found.marks) {
          assert.ok(start >= done && end > start && end <= found.text.length);
          done = end;
        }
      },
    ),
  );
});
