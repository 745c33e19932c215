import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { createRangeReader } from '../../../src/adapters/fs/source-file.ts';

/** A file in memory that counts how often it is read. */
function fileOf(content: Uint8Array): {
  readonly read: (start: number, length: number) => Uint8Array;
  readonly asked: { times: number };
} {
  const asked = { times: 0 };
  const fill = (into: Uint8Array, position: number): number => {
    asked.times += 1;
    const bytes = content.subarray(position, position + into.length);
    into.set(bytes);
    return bytes.length;
  };
  return { read: createRangeReader(fill, content.length), asked };
}

const content = Uint8Array.from({ length: 300_000 }, (_, at) => (at * 7 + (at >> 8)) % 251);

const range = fc.record({ start: fc.nat(310_000), length: fc.oneof(fc.nat(2000), fc.nat(140_000)), more: fc.nat(5) });

suite('ranges of a file', () => {
  test('any range, in any order, gives the bytes that stand there, and what was given before stays as it was', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 20 }), (ranges) => {
        const { read } = fileOf(content);
        const given = ranges.flatMap(({ start, length, more }) =>
          Array.from({ length: more + 1 }, (_, times) => start + times * length).map((at) => ({
            bytes: read(at, length),
            expected: content.slice(at, at + length),
          })),
        );
        for (const { bytes, expected } of given) assert.ok(Buffer.from(bytes).equals(expected));
      }),
    );
  });

  test('small ranges, one after the other, come from few readings of the file', () => {
    const { read, asked } = fileOf(content);
    for (let at = 0; at < 100_000; at += 100) read(at, 100);
    assert.equal(asked.times, 3); // the first, and two windows
  });

  test('a range that stands alone is read alone', () => {
    const { read, asked } = fileOf(content);
    for (const at of [200_000, 100, 250_000]) read(at, 100);
    assert.equal(asked.times, 3);
  });

  test('a file that was cut off since gives what is left of it', () => {
    const cut = createRangeReader((into, position) => {
      const bytes = content.subarray(Math.min(position, 250), Math.min(position + into.length, 250));
      into.set(bytes);
      return bytes.length;
    }, content.length);
    assert.deepEqual(
      [0, 100, 200, 300].map((at) => cut(at, 100).length),
      [100, 100, 50, 0],
    );
  });
});
