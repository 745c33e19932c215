import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { caseOf } from './cases.ts';
import { MOMENTS, playWriters, WRITES } from './play.ts';

suite('what another program writes while a file is replaced is never lost', () => {
  for (const [at, after] of (['looked', 'moved', 'renamed'] as const).entries()) {
    for (const [index, write] of WRITES.entries()) {
      // The two jobs and layouts by turns; `npm run dev -- kills:writers` plays them all.
      const job = (at + index) % 2 === 0 ? 'compact' : 'restore';
      const layout = index % 3 === 2 ? 'document' : 'lines';
      test(`${write} after '${after}' (${job}, ${layout})`, async () => {
        await playWriters({ layout, job, acts: [{ write, after }] });
      });
    }
  }

  test(`at random, after any of ${MOMENTS.length} steps`, async () => {
    await fc.assert(
      fc.asyncProperty(caseOf({ hasFree: false }), async (one) => void (await playWriters(one))),
      { numRuns: 12 },
    );
  });
});
