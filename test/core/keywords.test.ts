import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeywordMatcher } from '../../src/core/keywords.ts';

test('keywords are found inside words, whatever their case, in the order of the list', () => {
  const find = createKeywordMatcher(['bug', 'fix', 'agreed']);
  assert.deepEqual(find('PREFIX and Debugger'), ['bug', 'fix']);
});

test('keywords that overlap in the text are all found', () => {
  assert.deepEqual(createKeywordMatcher(['error', 'terror', 'err'])('terrors'), ['error', 'terror', 'err']);
});

test('a keyword with the characters of a pattern stands for itself', () => {
  const find = createKeywordMatcher(['.*', 'a|b', '(x', '[z]', 'c++', '$1', '\\d', '{2}', '/i', 'p-q', '^']);
  assert.deepEqual(find('any text 22'), []);
  assert.deepEqual(find('.* a|b (x [z] c++ $1 \\d {2} /i p-q ^'), [
    '.*',
    'a|b',
    '(x',
    '[z]',
    'c++',
    '$1',
    '\\d',
    '{2}',
    '/i',
    'p-q',
    '^',
  ]);
});

test('keywords that differ only in case count once, as first spelt', () => {
  assert.deepEqual(createKeywordMatcher(['Bug', 'bug', 'BUG'])('a bug'), ['Bug']);
});

test('an empty keyword never matches', () => {
  assert.deepEqual(createKeywordMatcher([''])('text'), []);
  assert.deepEqual(createKeywordMatcher([''])(''), []);
});

test('case is folded in other scripts too', () => {
  assert.deepEqual(createKeywordMatcher(['ошибка', 'λόγος', 'straße'])('ОШИБКА · ΛΌΓΟΣ · STRAẞE'), [
    'ошибка',
    'λόγος',
    'straße',
  ]);
});

test('half of a surrogate pair is a keyword like any other, and no half of a whole character', () => {
  const find = createKeywordMatcher(['\ud83d']);
  assert.deepEqual(find('cut \ud83d here'), ['\ud83d']);
  assert.deepEqual(find('whole 😀 here'), []);
});

test('texts with the same keywords share one array', () => {
  const find = createKeywordMatcher(['bug', 'fix']);
  assert.equal(find('a fix for the bug'), find('a bug, a fix'));
  assert.equal(find('nothing'), find('nothing else'));
});

test('keywords that hold line breaks are told apart', () => {
  const match = createKeywordMatcher(['a\nb', 'a', 'b']);
  assert.deepEqual(
    [match('a\nb'), match('a - b')],
    [
      ['a\nb', 'a', 'b'],
      ['a', 'b'],
    ],
  );
});
