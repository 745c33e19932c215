import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { readSearchTerms, spaceOut, spaceOutQuery } from '../../../src/core/search/words.ts';
import { oddTexts } from '../../support/messages.ts';

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

const toWords = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '');

for (const [text, indexed, sought] of [
  ['the boat', 'the boat', 'the boat'],
  ['東京都', '东京 京都 都', '东京 京都'],
  ['ＰＤＦ ｻｰﾊﾞｰ', 'PDF サー ーバ バー ー', 'PDF サー ーバ バー'],
  ['مُدّة ٤٠', 'مده 40 \ue000مده', 'مده 40'],
  ['猫', '猫', '猫'],
  [
    String.raw`Edit {"a":"x\nboat C:\\new"}`,
    String.raw`Edit {"a":"x boat C:\\new"}`,
    String.raw`Edit {"a":"x\nboat C:\\new"}`,
  ],
  ['v2の設定, ok', 'v2 の设 设定 定 , ok', 'v2 の设 设定 , ok'],
  ['가\u1102\u1161', '가나 나', '가나'],
  ['ตลาด', 'ตล ลา าด ด', 'ตล ลา าด'],
  ['น้ำ', 'นา า', 'นา'],
] as const) {
  test(`${JSON.stringify(text)} is given to the index, and looked for, as words`, () => {
    assert.deepEqual([toWords(spaceOut(text)), toWords(spaceOutQuery(text))], [toWords(indexed), toWords(sought)]);
  });
}

test('what is looked for is among the words of every text that holds it', () => {
  const run = fc.string({ unit: fc.constantFrom('東', '京', '都', 'の', 'ト', '한'), minLength: 2, maxLength: 6 });
  fc.assert(
    fc.property(run, run, run, (before, inside, after) => {
      const indexed = new Set(toWords(spaceOut(`${before}${inside}${after}`)));
      for (const word of toWords(spaceOutQuery(inside))) assert.ok(indexed.has(word));
    }),
  );
});

test('characters of scripts without spaces, and no others, are given to the index apart from what is around them', () => {
  const scripts =
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ーｰ々]/u;
  // No script has characters above these.
  const all = Array.from({ length: 0x40000 }, (_, code) => String.fromCodePoint(code)).filter(
    (character) => character !== ' ' && character !== '\n',
  );
  const wrong = spaceOutQuery(all.map((character) => `😀a${character}b`).join('\n'))
    .split('\n')
    .flatMap((line, at) => {
      const character = all[at] ?? '';
      return line.startsWith('😀a ') === scripts.test(character) ? [] : [character];
    });
  assert.deepEqual(wrong, []);
});
