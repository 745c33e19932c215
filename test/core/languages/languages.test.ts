import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { FUNCTION_WORDS } from '../../../src/core/extract/word-lists.ts';
import {
  functionWordsIn,
  hasSpaces,
  LANGUAGES,
  languagesOf,
  likelyLanguages,
} from '../../../src/core/languages/detect.ts';
import { foldLetters } from '../../../src/core/languages/fold.ts';
import { hasCue, opensWithConsent } from '../../../src/core/languages/pattern.ts';
import { markedStems, STEM_MARK, stemOf } from '../../../src/core/languages/stem.ts';
import { findRules } from '../../../src/core/standing-rules/rules.ts';
import { findRuleSentences } from '../../../src/core/standing-rules/sentences.ts';
import { oddTexts } from '../../support/messages.ts';
import { runsOf } from '../../support/runs.ts';
import { PROBES, type Probes } from './probes.ts';
import { OTHER_PROBES } from './probes-other-alphabets.ts';

const probesIn = (code: string): Probes => ({ ...PROBES, ...OTHER_PROBES })[code] ?? assert.fail(code);
const isRule = (text: string): boolean =>
  findRuleSentences(text).some((found) => !found.isPermission && text.startsWith(found.text));

describe('standing rules', () => {
  for (const { code } of LANGUAGES) {
    const { rules, not, over } = probesIn(code);
    test(`in ${code} are told from what only looks like one, and the later of two counts`, () => {
      assert.deepEqual(
        rules.filter((text) => !isRule(text)),
        [],
      );
      assert.deepEqual(not.filter(isRule), []);
      const stale = over.filter(([old, next]) =>
        findRules([
          { index: 1, text: old },
          { index: 2, text: next },
        ]).some(({ text }) => text === old),
      );
      assert.deepEqual(stale, []);
    });
  }

  test('a rule is never cut at an abbreviation or an ordinal', () => {
    const texts = [
      'Lösche niemals Tabellen, z. B. Kunden, ohne Backup.',
      'Никогда не удаляй таблицы, т. е. данные, без копии.',
      'Nie pushuj na main przed 1. Januar bez pytania.',
    ];
    assert.deepEqual(
      texts.map((text) => findRuleSentences(text).map((found) => found.text)),
      texts.map((text) => [text]),
    );
  });
});

describe('words', () => {
  const language = (code: string) => LANGUAGES.filter((one) => one.code === code);

  test('forms of a word have one stem', () => {
    for (const [code, ...forms] of [
      ['de', 'rechnung', 'rechnungen'],
      ['de', 'schlüssel', 'schluessel', 'schlüsseln'],
      ['fr', 'migration', 'migrations', 'l’migration'.slice(2)],
      ['es', 'índice', 'indices'],
      ['pt', 'migração', 'migrações'],
      ['ru', 'таблица', 'таблицы', 'таблицами'],
      ['tr', 'kütüphane', 'kutuphaneler', 'kütüphanelerinden'],
      ['ar', 'الفاتوره', 'فاتوره'],
      ['he', 'הטבלה', 'טבלה'],
    ] as const) {
      const stems = new Set(forms.flatMap((form) => language(code).map((one) => stemOf(form, one))));
      assert.equal(stems.size, 1, `${code}: ${[...stems].join(', ')}`);
    }
  });

  test('names of code, numbers and pieces without spaces have no stem', () => {
    assert.deepEqual(
      ['tax_rates', '42', '请求', 'ab'].flatMap((word) => markedStems(word, LANGUAGES)),
      [],
    );
    assert.ok(markedStems('таблица', language('ru')).every((stem) => stem.startsWith(STEM_MARK)));
  });

  test('what is spelled in several ways is folded to one', () => {
    assert.equal(foldLetters('ＰＤＦ'), 'PDF');
    assert.equal(foldLetters('٣٠ ३० ০৯'), '30 30 09');
    assert.equal(foldLetters('發票'), '发票');
    assert.equal(foldLetters('مُدَّة'), foldLetters('مده'));
  });
});

test('a language is told by its words, and code is in none', () => {
  const codes = (text: string): readonly string[] => languagesOf(text).map(({ code }) => code);
  assert.deepEqual(codes('Die Abfrage durchsucht die ganze Tabelle, denn der Index fehlt.'), ['de']);
  assert.deepEqual(codes('La consulta recorre toda la tabla de pedidos, ya que no tiene índice.'), ['es']);
  assert.deepEqual(codes('export async function run(options: Options): Promise<number> { return 1; }'), []);
  assert.deepEqual(codes('The query reads the whole table, because the index is missing.'), []);
  assert.deepEqual(codes('請求書はまだありません。'), ['ja']);
});

test('announcements, causes and consents are told in every language', () => {
  for (const { code } of LANGUAGES) {
    const { said } = probesIn(code);
    const told = said.map((text) => [hasCue(text, 'announces'), hasCue(text, 'causes'), opensWithConsent(text)]);
    assert.deepEqual(
      told.slice(0, 2),
      [
        [true, false, false],
        [false, true, false],
      ],
      code,
    );
    assert.equal(told[2]?.[2], true, code);
  }
});

test('odd texts are folded and told in linear time, and no table breaks on them', () => {
  fc.assert(
    fc.property(oddTexts, (text) => {
      for (const one of likelyLanguages(foldLetters(text.toLowerCase()))) assert.ok(LANGUAGES.includes(one));
      for (const one of LANGUAGES) assert.ok(stemOf(text.toLowerCase(), one).length <= 4 * text.length + 4);
    }),
  );
});

test('the function words of a text are those of its words that a table has', () => {
  const known = new Set([
    ...FUNCTION_WORDS,
    ...LANGUAGES.filter(hasSpaces).flatMap(({ words }) => foldLetters(words).split(' ')),
  ]);
  const words = fc.oneof(
    fc.constantFrom('the', 'and', 'l', "l'", 'que', 'nicht', 'и', 'है', 'x', '的', 'dann', 'aujourd'),
    fc.constantFrom(...known),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  const between = fc.constantFrom(
    ' ',
    '',
    "'",
    "''",
    '’',
    '—',
    '\u3002',
    '\u3000',
    '\ufeff',
    '\u2028',
    '\u00a0',
    '.',
    '😀',
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(words, between), { maxLength: 8 }), (pairs) => {
      const text = pairs.flat().join('');
      const parts = text.match(/[^\s!-@[-`{-~«»„“”‘’…–—،؛؟।。、]+'?/gu) ?? [];
      assert.deepEqual(
        functionWordsIn(text).map(({ word }) => word),
        [...new Set(parts)].filter((word) => known.has(word)),
      );
    }),
    { numRuns: runsOf(100) },
  );
});
