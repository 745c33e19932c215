import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BatchChange, RecordPage } from '../../../src/ports/batch.ts';
import type { Engine } from './engine.ts';

const ALL: RecordPage = { state: null, after: '', limit: 1000 };

function request(key: string, state: string, from: string | null): BatchChange {
  return { kind: 'request', key, state, from, value: `{"of":"${key}"}` };
}

export function batchContract(engine: Engine): void {
  test('records of batches are found by key, listed by state, and apart from other kinds', async (t) => {
    const { providerBatches: batches } = await engine.open(t);
    const path = '/logs/odd \u0010 \ud83d.jsonl';
    const file = { kind: 'file', key: path, state: 'planned', value: '{"a":"\\u0000"}' } as const;
    assert.ok(await batches.change([{ ...file, from: null }, request('b', 'open', null), request('a', 'open', null)]));
    assert.ok(await batches.change([request('a', 'answered', 'open')]));
    assert.deepEqual(await batches.list('file', ALL), [file]);
    assert.deepEqual(
      (await batches.list('request', ALL)).map(({ key, state }) => [key, state]),
      [
        ['a', 'answered'],
        ['b', 'open'],
      ],
    );
    const keysOf = async (page: Partial<RecordPage>): Promise<readonly string[]> =>
      (await batches.list('request', { ...ALL, ...page })).map(({ key }) => key);
    assert.deepEqual(await keysOf({ state: 'open' }), ['b']);
    assert.deepEqual(await keysOf({ limit: 1 }), ['a']);
    assert.deepEqual(await keysOf({ after: 'a' }), ['b']);
    assert.deepEqual(await keysOf({ after: 'b', state: 'open' }), []);
    assert.deepEqual(await batches.list('file', { ...ALL, after: path }), []);
    assert.deepEqual(await batches.find('file', [path, 'a']), [file]);
    assert.deepEqual(await batches.find('batch', ['a']), []);
  });

  test('changes are made together or not at all, and only from the state that was expected', async (t) => {
    const archive = await engine.open(t);
    const other = await engine.openAgain(t, archive);
    assert.ok(await archive.providerBatches.change([request('a', 'open', null)]));
    assert.equal(await other.providerBatches.change([request('b', 'open', null), request('a', 'open', null)]), false);
    assert.equal(
      await other.providerBatches.change([request('b', 'open', null), request('a', 'answered', 'again')]),
      false,
    );
    assert.deepEqual(await archive.providerBatches.find('request', ['b']), []);
    const both = await Promise.all(
      [archive, other].map(({ providerBatches: batches }) =>
        batches.change([request('c', 'open', null), request('a', 'failed', 'open')]),
      ),
    );
    assert.equal(both.filter(Boolean).length, 1);
  });
}
