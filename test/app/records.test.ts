import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { findCodec } from '../support/codecs.ts';
import { formatRegistry } from '../../src/adapters/transcript/detect.ts';
import { MAX_RECORD_BYTES, parseRecord, parseUntrimmed, readRecords, trimRecord } from '../../src/app/read/records.ts';
import { runsOf } from '../support/runs.ts';

test('a line parses to the same value or fault with its line ending as without it', () => {
  const lines = {} as const;
  const broken = fc.tuple(fc.json(), fc.nat()).map(([json, at]) => json.slice(0, at % (json.length + 1)));
  const text = fc.oneof(fc.json(), broken, fc.constantFrom('', '{"a":1}\r', '{"a":', '"\u2028', '{} {}', '\uFEFF{}'));
  const bytes = fc.oneof(
    text.map((line) => Buffer.from(line)),
    fc.uint8Array({ maxLength: 20 }).map((line) => Buffer.from(line)),
  );
  fc.assert(
    fc.property(bytes, fc.constantFrom('', '\n', '\r\n'), (line, eol) => {
      const untrimmed = Buffer.concat([line, Buffer.from(eol)]);
      assert.deepEqual(
        parseUntrimmed(formatRegistry, lines, untrimmed),
        parseRecord(formatRegistry, lines, trimRecord(lines, untrimmed)),
      );
    }),
    { numRuns: runsOf(500) },
  );
});

const MIB = 1024 * 1024;

/** A file that goes on after its beginning with the same byte. */
function endless(
  beginning: string,
  sizeBytes: number,
): Parameters<typeof readRecords>[0] & { bytesRead: () => number } {
  let bytesRead = 0;
  const read = (start: number, length: number): Buffer => {
    bytesRead += length;
    const piece = Buffer.alloc(length, ' ');
    if (start === 0) piece.write(beginning);
    return piece;
  };
  const lines = (): never => assert.fail('it was read as lines');
  return { bomLength: 0, sizeBytes, lines, read, bytesRead: () => bytesRead };
}

function refusedOf(source: ReturnType<typeof endless>, format: string, maxRecordBytes?: number): unknown {
  try {
    for (const record of readRecords(source, findCodec(format) ?? assert.fail(), maxRecordBytes)) void record;
  } catch (error) {
    return Object(error).fileFailure;
  }
  return assert.fail('it was read');
}

test('a document that does not fit in memory is refused before it is read', () => {
  const source = endless('[{"role":"user","content":"', 20_000 * MIB);
  assert.deepEqual(refusedOf(source, 'cline'), { kind: 'too-large', limitBytes: 1024 * MIB });
  assert.equal(source.bytesRead(), 0);
});

test('a conversation in a list, or a printed object, without an end is refused at its limit', () => {
  assert.equal(MAX_RECORD_BYTES, 256 * MIB);
  for (const [format, beginning, line] of [
    ['claude-ai', '[{"uuid":"1","chat_messages":[]},{"uuid":"', 2],
    ['trace-lines', '{\n"name":"', 1],
  ] as const) {
    const source = endless(beginning, 20_000 * MIB);
    const refused = { kind: 'line-too-long', unit: 'record', line, maxLineBytes: 4 * MIB };
    assert.deepEqual(refusedOf(source, format, 4 * MIB), refused);
    assert.ok(source.bytesRead() <= 6 * MIB);
  }
});
