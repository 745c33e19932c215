import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { withDeadline } from '../../../src/adapters/model/service.ts';
import { answer, type Reply } from '../../support/model-server/reply.ts';
import { errorOf, PROVIDERS, reach, request } from './providers.ts';

const INTERRUPTED = { code: 'api_error', message: 'it was interrupted', retryable: false };
const WHERE: readonly (readonly [string, Reply])[] = [
  ['before the headers', { kind: 'hang' }],
  ['in the middle of a stream', answer('It goes on and on and on.', { half: 'hang' })],
];

for (const provider of PROVIDERS) {
  for (const [where, reply] of WHERE) {
    test(`${provider}: an abort ${where} ends the call at once, and the connection`, async (t) => {
      const controller = new AbortController();
      const reached = await reach(t, provider, {
        script: () => {
          setTimeout(() => controller.abort(), 30);
          return reply;
        },
      });
      const rejected = await errorOf(reached.provider.complete(request(), controller.signal));
      assert.deepEqual(rejected, INTERRUPTED);
      const ended = reached.server.allEnded().then(() => 'ended');
      assert.equal(await Promise.race([ended, sleep(120_000, 'still waiting', { ref: false })]), 'ended');
      assert.deepEqual(getEventListeners(controller.signal, 'abort'), []);
    });
  }

  test(`${provider}: nothing is sent once the signal has come`, async (t) => {
    const reached = await reach(t, provider, { script: [] });
    assert.deepEqual(await errorOf(reached.provider.complete(request(), AbortSignal.abort())), INTERRUPTED);
    assert.equal(reached.server.requests.length, 0);
  });

  test(`${provider}: a call that went well leaves no listener on the signal`, async (t) => {
    const { signal } = new AbortController();
    const reached = await reach(t, provider, { script: [answer('ok')] });
    await reached.provider.complete(request(), signal);
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
  });
}

test('work that does not heed its signal is not waited for', async () => {
  const never = new Promise<never>(() => undefined);
  assert.deepEqual(await withDeadline(() => never, { signal: undefined, timeoutMs: 10 }), { kind: 'late' });
});

test('work that fails after its time fails unheard', async () => {
  const failing = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('too late'))));
  assert.deepEqual(await withDeadline(failing, { signal: undefined, timeoutMs: 10 }), { kind: 'late' });
});

test('the errors of the work are its own', async () => {
  const work = (): Promise<never> => Promise.reject(new Error('broken'));
  await assert.rejects(withDeadline(work, { signal: undefined, timeoutMs: 1000 }), /^Error: broken$/);
});

test('a time beyond what a timer can count is not over at once', async () => {
  const work = (): Promise<string> => sleep(30, 'done');
  assert.deepEqual(await withDeadline(work, { signal: undefined, timeoutMs: Number.MAX_SAFE_INTEGER }), {
    kind: 'done',
    value: 'done',
  });
});
