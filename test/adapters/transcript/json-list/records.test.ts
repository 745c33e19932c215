import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { splitPieces } from '../../../../src/app/read/records.ts';
import { createListRecords, type ListedShape } from '../../../../src/adapters/transcript/json-list/records.ts';
import type { Json } from '../../../../src/ports/codec.ts';

type Seen = {
  readonly text: string;
  readonly list?: number;
  readonly around?: unknown;
  readonly fault?: string;
  readonly place?: string;
};

const LINES: ListedShape = { unit: 'line', kind: 'list', keys: ['messages'] };

function split(text: string, shape: ListedShape, pieceBytes = 5): readonly Seen[] {
  const bytes = Buffer.from(text);
  const pieces = function* (): Generator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  };
  let end = 0;
  let line = 0;
  return Array.from(splitPieces(createListRecords(shape).open(0), pieces()), (record): Seen => {
    line += 1;
    assert.deepEqual({ start: record.start, line: record.line }, { start: end, line });
    end += record.bytes.length;
    const { list, around, fault } = record;
    const place = record.findPlace?.();
    return {
      text: Buffer.from(record.bytes).toString(),
      ...(list !== undefined && { list }),
      ...(around !== undefined && { around }),
      ...(fault !== undefined && { fault }),
      ...(place !== undefined && { place: `${place.line}:${place.column}` }),
    };
  });
}

const texts = (seen: readonly Seen[]): readonly string[] => seen.map(({ text }) => text);

test('a line with a list is taken apart into what is around it and its elements with the commas behind them', () => {
  assert.deepEqual(split('{"n":1,"messages": [ {"a":1} ,\t{"b":2}], "x": "]"}\n{"n":2}\n', LINES), [
    { text: '{"n":1,"messages": [ ', list: 1, around: { n: 1, messages: [], x: ']' }, place: '1:1' },
    { text: '{"a":1} ,\t', list: 1, place: '1:22' },
    { text: '{"b":2}', list: 1, place: '1:32' },
    { text: '], "x": "]"}\n', list: 1, around: null, place: '1:39' },
    { text: '{"n":2}\n', list: 2, around: { n: 2 }, place: '2:1' },
  ]);
});

test('lines that are blank or no JSON are records of their own', () => {
  assert.deepEqual(split('\r\n{"messages":[1,2}\n{"messages":[3]', LINES), [
    { text: '\r\n', place: '1:1' },
    { text: '{"messages":[1,2}\n', place: '2:1' },
    { text: '{"messages":[3]', place: '3:1' },
  ]);
});

test('a value with two lists of that name is one record', () => {
  assert.deepEqual(texts(split('{"messages":[1],"messages":[2]}\n', LINES)), ['{"messages":[1],"messages":[2]}\n']);
});

test('other lists of a conversation are taken apart as well, in the order of the file', () => {
  const shape: ListedShape = { unit: 'file', kind: 'list', keys: ['history'], alongside: ['steps', 'events'] };
  assert.deepEqual(split('{"steps":[1, 2],"events":[],"history":[ 3,4],"n":5}\n', shape), [
    { text: '{"steps":[', list: 1, around: { steps: [], events: [], history: [], n: 5 }, place: '1:1' },
    { text: '1, ', list: 1, place: '1:11' },
    { text: '2', list: 1, place: '1:14' },
    { text: '],"events":[],"history":[ ', list: 1, around: null, place: '1:15' },
    { text: '3,', list: 1, place: '1:41' },
    { text: '4', list: 1, place: '1:43' },
    { text: '],"n":5}\n', list: 1, around: null, place: '1:44' },
  ]);
  assert.deepEqual(texts(split('{"steps":[1],"steps":[2],"history":[3]}', shape)).length, 1);
  assert.deepEqual(texts(split('{"steps":[1]}', shape)), ['{"steps":[1]}']);
});

test('a value that holds many conversations opens a list at each that has messages', () => {
  const shape: ListedShape = { unit: 'file', kind: 'list', keys: ['messages'], within: 'samples' };
  assert.deepEqual(
    split('{"v":2,"samples":[{"messages":[1]},{"messages":[]}, {"id":3,"messages":[4,5]}],"e":0}', shape),
    [
      { text: '{"v":2,"samples":[{"messages":[', list: 1, around: { messages: [] }, place: '1:1' },
      { text: '1', list: 1, place: '1:32' },
      { text: ']},{"messages":[]}, {"id":3,"messages":[', list: 2, around: { id: 3, messages: [] }, place: '1:33' },
      { text: '4,', list: 2, place: '1:73' },
      { text: '5', list: 2, place: '1:75' },
      { text: ']}],"e":0}', list: 2, around: null, place: '1:76' },
    ],
  );
  assert.deepEqual(texts(split('{"v":oops,"samples":[{"messages":[1]}]}', shape)).length, 1);
});

test('elements of a list that is the whole file are taken apart one by one, with brackets and commas around them', () => {
  assert.deepEqual(split('[ {"messages":[1,2]} ,\n {"messages":[]}\n, null]\n', ELEMENTS), [
    { text: '[ {"messages":[', list: 1, around: { messages: [] }, place: '1:1' },
    { text: '1,', list: 1, place: '1:16' },
    { text: '2', list: 1, place: '1:18' },
    { text: ']} ,\n ', list: 1, around: null, place: '1:19' },
    { text: '{"messages":[]}\n, ', list: 2, around: { messages: [] }, place: '2:2' },
    { text: 'null]\n', list: 3, around: null, place: '3:3' },
  ]);
});

const ELEMENTS: ListedShape = { ...LINES, unit: 'element' };

test('a list that ends too soon has its fault where it ends, and all before it is taken apart', () => {
  const fault = 'not valid JSON (the list does not end)';
  assert.deepEqual(split('[{"n":1},\n{"n":2}', ELEMENTS), [
    { text: '[{"n":1},\n', list: 1, around: { n: 1 }, place: '1:1' },
    { text: '{"n":2}', fault, place: '2:1' },
  ]);
  assert.deepEqual(split('[{"n":1},', ELEMENTS), [{ text: '[{"n":1},', fault, place: '1:1' }]);
});

test('what stands behind a value that should stand alone is a fault', () => {
  const fault = 'not valid JSON (something follows the value)';
  assert.deepEqual(split('{"n":1},\n{"n":2}\n', LINES), [
    { text: '{"n":1},\n', fault, place: '1:1' },
    { text: '{"n":2}\n', list: 1, around: { n: 2 }, place: '2:1' },
  ]);
  assert.deepEqual(split('[{"n":1}]]', ELEMENTS), [{ text: '[{"n":1}]]', fault, place: '1:1' }]);
});

test('between two commas stands a record that is no JSON', () => {
  const seen = split('[{"n":1}, ,{"n":2}]', ELEMENTS);
  assert.deepEqual(texts(seen), ['[{"n":1}, ', ',', '{"n":2}]']);
  const { trim, parse } = createListRecords(ELEMENTS);
  assert.equal(parse(trim(Buffer.from(','))).ok, false);
});

test('the place of an element is counted in characters from the beginning of its line, whatever stands before it there', () => {
  const places = split('["é🙂", {"n":1},\n"ü", null]', ELEMENTS).map(({ place }) => place);
  assert.deepEqual(places, ['1:1', '1:8', '2:1', '2:6']);
});

test('of an object whose members are the elements, a member goes with its key', () => {
  const shape: ListedShape = { unit: 'file', kind: 'members', keys: ['mapping'] };
  const records = createListRecords(shape);
  assert.deepEqual(texts(split('{"mapping":{"a":{"x":1},\n "b":null}}', shape)), [
    '{"mapping":{',
    '"a":{"x":1},\n ',
    '"b":null',
    '}}',
  ]);
  const bytes = records.trim(Buffer.from('"a":{"x":1},\n '));
  assert.deepEqual(records.parse(bytes), { ok: true, value: { a: { x: 1 } } });
});

test('whatever the values and however the file comes in pieces, the records tile it and the elements are the values', () => {
  const values = fc.array(fc.record({ messages: fc.array(fc.jsonValue(), { maxLength: 5 }), n: fc.string() }), {
    minLength: 1,
    maxLength: 5,
  });
  const units = fc.constantFrom('line' as const, 'element' as const, 'file' as const);
  const indents = fc.constantFrom(undefined, 2, '\t');
  fc.assert(
    fc.property(values, units, indents, fc.integer({ min: 1, max: 50 }), (list, unit, indent, pieceBytes) => {
      const text =
        unit === 'line'
          ? list.map((value) => `${JSON.stringify(value)}\n`).join('')
          : JSON.stringify(unit === 'file' ? list[0] : list, null, indent);
      const shape: ListedShape = { ...LINES, unit };
      const seen = split(text, shape, pieceBytes);
      assert.equal(texts(seen).join(''), text);
      const wanted = (unit === 'file' ? list.slice(0, 1) : list).flatMap(({ messages }) => messages);
      const { trim, parse } = createListRecords(shape);
      const read = seen.flatMap(({ text: part, around }) =>
        around === undefined ? [parse(trim(Buffer.from(part)))] : [],
      );
      const values: readonly Json[] = JSON.parse(JSON.stringify(wanted));
      assert.deepEqual(
        read,
        values.map((value) => ({ ok: true, value })),
      );
    }),
  );
});

test('a key that is written with escapes is found', () => {
  assert.deepEqual(texts(split('{"m\\u0065ssages":[1,2]}\n', LINES)), ['{"m\\u0065ssages":[', '1,', '2', ']}\n']);
});

test('a value with two lists of that name is one record, however the name is written', () => {
  const line = '{"messages":[1],"m\\u0065ssages":[2]}\n';
  assert.deepEqual(texts(split(line, LINES)), [line]);
});

test('an element that is a list itself is a value without messages', () => {
  assert.deepEqual(split('[{"messages":[1]},[],[2]]', ELEMENTS).slice(3), [
    { text: '[],', list: 2, around: [], place: '1:19' },
    { text: '[2]]', list: 3, around: [2], place: '1:22' },
  ]);
});

test('places in a list that is one line are counted from its beginning, in characters', () => {
  assert.deepEqual(
    split('[{"n":"é😀"},{"messages":[1]},\n {"n":1},null]', ELEMENTS).map(({ place }) => place),
    ['1:1', '1:13', '1:26', '1:27', '2:2', '2:10'],
  );
});
