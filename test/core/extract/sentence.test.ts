import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { isBlankCode } from '../../../src/core/extract/character.ts';
import { MAX_UNIT_CHARS, splitLong, splitSentences } from '../../../src/core/extract/sentence.ts';
import { linesOf } from '../../../src/core/extract/units.ts';
import { oddTexts } from '../../support/messages.ts';

function sentences(text: string): readonly string[] {
  return splitSentences(text, { start: 0, end: text.length }).map(({ start, end }) => text.slice(start, end));
}

test('sentences end at stops before a blank', () => {
  assert.deepEqual(sentences('One here. Two there! "Three?" Four…'), ['One here.', 'Two there!', '"Three?"', 'Four…']);
});

test('abbreviations, initials, versions and file names end no sentence', () => {
  for (const text of [
    'Ask Dr. Lund about it.',
    'J. Lund said so.',
    'Use e.g. Node 24.1 or later.',
    'See main.rs for it.',
    'Wait... what',
  ])
    assert.deepEqual(sentences(text), [text]);
});

test('stops of other scripts need no blank', () => {
  assert.deepEqual(sentences('今日は晴れ。明日は雨？はい！'), ['今日は晴れ。', '明日は雨？', 'はい！']);
  assert.deepEqual(sentences('यह एक है। यह दो है।'), ['यह एक है।', 'यह दो है।']);
});

test('sentences hold all text but the blanks between them', () => {
  fc.assert(
    fc.property(fc.array(oddTexts), (texts) => {
      const text = texts.join('. ');
      const solid = (one: string): string =>
        Array.from(one)
          .filter((c) => !isBlankCode(c.charCodeAt(0)))
          .join('');
      assert.equal(solid(sentences(text).join('')), solid(text));
    }),
  );
});

test('pieces of a long line are short enough, whole in their characters, and leave nothing out', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('word ', 'x', '😀', 'a,b;', '语', 'path/to/file '),
      fc.integer({ min: 1, max: 900 }),
      (part, count) => {
        const text = part.repeat(count).trim();
        const pieces = splitLong(text, { start: 0, end: text.length }).map(({ start, end }) => text.slice(start, end));
        assert.ok(pieces.every((piece) => piece.length <= MAX_UNIT_CHARS && piece.isWellFormed()));
        assert.equal(pieces.join('').replaceAll(' ', ''), text.replaceAll(' ', ''));
      },
    ),
  );
});

test('lines end where any reader may see an end, and a span is read no further', () => {
  const lineText = fc.string({
    unit: fc.constantFrom('a', 'é', ' ', '\t', '\n', '\r', '\v', '\f', '\u0085', '\u2028', '。'),
  });
  fc.assert(
    fc.property(lineText, fc.nat(12), fc.nat(12), (text, skipped, left) => {
      const [start, end] = [
        Math.min(skipped, text.length),
        Math.max(Math.min(skipped, text.length), text.length - left),
      ];
      const lines = linesOf(text, { start, end }).map((line) => text.slice(line.start, line.end));
      const expected = text.slice(start, end).split(/[\n\r\v\f\u0085\u2028\u2029]/);
      assert.deepEqual(
        lines,
        expected.map((line) => line.trim()).filter((line) => line !== ''),
      );
    }),
  );
});
