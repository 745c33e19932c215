import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionFailure, failureBehind, ServiceFailureError } from '../../../src/adapters/model/service-failure.ts';

const coded = (message: string, code: string): Error => Object.assign(new Error(message), { code });

test('of a host with several addresses the first that failed is told', () => {
  const refused = new AggregateError([coded('no one at ::1', 'ECONNREFUSED'), coded('no one at 127.0.0.1', 'EACCES')]);
  assert.deepEqual(connectionFailure(new TypeError('fetch failed', { cause: refused })), {
    kind: 'connection',
    codes: ['ECONNREFUSED'],
    detail: 'no one at ::1',
  });
});

test('what an SDK wraps is found again, and what is a bug is none', () => {
  const fault = { kind: 'empty' } as const;
  assert.deepEqual(failureBehind(new Error('Connection error.', { cause: new ServiceFailureError(fault) })), fault);
  assert.deepEqual(failureBehind(new Error('stream', { cause: new SyntaxError('Unexpected token') })), {
    kind: 'no-json',
  });
  assert.equal(failureBehind(new TypeError('x is not a function')), null);
});

test('errors that cause each other are followed to an end', () => {
  const one = new Error('one');
  one.cause = new Error('two', { cause: one });
  assert.equal(failureBehind(one), null);
});
