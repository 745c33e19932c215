import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { readQueryGroups } from '../../src/cli/commands/search.ts';

async function linesOf(chunks: readonly (string | Buffer)[]): Promise<readonly string[]> {
  const lines: string[] = [];
  const source = Readable.from(
    chunks.map((chunk) => Buffer.from(chunk)),
    { objectMode: false },
  );
  for await (const group of readQueryGroups(source, new AbortController().signal)) lines.push(...group);
  return lines;
}

test('every line counts: an empty one, one that ends in CRLF, and a last one without an end', async () => {
  assert.deepEqual(await linesOf(['one\n\ntwo\r\nthr', 'ee']), ['one', '', 'two', 'three']);
  assert.deepEqual(await linesOf(['\u2028a\n']), ['\u2028a']);
  assert.deepEqual(await linesOf([]), []);
});

test('where the pieces are parted does not matter', async () => {
  const text = 'größe\r\n\n😀 boat\nlast';
  const bytes = Buffer.from(text);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: bytes.length }), { maxLength: 5 }), async (cuts) => {
      const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
      const chunks = places.slice(1).map((end, at) => bytes.subarray(places[at], end));
      assert.deepEqual(await linesOf(chunks.filter((chunk) => chunk.length > 0)), ['größe', '', '😀 boat', 'last']);
    }),
  );
});

test('a line is given as soon as its end is there', async () => {
  const source = new PassThrough();
  const lines = readQueryGroups(source, new AbortController().signal);
  source.write('one\ntw');
  assert.deepEqual(await lines.next(), { done: false, value: ['one'] });
  source.end('o');
  assert.deepEqual(
    [await lines.next(), await lines.next()],
    [
      { done: false, value: ['two'] },
      { done: true, value: undefined },
    ],
  );
});

test('lines that are there together come together, no more than 64 of them', async () => {
  const source = Readable.from([Buffer.from('q\n'.repeat(130)), Buffer.from('last\n')], { objectMode: false });
  const sizes: number[] = [];
  for await (const group of readQueryGroups(source, new AbortController().signal)) sizes.push(group.length);
  assert.deepEqual(sizes, [64, 64, 2, 1]);
});

test('of an endless line the first megabyte is kept', async () => {
  const [line = '', after] = await linesOf([...Array.from({ length: 40 }, () => 'x'.repeat(50_000)), '\nnext']);
  assert.deepEqual([line.length, after], [1024 * 1024, 'next']);
});

test('an interruption ends the lines, and a broken input is an error', async () => {
  const interruption = new AbortController();
  const waiting = readQueryGroups(new PassThrough(), interruption.signal).next();
  interruption.abort();
  assert.deepEqual(await waiting, { done: true, value: undefined });
  const broken = new PassThrough();
  const failing = readQueryGroups(broken, new AbortController().signal).next();
  broken.destroy(new Error('gone'));
  await assert.rejects(failing, { message: 'gone' });
});
