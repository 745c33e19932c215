import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onDemand } from '../../../src/adapters/archive/archive.ts';

type Port = {
  readonly add: (a: number, b: number) => Promise<number>;
  readonly count: (to: number) => AsyncIterable<number>;
  readonly part: { readonly name: () => Promise<string> };
};

function createPort(log: string[]): Port {
  const load = async (): Promise<Port> => {
    log.push('loaded');
    return {
      add: async (a, b) => a + b,
      count: async function* count(to) {
        for (let at = 1; at <= to; at += 1) yield at;
      },
      part: {
        name: async () => {
          throw new Error('no name');
        },
      },
    };
  };
  return onDemand(load, { add: 'once', count: 'several', part: { name: 'once' } });
}

test('a port is loaded at the first call of a method, once, and answers as it would', async () => {
  const log: string[] = [];
  const port = createPort(log);
  assert.deepEqual(log, []);
  const sum = port.add(1, 2);
  const counted: number[] = [];
  for await (const number of port.count(3)) counted.push(number);
  assert.deepEqual([await sum, counted, log], [3, [1, 2, 3], ['loaded']]);
  await assert.rejects(port.part.name(), /^Error: no name$/);
});
