import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { drawPicture, PAGE_PICTURE, PICTURE } from './picture.ts';
import { ROOT } from './shell.ts';

// Needs `dist`: `npm test` builds first.
test('the picture in the README shows what the program prints now', () => {
  const texts = (svg: string) => svg.split('\n').map((line) => line.replaceAll(/<[^>]*>/g, ''));
  const [stored, now] = [readFileSync(PICTURE, 'utf8'), drawPicture()];
  assert.deepEqual(texts(stored), texts(now), 'npm run dev -- docs:picture draws it again');
  assert.equal(stored, now, 'npm run dev -- docs:picture draws it again');
});

test('the README shows the report page, in at most 150 kB', () => {
  const png = readFileSync(PAGE_PICTURE);
  assert.deepEqual([png.toString('latin1', 1, 4), png.readUInt32BE(16), png.length <= 150_000], ['PNG', 1000, true]);
  assert.match(readFileSync(join(ROOT, 'README.md'), 'utf8'), /\]\(docs\/report\.png\)/);
});
