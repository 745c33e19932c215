import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createGoPattern, type GoPattern } from '../../../src/adapters/redact/gitleaks/rule.ts';
import { runsOf } from '../../support/runs.ts';

function patternOf(source: string): GoPattern {
  const pattern = createGoPattern(source);
  assert.ok(pattern.ok, `${source} ${pattern.ok ? '' : pattern.error}`);
  return pattern.value;
}

function matchesOf(source: string, text: string): readonly string[] {
  return Array.from(patternOf(source).matches(text), ({ start, end }) => text.slice(start, end));
}

for (const [source, text, expected] of [
  ['(?i)key', 'a KEY, a Key', ['KEY', 'Key']],
  ['a(?i)b', 'aB AB', ['aB']],
  ['a(?i:b)c', 'aBc aBC', ['aBc']],
  ['(?i)a(?-i)b', 'Ab AB', ['Ab']],
  ['(?i:a|b)|c', 'A B C c', ['A', 'B', 'c']],
  ['(?i)ä', 'Ä', ['Ä']],
  ['(?i)[^a-c]+', 'ABCDE', ['DE']],
  ['a.c', 'a\nc abc', ['abc']],
  ['(?s)a.c', 'a\nc', ['a\nc']],
  ['^b', 'a\nb', []],
  ['(?m)^b$', 'a\nb\nc', ['b']],
  ['b$', 'b\n', []],
  ['\\Ab|c\\z', 'bbc', ['b', 'c']],
  ['\\bkey\\b', 'key keys _key', ['key']],
  ['(?P<name>a)(?<other>b)', 'ab', ['ab']],
  ['[[:alnum:]_-]+', 'a-1_Z!', ['a-1_Z']],
  ['[[:^alpha:]]+', 'ab12cd', ['12']],
  ['[\\w.-]+', 'x.y-z w', ['x.y-z', 'w']],
  ['[^\\s"]+', 'a "b"', ['a', 'b']],
  ['[]a]+', 'a]b', ['a]']],
  ['[a\\]]+', 'a]b', ['a]']],
  ['[a-]+', 'a-b', ['a-']],
  ['\\x41\\x{1F600}\\101', 'A😀A', ['A😀A']],
  ['\\pL+', 'äß1', ['äß']],
  ['\\p{Greek}+|\\P{L}', 'αβ 1', ['αβ', ' ', '1']],
  ['\\Qa.b*\\E+', 'a.b** axb', ['a.b**']],
  ['a{2}b{1,}c{0,2}', 'aabbccc', ['aabbcc']],
  ['a{,2}', 'a{,2}', ['a{,2}']],
  ['a+?b|a+', 'aab aa', ['aab', 'aa']],
  ['(?U)a+', 'aaa', ['a', 'a', 'a']],
  ['ab|a', 'aba', ['ab', 'a']],
  ['(a*)*b', 'aab', ['aab']],
  ['(|a)+', 'aa', []],
  ['\\.\\*\\/', '.*/', ['.*/']],
] as const) {
  test(`${source} finds what it finds in Go`, () => {
    assert.deepEqual(matchesOf(source, text), expected);
  });
}

for (const source of [
  '(?=a)',
  '(?<!a)b',
  '(a)\\1',
  'a\\Z',
  '[[:nope:]]',
  '\\p{Nope}',
  '(a',
  'a)',
  '[a',
  '*a',
  'a**',
  'a{1001}',
  '[z-a]',
  '((a{100}){100}){100}',
  '\\x{110000}',
]) {
  test(`${source} is refused, and the message says why`, () => {
    const pattern = createGoPattern(source);
    assert.match(pattern.ok ? '' : pattern.error, /^is not valid in Go's syntax: \S/);
  });
}

test('a match gives its groups in order, and null for those that took no part', () => {
  const [match] = patternOf('(a)|(b)(c)?').matches('xbc');
  assert.deepEqual(match, { start: 1, end: 3, groups: [null, { start: 1, end: 2 }, { start: 2, end: 3 }] });
});

const atoms = fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^a]', '\\d', '\\w', 'é', '\\s');
const repeated = fc
  .tuple(atoms, atoms, fc.constantFrom('', '*', '+', '?', '{1,2}', '*?', '+?', '??', '{2}'), fc.boolean())
  .map(([one, other, sign, isChoice]) => `(${isChoice ? `${one}|${other}` : one + other})${sign}`);
const sources = fc
  .array(fc.oneof(atoms, repeated, fc.constantFrom('^', '$', '\\b', '\\B', '|')), { minLength: 1, maxLength: 7 })
  .map((parts) => parts.join(''));
const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', '\n', 'é', ' '), maxLength: 14 });

test('what both languages have finds what a backtracking matcher finds', () => {
  fc.assert(
    fc.property(sources, texts, (source, text) => {
      const expected = Array.from(text.matchAll(new RegExp(source, 'gu')), ([match]) => match).filter(
        (match) => match !== '',
      );
      assert.deepEqual(matchesOf(source, text), expected);
      assert.equal(patternOf(source).test(text), new RegExp(source, 'u').test(text));
    }),
    { numRuns: runsOf(1_000) },
  );
});

for (const [source, unit] of [
  ['(a+)+$', 'a'],
  ['(a|a)*b', 'a'],
  ['a*a*a*a*a*b', 'a'],
  ['(.*)=(.*)=(.*);', 'x='],
  ['-----BEGIN[\\s\\S]{64,}?KEY', '-----BEGIN '],
] as const) {
  test(`${source} does not backtrack`, () => {
    // A backtracking engine would not come back from any of these in a lifetime.
    const pattern = patternOf(source);
    assert.ok(Array.from(pattern.matches(unit.repeat(50_000 / unit.length))).length <= 1);
  });
}
