import * as fc from 'fast-check';
import { type Case, MOMENTS, WRITES } from './play.ts';

/** Random cases: one to three writes at random moments, or a program that writes on its own. */
export function caseOf({ hasFree }: { readonly hasFree: boolean }): fc.Arbitrary<Case> {
  const act = fc.record({ write: fc.constantFrom(...WRITES), after: fc.constantFrom(...MOMENTS) });
  const acts = fc
    .array(act, { minLength: 1, maxLength: 3 })
    .map((all) => keepOneWay(all.toSorted((a, b) => MOMENTS.indexOf(a.after) - MOMENTS.indexOf(b.after))));
  const job = fc.constantFrom('compact' as const, 'restore' as const);
  const scripted = fc.record({ layout: fc.constantFrom('lines' as const, 'document' as const), job, acts });
  const free = fc.record({
    layout: fc.constant('lines' as const),
    job,
    acts: fc.constant([]),
    free: fc.integer({ min: 1, max: 30 }),
  });
  return hasFree ? fc.oneof({ arbitrary: scripted, weight: 4 }, { arbitrary: free, weight: 1 }) : scripted;
}

/**
 * From the moment on in which the name has no file, what comes by the name and what comes by an open descriptor go to two files, and nothing tells which came first.
 * So a case has only one of them then.
 */
function keepOneWay(acts: Case['acts']): Case['acts'] {
  const isNamed = acts.some(
    ({ write, after }) => (after === 'moved' || after === 'renamed') && write !== 'append-open',
  );
  return isNamed ? acts.filter(({ write }) => write !== 'append-open') : acts;
}
