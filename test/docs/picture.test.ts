import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { drawPicture, PICTURE } from './picture.ts';

// Needs `dist`: `npm test` builds first.
test('the picture in the README shows what the program prints now', () => {
  const texts = (svg: string) => svg.split('\n').map((line) => line.replaceAll(/<[^>]*>/g, ''));
  const [stored, now] = [readFileSync(PICTURE, 'utf8'), drawPicture()];
  assert.deepEqual(texts(stored), texts(now), 'npm run dev -- docs:picture draws it again');
  assert.equal(stored, now, 'npm run dev -- docs:picture draws it again');
});
