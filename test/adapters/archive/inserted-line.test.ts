import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { compressInsertedLine, readInsertedLine } from '../../../src/adapters/archive/blocks.ts';

const toRow = ({ bytes, raw_size }: ReturnType<typeof compressInsertedLine>): Record<string, unknown> => ({
  bytes: Buffer.from(bytes),
  raw_size,
});

test('a line comes out as it went in, packed only where that is shorter', () => {
  const repeated = fc.tuple(fc.string(), fc.nat({ max: 200 })).map(([text, count]) => text.repeat(count));
  fc.assert(
    fc.property(fc.oneof(fc.string(), repeated), (text) => {
      const line = Buffer.from(text);
      const packed = compressInsertedLine(line);
      assert.ok(packed.bytes.length <= line.length);
      assert.deepEqual(Buffer.from(readInsertedLine(toRow(packed))), line);
    }),
  );
});

test('a packed line that is cut off, or gives another length, is damage', () => {
  const packed = compressInsertedLine(Buffer.from('a summary '.repeat(40)));
  assert.notEqual(packed.raw_size, null);
  assert.throws(
    () => readInsertedLine(toRow({ ...packed, bytes: packed.bytes.subarray(0, -3) })),
    /cannot be decompressed/,
  );
  assert.throws(() => readInsertedLine(toRow({ ...packed, raw_size: 399 })), /cannot be decompressed/);
});
