import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { formatRegistry } from '../../src/adapters/transcript/detect.ts';
import { parseRecord, parseUntrimmed, trimRecord } from '../../src/app/read/records.ts';

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
    { numRuns: 500 },
  );
});
