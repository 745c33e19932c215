import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawn, escaped, PRIVATE_KEY, redacted } from './secrets.ts';

const MASK = '[redacted:private-key:1]';

test('a private key is masked whole, however often its line ends are escaped', () => {
  const twice = escaped(escaped(PRIVATE_KEY));
  assert.deepEqual(
    [PRIVATE_KEY, PRIVATE_KEY.replaceAll('\n', '\r\n'), escaped(PRIVATE_KEY), twice].map((key) =>
      redacted(`a ${key} b`),
    ),
    [`a ${MASK} b`, `a ${MASK} b`, `a ${MASK} b`, `a ${MASK} b`],
  );
});

test('one whose end was cut off is masked as far as it goes', () => {
  assert.equal(redacted(`${PRIVATE_KEY.slice(0, 140)}\n[… left out]\nand so on`), `${MASK}\n[… left out]\nand so on`);
});

test('one whose head was cut off is masked from where it begins', () => {
  const before = 'internationalization and so on\n';
  assert.equal(redacted(`${before}${PRIVATE_KEY.slice(60)} last`), `${before}${MASK} last`);
});

test('two keys are two secrets, and the text between them stays', () => {
  const other = PRIVATE_KEY.replace(drawn(64), drawn(65).slice(1));
  assert.equal(redacted(`${PRIVATE_KEY}\nnext\n${other}`), '[redacted:private-key:1]\nnext\n[redacted:private-key:2]');
});

test('a head without a key behind it stays', () => {
  const text = 'It looks for -----BEGIN PRIVATE KEY----- in files that people commit.';
  assert.equal(redacted(text), text);
});
