import assert from 'node:assert/strict';
import { test } from 'node:test';
import { thisMachine } from '../../../src/adapters/postgres/machine.ts';

test('a machine has one name, which tells it from others and does not contain its id', () => {
  const id = '0123456789abcdef0123456789abcdef';
  const name = thisMachine({ host: 'db', id });
  assert.equal(name, thisMachine({ host: 'db', id }));
  assert.match(name, /^db [\da-f]{16}$/);
  assert.equal(name.includes(id.slice(0, 16)), false);
  const others = [
    { host: 'web', id },
    { host: 'db', id: id.toUpperCase() },
    { host: 'db', id: '' },
  ];
  assert.equal(new Set([name, ...others.map(thisMachine)]).size, 4);
  assert.equal(thisMachine(), thisMachine());
});
