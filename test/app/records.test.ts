import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { findCodec } from '../support/codecs.ts';
import { chatLines } from '../../src/adapters/transcript/chat-lines/codec.ts';
import { formatRegistry } from '../../src/adapters/transcript/detect.ts';
import { createTextSharer, toEntry } from '../../src/app/read/index-records.ts';
import {
  createReaders,
  factsOf,
  MAX_RECORD_BYTES,
  parseRecord,
  parseUntrimmed,
  readRecords,
  trimRecord,
} from '../../src/app/read/records.ts';
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

test('of more messages than fit into memory the same facts are known when they are archived', () => {
  const codec = chatLines;
  const time = fc.constantFrom('2026-03-01T08:00:00Z', '1970-01-01T00:00:00Z', 'no time', null);
  const said = fc.record({
    role: fc.constantFrom('user', 'assistant', 'system', 'tool', 'ada'),
    content: fc.constantFrom('What is it?', 'It was on Monday.', 'Is it 2026?', 'No.', ''),
    id: fc.constantFrom('m1', 'm2', 7),
    name: fc.constantFrom('bob', undefined),
    created_at: time,
  });
  const long = { role: 'user', content: 'x'.repeat(4_000_000) };
  fc.assert(
    fc.property(fc.array(said, { minLength: 1, maxLength: 8 }), (messages) => {
      const session = codec.open();
      const lines = [long, ...messages].map((message) => Buffer.from(`${JSON.stringify(message)}\n`));
      const file = Buffer.concat(lines);
      const source = { read: (start: number, length: number) => file.subarray(start, start + length) };
      const share = createTextSharer();
      const entries = lines.map((bytes, at) => {
        const decoded = session.observe(JSON.parse(bytes.toString()), at + 1);
        assert.ok(!('problem' in decoded));
        const start = Buffer.concat(lines.slice(0, at)).length;
        return toEntry(decoded, { line: at + 1, start, length: bytes.length }, { share, measure: undefined });
      });
      const readers = createReaders({ formats: formatRegistry }, { source, codec, session });
      const read = entries.map(readers.readMessage);
      const facts = entries.map((entry) =>
        readers.messageFacts(entry, Buffer.from('{"role":"user","content":"another"}')),
      );
      assert.deepEqual(
        facts,
        read.map((message) => message && factsOf(message)),
      );
    }),
    { numRuns: runsOf(20) },
  );
});
