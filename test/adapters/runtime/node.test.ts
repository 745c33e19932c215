import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { createNodeRuntime } from '../../../src/adapters/runtime/node.ts';
import { utf8Length } from '../../../src/core/tokens.ts';

const runtime = createNodeRuntime();
const OF_ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'; // FIPS 180-2, appendix B.1

suite('the runtime', () => {
  test('hashes text as UTF-8, bytes as they are, and pieces as one', () => {
    const running = runtime.createHash();
    running.update('a');
    running.update(Buffer.from('bc'));
    assert.deepEqual(
      [runtime.sha256('abc'), runtime.sha256(Buffer.from('abc')), running.digest()],
      [OF_ABC, OF_ABC, OF_ABC],
    );
  });

  test('counts the UTF-8 bytes of any text as token estimates do', () => {
    const units = fc.array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd700, max: 0xe0ff })));
    fc.assert(
      fc.property(units, (codes) => {
        const text = String.fromCharCode(...codes);
        assert.equal(runtime.utf8Length(text), utf8Length(text));
        assert.equal(runtime.utf8Length(text.slice(1)), utf8Length(text.slice(1)));
      }),
    );
  });

  test('an aborted sleep ends at once and without an error, before it begins or while it lasts', async () => {
    const abort = new AbortController();
    const sleeping = runtime.sleep(3_600_000, abort.signal);
    abort.abort();
    await sleeping;
    await runtime.sleep(3_600_000, abort.signal);
  });

  test('a sleep that has ended leaves no listener on the signal', async () => {
    const { signal } = new AbortController();
    await runtime.sleep(1, signal);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  test('a sleep of no time lets what is waiting go first', async () => {
    const order: string[] = [];
    setImmediate(() => order.push('waiting'));
    await runtime.sleep(0);
    order.push('slept');
    assert.deepEqual(order, ['waiting', 'slept']);
  });
});
