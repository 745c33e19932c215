import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { type LineRange, readLines } from '../../src/system/outside-file.ts';

const MIB = 1024 * 1024;

type Line = { readonly line: number; readonly start: number; readonly text: string; readonly eolLength: number };

/** The lines of some bytes, which come `stepBytes` at a time at the most. */
function linesOf(bytes: Buffer, range: Partial<LineRange> = {}, stepBytes = Infinity): readonly Line[] {
  const fill = (into: Uint8Array, position: number): number =>
    bytes.copy(into, 0, position, position + Math.min(into.length, stepBytes));
  const refuseLine = (line: number, maxLineBytes: number): never => {
    throw new Error(`line ${line} is over ${maxLineBytes}`);
  };
  const lines = readLines({ fill, refuseLine }, { from: 0, ...range });
  return Array.from(lines, ({ line, start, bytes: own, eolLength }) => ({
    line,
    start,
    text: Buffer.from(own).toString('latin1'),
    eolLength,
  }));
}

const text = (string: string): Buffer => Buffer.from(string, 'latin1');

suite('lines of a file', () => {
  test('each has its number, its offset and its ending', () => {
    assert.deepEqual(linesOf(text('a\nbc\r\n\n\r\nd')), [
      { line: 1, start: 0, text: 'a\n', eolLength: 1 },
      { line: 2, start: 2, text: 'bc\r\n', eolLength: 2 },
      { line: 3, start: 6, text: '\n', eolLength: 1 },
      { line: 4, start: 7, text: '\r\n', eolLength: 2 },
      { line: 5, start: 9, text: 'd', eolLength: 0 },
    ]);
  });

  test('a short file is read into no more room than it takes', () => {
    const bytes = text('abc\nde\n');
    const rooms: number[] = [];
    const fill = (into: Uint8Array, position: number): number => {
      rooms.push(into.length);
      return bytes.copy(into, 0, position);
    };
    const refuseLine = (): never => assert.fail('refused');
    assert.equal([...readLines({ fill, refuseLine }, { from: 0, to: bytes.length })].length, 2);
    assert.deepEqual([Math.max(...rooms), rooms.length], [bytes.length + 1, 2]);
  });

  test('a line without an end is refused in the room of a usual one', () => {
    const rooms: number[] = [];
    const fill = (into: Uint8Array): number => rooms.push(into.length) && into.fill(0x61).length;
    const refuseLine = (line: number): never => {
      throw new Error(`line ${line} is refused`);
    };
    const lines = readLines({ fill, refuseLine }, { from: 0, maxLineBytes: 256 * MIB });
    assert.throws(() => [...lines], /line 1 is refused/);
    assert.ok(Math.max(...rooms) <= MIB, `${Math.max(...rooms)} bytes at a time`);
  });

  test('a long line is read into no more room than it takes', () => {
    const bytes = Buffer.concat([Buffer.alloc(5 * MIB, 0x61), text('\nend\n')]);
    const rooms: number[] = [];
    const fill = (into: Uint8Array, position: number): number => {
      rooms.push(into.buffer.byteLength);
      return bytes.copy(into, 0, position);
    };
    const refuseLine = (): never => assert.fail('refused');
    const lengths = Array.from(readLines({ fill, refuseLine }, { from: 0 }), (line) => line.bytes.length);
    assert.deepEqual(lengths, [5 * MIB + 1, 4]);
    assert.ok(Math.max(...rooms) <= 5 * MIB + 2, `${Math.max(...rooms)} bytes of room`);
  });

  test('no bytes are no lines', () => {
    assert.deepEqual(linesOf(text('')), []);
  });

  test('a CR that stands alone, or twice before the LF, is data', () => {
    assert.deepEqual(linesOf(text('a\rb\r\r\n\r')), [
      { line: 1, start: 0, text: 'a\rb\r\r\n', eolLength: 2 },
      { line: 2, start: 6, text: '\r', eolLength: 0 },
    ]);
  });

  test('U+2028, U+2029 and U+0085 part nothing', () => {
    const bytes = Buffer.from('"a\u2028b\u2029c\u0085d"\n');
    assert.deepEqual(
      linesOf(bytes).map(({ text: own }) => own.length),
      [bytes.length],
    );
  });

  test('a line that is far longer than the buffer comes whole', () => {
    const long = 'x'.repeat(1000);
    assert.deepEqual(
      linesOf(text(`a\n${long}\nb\n`), { bufferBytes: 4 }).map((line) => line.text),
      ['a\n', `${long}\n`, 'b\n'],
    );
  });

  test('a CR and its LF belong together across two fills of the buffer', () => {
    assert.deepEqual(linesOf(text('abc\r\nd'), { bufferBytes: 4 }), [
      { line: 1, start: 0, text: 'abc\r\n', eolLength: 2 },
      { line: 2, start: 5, text: 'd', eolLength: 0 },
    ]);
  });

  test('a line at the limit is read', () => {
    assert.equal(linesOf(text(`${'x'.repeat(9)}\n`), { bufferBytes: 4, maxLineBytes: 10 }).length, 1);
  });

  test('a line over the limit is refused by its number, with its ending or without', () => {
    for (const line of ['x'.repeat(10), 'x'.repeat(11), 'x'.repeat(100)]) {
      const tail = line.length === 10 ? '\n' : '';
      assert.throws(
        () => linesOf(text(`a\n${line}${tail}`), { bufferBytes: 4, maxLineBytes: 10 }),
        /line 2 is over 10/,
      );
    }
  });

  test('lines joined give the bytes, whatever they are and however they come', () => {
    const piece = fc.oneof(
      fc.constantFrom('\n', '\r\n', '\r', '\u2028', '\ufeff', '\0', 'é'),
      fc.string({ maxLength: 12 }),
    );
    const bytes = fc.oneof(
      fc.array(piece, { maxLength: 40 }).map((pieces) => Buffer.from(pieces.join(''))),
      fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
    );
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 9 }), (all, bufferBytes, step) => {
        const lines = linesOf(all, { bufferBytes }, step);
        assert.deepEqual(linesOf(all, { bufferBytes, to: all.length }, step), lines);
        assert.equal(lines.map((line) => line.text).join(''), all.toString('latin1'));
        const expected = all.toString('latin1').split(/(?<=\n)/);
        assert.deepEqual(
          lines.map((line) => line.text),
          all.length === 0 ? [] : expected,
        );
        for (const { start, text: own } of lines) {
          assert.equal(all.subarray(start, start + own.length).toString('latin1'), own);
        }
      }),
    );
  });
});
