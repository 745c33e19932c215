import { parseArgs } from 'node:util';
import * as fc from 'fast-check';
import { caseOf } from './cases.ts';
import { playWriters } from './play.ts';

/** Lets other programs write to files while they are replaced: `npm run dev -- kills:writers --runs 2000 --seed 7`. */
const { values } = parseArgs({ options: { runs: { type: 'string', default: '2000' }, seed: { type: 'string' } } });
const seed = values.seed === undefined ? {} : { seed: Number(values.seed) };
const counts = new Map<string, number>();
const started = performance.now();
await fc.assert(
  fc.asyncProperty(caseOf({ hasFree: true }), async (one) => {
    const key = `${one.job} ${one.layout}: ${await playWriters(one)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }),
  { ...seed, numRuns: Number(values.runs), endOnFailure: true },
);
for (const [key, count] of [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))) console.log(`${key} ${count}`);
console.log(`${values.runs} runs in ${Math.round((performance.now() - started) / 1000)} s: nothing was lost`);
