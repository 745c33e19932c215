import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { costOf, dayOf, type Line, parseHeader, renderLines } from '../../../src/core/extract/layout.ts';

function line(said: Partial<Line>): Line {
  return { text: 'text', day: null, speaker: 'user', isNamed: false, isQuoted: false, ...said };
}

test('a day is named once, a speaker when it changes', () => {
  const text = renderLines([
    line({ text: 'one', day: '8 May 2023', speaker: 'Ada' }),
    line({ text: 'two', day: '8 May 2023', speaker: 'Ada' }),
    line({ text: 'three', day: '8 May 2023', speaker: 'Bo' }),
    line({ text: 'four', day: '9 May 2023', speaker: 'Bo' }),
    line({ text: 'five', speaker: 'Bo' }),
  ]);
  assert.equal(text, '[8 May 2023]\nAda: one\ntwo\nBo: three\n[9 May 2023]\nBo: four\n[no date]\nBo: five');
});

test('prose of nobody has no head', () => {
  assert.equal(renderLines([line({ speaker: '', text: 'a' }), line({ speaker: '', text: 'b' })]), 'a\nb');
});

test('the costs of lines add up to the length of the text and one more', () => {
  const lines = fc.array(
    fc.record({
      text: fc.string({ minLength: 1 }),
      day: fc.constantFrom(null, '8 May 2023', '19 September 2024'),
      speaker: fc.constantFrom('', 'user', 'Ada'),
      isNamed: fc.boolean(),
      isQuoted: fc.boolean(),
    }),
    { minLength: 1 },
  );
  fc.assert(
    fc.property(lines, (all) => {
      const chars = all.reduce((sum, one, index) => sum + costOf(one, all[index - 1] ?? null), 0);
      assert.equal(renderLines(all).length, chars - 1);
    }),
  );
});

test('days are those of UTC, and a time that is none has no day', () => {
  assert.equal(dayOf(new Date('2023-12-31T23:59:59Z')), '31 December 2023');
  assert.equal(dayOf(null), null);
  assert.equal(dayOf(new Date('never')), null);
});

test('a header that was written is read back, and other brackets are text', () => {
  assert.equal(parseHeader('[8 May 2023]'), '8 May 2023');
  assert.equal(parseHeader('[no date]'), null);
  assert.equal(parseHeader('[8 Mayonnaise 2023]'), undefined);
  assert.equal(parseHeader('[8 May 2023] and on'), undefined);
});
