import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { findJsonFault, parseJsonLine } from '../../../src/adapters/transcript/json-lines.ts';
import type { LineParse } from '../../../src/ports/codec.ts';

const parse = (text: string): LineParse => parseJsonLine(Buffer.from(text));
const refusal = (column: number, problem: string): LineParse => ({
  ok: false,
  column,
  problem: `not valid JSON (${problem})`,
});

suite('a line of JSON', () => {
  test('is its value', () => {
    assert.deepEqual(parse(' {"a":[1,"é😀\u2028"]}\r'), { ok: true, value: { a: [1, 'é😀\u2028'] } });
  });

  test('is read from a view into a larger buffer', () => {
    assert.deepEqual(parseJsonLine(Buffer.from('xx[1]yy').subarray(2, 5)), { ok: true, value: [1] });
  });

  test('may hold half a surrogate pair as an escape', () => {
    assert.deepEqual(parse('"\\ud83d"'), { ok: true, value: '\ud83d' });
  });

  test('may hold the replacement character itself', () => {
    assert.deepEqual(parse('"\ufffd"'), { ok: true, value: '\ufffd' });
  });

  test('may repeat a key: the last one counts', () => {
    assert.deepEqual(parse('{"a":1,"a":2}'), { ok: true, value: { a: 2 } });
  });

  test('may hold a number beyond what a double holds', () => {
    assert.deepEqual(parse('[1e400]'), { ok: true, value: [Infinity] });
  });

  test('gives a key __proto__ as a key, and changes no prototype', () => {
    const parsed = parse('{"__proto__":{"role":"user"}}');
    assert.ok(parsed.ok && typeof parsed.value === 'object' && parsed.value !== null);
    assert.deepEqual(Object.keys(parsed.value), ['__proto__']);
    assert.equal('role' in parsed.value, false);
  });
});

suite('a line that is no JSON', () => {
  const END = 'unexpected end of line';
  const cases: readonly (readonly [string, string, number, string])[] = [
    ['is cut off in a string', '{"a":"xy', 9, END],
    ['is cut off in an escape', '{"a":"x\\u12', 12, END],
    ['is cut off after a backslash', '{"a":"x\\', 9, END],
    ['is cut off in a word', '{"a":tru', 9, END],
    ['is cut off in a number', '{"a":1.', 8, END],
    ['is cut off after a key', '{"a"', 5, END],
    ['is cut off after a comma', '{"a":1,', 8, END],
    ['is cut off after the opening', '{', 2, END],
    ['is empty', '', 1, END],
    ['holds two records', '{"a":1}{"b":2}', 8, 'two records on one line'],
    ['holds more than its record', '{"a":1} x', 9, 'something follows the record'],
    ['is NUL bytes', '\0\0', 1, 'NUL bytes: was the file cut off by a power loss?'],
    ['ends in NUL bytes', '{"a":1}\0', 8, 'NUL bytes: was the file cut off by a power loss?'],
    ['begins with a byte order mark', '\ufeff{}', 1, 'a byte order mark within the file'],
    ['has a comma too many in a list', '[1,]', 4, 'a comma before the ]'],
    ['has a comma too many in an object', '{"a":1 , }', 10, 'a comma before the }'],
    ['lacks a comma', '[1 2]', 4, 'a comma or ] is expected'],
    ['closes what is not open', '{"a":[1}', 8, 'a comma or ] is expected'],
    ['lacks a colon', '{"a" 1}', 6, 'a colon is expected after the key'],
    ['has a key without quotes', '{a:1}', 2, 'a key in double quotes is expected'],
    ['has single quotes', "{'a':1}", 2, 'JSON has double quotes only'],
    ['has a tab in a string', '"a\tb"', 3, 'a control character in a string'],
    ['has an unknown escape', '"a\\x"', 3, 'a bad escape in a string'],
    ['was written by Python', '{"a":None}', 6, 'None is not a JSON value'],
    ['holds no number', '[NaN]', 2, 'NaN is not a JSON value'],
    ['has a number with a leading zero', '[01]', 3, 'a comma or ] is expected'],
    ['is no JSON at all', 'hello', 1, 'a value is expected'],
  ];
  for (const [what, text, column, problem] of cases) {
    test(what, () => assert.deepEqual(parse(text), refusal(column, problem)));
  }

  test('has its columns counted in characters, not in bytes or halves of them', () => {
    assert.deepEqual(parse('{"é😀\u2028" 1}'), refusal(8, 'a colon is expected after the key'));
  });

  test('is refused with the column of the first byte that is no UTF-8', () => {
    const line = Buffer.concat([Buffer.from('{"é😀\ufffd":"'), Buffer.of(0xff), Buffer.from('\ufffd"}')]);
    assert.deepEqual(parseJsonLine(line), { ok: false, column: 9, problem: 'not UTF-8' });
  });

  test('is refused for a surrogate that stands in it as bytes, and for a character that is cut off', () => {
    const surrogate = Buffer.of(0x22, 0xed, 0xa0, 0x80, 0x22);
    const cut = Buffer.of(0x22, 0xc3);
    assert.deepEqual(
      [parseJsonLine(surrogate), parseJsonLine(cut)],
      [
        { ok: false, column: 2, problem: 'not UTF-8' },
        { ok: false, column: 2, problem: 'not UTF-8' },
      ],
    );
  });

  test('may be nested as deeply as it likes', () => {
    assert.deepEqual(parse('['.repeat(200_000)), refusal(200_001, END));
  });
});

suite('the place of a fault', () => {
  const json = fc.json({ maxDepth: 4 });

  test('every beginning of a JSON text is good so far, up to its end', () => {
    fc.assert(
      fc.property(json, fc.nat(), (text, cut) => {
        const start = text.slice(0, cut % (text.length + 1));
        assert.deepEqual(findJsonFault(start), { at: start.length, problem: END_OF_LINE });
      }),
    );
  });

  test('what stands before it can be the beginning of JSON, and what stands up to it cannot', () => {
    const broken = fc
      .tuple(json, fc.nat(), fc.constantFrom(',', '}', ']', ':', '"', '\\', '0', 'x', '\0'))
      .map(([text, at, char]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + char + text.slice(place);
      });
    fc.assert(
      fc.property(broken, (text) => {
        if (parse(text).ok) return;
        const { at, problem } = findJsonFault(text);
        if (problem === END_OF_LINE) assert.equal(at, text.length);
        assert.deepEqual(findJsonFault(text.slice(0, at)), { at, problem: END_OF_LINE });
      }),
    );
  });
});

const END_OF_LINE = 'unexpected end of line';
