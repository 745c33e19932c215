import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { parseBeginning } from '../../../../src/adapters/transcript/listed/beginning.ts';

test('a whole value is that value', () => {
  fc.assert(
    fc.property(fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())), (value) => {
      const text = JSON.stringify(value);
      assert.deepEqual(parseBeginning(text), JSON.parse(text));
    }),
  );
});

test('of a value that is cut off anywhere, what came whole is read', () => {
  const text = '[{"id": "a", "list": [{"role": "user", "text": "say \\"]\\" twice"}, {"role": "ass';
  assert.deepEqual(parseBeginning(text), [{ id: 'a', list: [{ role: 'user', text: 'say "]" twice' }, {}] }]);
});

test('every beginning of a list or an object is read as one', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), fc.nat(), (value, cut) => {
      const text = JSON.stringify(value);
      assert.ok(Array.isArray(parseBeginning(text.slice(0, 1 + (cut % text.length)))));
    }),
  );
});

test('of a value with a fault in it, a part before the fault is read', () => {
  assert.deepEqual(parseBeginning('[{"a": 1, "b": [2, 3], "c": d, "e": 4}]'), [{ a: 1, b: [2] }]);
});

test('what is no JSON is nothing', () => {
  assert.deepEqual([parseBeginning(''), parseBeginning('"a" 1'), parseBeginning('x')], [null, null, null]);
});

test('ever more brackets take no more room than there are', () => {
  const depth = 200_000;
  const read = parseBeginning('['.repeat(depth));
  assert.ok(read === null || Array.isArray(read));
});
