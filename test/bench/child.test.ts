import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folderWith } from '../support/folders.ts';
import { createRunner, fastestOfEach, type Run } from './child.ts';

const run = (wallMs: number, peakBytes = 0): Run => ({ wallMs, cpuMs: wallMs, peakBytes, stdout: '' });

/** A run that takes these times, one after the other, and writes down its name. */
const sequence = (runs: readonly Run[], note: () => void) => {
  const left = [...runs];
  return (): Run => {
    note();
    return left.shift() ?? run(Number.NaN);
  };
};

test('runs take turns; the fastest counts, and the highest peak', () => {
  const order: string[] = [];
  const best = fastestOfEach(
    {
      a: sequence([run(5, 30), run(3, 20), run(4, 10)], () => order.push('a')),
      b: sequence([run(2, 1), run(2, 1), run(1, 2)], () => order.push('b')),
    },
    { times: 3, totalMs: 1000 },
  );
  assert.deepEqual(order.join(''), 'ababab');
  assert.deepEqual(best, { a: run(3, 30), b: { ...run(1), peakBytes: 2 } });
});

test('long runs are not repeated', () => {
  const once = fastestOfEach({ a: sequence([run(1000), run(1)], () => undefined) }, { times: 3, totalMs: 1000 });
  assert.deepEqual(once, { a: run(1000) });
});

test('a child reports its processor time and its peak memory, also from threads', (t) => {
  const runner = createRunner(folderWith(t, {}));
  const busyFor = (ms: number): string => `for (const begin = performance.now(); performance.now() - begin < ${ms};);`;
  const plain = runner.measure(['-e', '0']);
  const inThread = `new (require('node:worker_threads').Worker)(${JSON.stringify(busyFor(300))}, { eval: true })`;
  const large = `globalThis.kept = Buffer.alloc(200_000_000, 1); console.log('done'); ${inThread}`;
  const busy = runner.measure(['-e', large]);
  assert.equal(busy.stdout, 'done\n');
  assert.ok(busy.peakBytes - plain.peakBytes > 150_000_000, `${busy.peakBytes - plain.peakBytes}`);
  assert.ok(busy.wallMs > 300 && busy.cpuMs > plain.cpuMs);
});

test('a child that fails ends the benchmark with what the child said', (t) => {
  const runner = createRunner(folderWith(t, {}));
  assert.throws(() => runner.time(['-e', "console.error('no room'); process.exitCode = 3"]), /ended with 3: no room/);
});
