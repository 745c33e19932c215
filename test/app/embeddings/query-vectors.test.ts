import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createOutage,
  createQueryVectors,
  type QueryVectors,
} from '../../../src/app/search/embeddings/query-vectors.ts';
import { ModelError } from '../../../src/core/model-request.ts';
import type { VectorModel } from '../../../src/ports/archive-lookup.ts';
import { toyVector } from '../../support/embedding-server.ts';
import { fakeService, type FakeService, toyVectors } from '../../support/meaning-bench.ts';

const TOY: VectorModel = { provider: 'ollama', model: 'toy', dimensions: 64 };

type Scene = {
  readonly find: (
    query: string,
    upcoming?: readonly string[],
    model?: VectorModel | null,
  ) => ReturnType<QueryVectors['find']>;
  readonly pass: (ms: number) => void;
};

function scene(service: FakeService): Scene {
  const clock = { nowMs: 0 };
  const runtime = { now: () => new Date(clock.nowMs), sleep: () => Promise.resolve(), random: () => 0 };
  const queries = createQueryVectors({ service, runtime, signal: new AbortController().signal });
  return {
    find: (query, upcoming = [], model = TOY) => queries.find({ findModel: async () => model }, { query, upcoming }),
    pass: (ms) => {
      clock.nowMs += ms;
    },
  };
}

test('a query is asked for once, together with those that are known to follow', async () => {
  const service = fakeService();
  const { find } = scene(service);
  assert.deepEqual(await find('boat', ['rope', '', 'boat', 'sail']), Float32Array.from(toyVector('boat')));
  assert.deepEqual(await find('rope', ['', 'boat', 'sail']), Float32Array.from(toyVector('rope')));
  assert.deepEqual(service.sent, [['boat', 'rope', 'sail']]);
});

test('an empty query, or one to an archive without vectors, costs nothing', async () => {
  const service = fakeService();
  const { find } = scene(service);
  assert.deepEqual([await find(' '), await find('boat', [], null), await find('rope', [], null)], [null, null, null]);
  assert.deepEqual(service.sent, []);
  assert.deepEqual(service.notices, [
    'the archive has no vectors yet: `compact archive embed` makes them; this search uses words only',
  ]);
});

test('vectors of another model are not compared, and that is reported once', async () => {
  const service = fakeService({ model: 'new', dimensions: 5 });
  const { find } = scene(service);
  assert.deepEqual([await find('boat'), await find('rope')], [null, null]);
  assert.deepEqual(service.sent, []);
  assert.deepEqual(service.notices, [
    'the vectors in the archive are by toy (64 numbers), and the configuration names new (5 numbers): `compact archive embed` makes them anew; this search uses words only',
  ]);
});

test('a failing service is not called again for a minute, and is reported once', async () => {
  const service = fakeService({}, (texts, index) =>
    index === 0 ? Promise.reject(new ModelError('timeout', 'host is late', { retryable: true })) : toyVectors(texts),
  );
  const { find, pass } = scene(service);
  assert.deepEqual([await find('boat'), await find('rope')], [null, null]);
  assert.equal(service.sent.length, 1);
  pass(60_000);
  assert.notEqual(await find('rope'), null);
  assert.deepEqual(service.notices, ['host is late; this search uses words only']);
});

test('vectors of another length than those in the archive are compared with nothing', async () => {
  const service = fakeService();
  const { find } = scene(service);
  assert.equal(await find('boat', [], { ...TOY, dimensions: 65 }), null);
  assert.deepEqual(service.notices, [
    'toy gives 64 numbers now, and those in the archive have 65: with dimensions = 64 in [embedding] `compact archive embed` makes them anew; this search uses words only',
  ]);
});

test('a failure pauses all searches that share it, and a cancelled call pauses none', async () => {
  const outage = createOutage();
  const broken = fakeService({}, () => Promise.reject(new ModelError('timeout', 'host is late', { retryable: true })));
  const runtime = { now: () => new Date(0), sleep: () => Promise.resolve(), random: () => 0 };
  const find = (signal: AbortSignal) =>
    createQueryVectors({ service: broken, runtime, signal, outage }).find(
      { findModel: async () => TOY },
      { query: 'boat' },
    );
  const calm = new AbortController().signal;
  await find(AbortSignal.abort());
  assert.equal(broken.sent.length, 0);
  await find(calm);
  await find(calm);
  assert.equal(broken.sent.length, 1);
});
