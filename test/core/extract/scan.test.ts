import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createScanner } from '../../../src/core/extract/scan.ts';

function scan(text: string, escapes = false): { words: readonly string[]; tokens: readonly string[] } {
  const words: string[] = [];
  const tokens: string[] = [];
  createScanner()(
    text,
    { start: 0, end: text.length },
    {
      sink: {
        word: (word) => words.push(word),
        run: (run) => {
          words.push(...run.words);
          tokens.push(...run.tokens);
        },
      },
      escapes,
    },
  );
  return { words, tokens };
}

test('technical names are tokens', () => {
  for (const [text, tokens] of [
    ['see /srv/app/main.go:107.', ['main.go', '/srv/app/main.go', '107']],
    ['in ./src/core', ['src/core']],
    ['set RETRY_LIMIT and maxTokens', ['RETRY_LIMIT', 'maxTokens']],
    ['a TypeError, ENOENT and SIGKILL', ['TypeError', 'ENOENT', 'SIGKILL']],
    ['commit 9f86d08 of 2026-01-02', ['9f86d08', '2026', '01', '02']],
    ['pass --dry-run', ['--dry-run']],
    ['at 12:30 for 1,500 or 24.1.0', ['12:30', '1,500', '24.1.0']],
    ['run `make -j4 all` now', ['make -j4 all']],
    ['open https://example.org/a/b?c=1.', ['https://example.org/a/b?c=1']],
    ['plain words, and/or none', ['and/or']],
  ] as const) {
    assert.deepEqual(scan(text).tokens, tokens, text);
  }
});

test('a word is what stands before its apostrophe', () => {
  assert.deepEqual(scan("Carol's dog doesn’t bark o'clock").words, ['Carol', 'dog', 'doesn', 'bark', 'o', 'clock']);
});

test('a line end escaped in JSON parts words', () => {
  assert.deepEqual(scan(String.raw`"one\ntwo"`, true).words, ['one', 'two']);
});

test('words of scripts without spaces are found', () => {
  assert.deepEqual(scan('我们在北京吃饭').words, ['我们', '在', '北京', '吃饭']);
});

test('letters beyond the first plane are letters, emojis and half pairs are not', () => {
  assert.deepEqual(scan('𐐀𐐁 😀 \ud83d x').words, ['𐐀𐐁', 'x']);
});
