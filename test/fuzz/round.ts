import * as fc from 'fast-check';
import { CODECS } from '../support/codecs.ts';
import { cases, type FuzzCase } from './case.ts';
import { checkProgram } from './check-program.ts';
import { checkCase, type Note } from './check.ts';
import { WRITERS } from './transcripts/writers.ts';

export type RoundInput = {
  readonly seed: number;
  readonly runs: number;
  /** Ends early then, without that being a failure. */
  readonly timeLimitMs?: number;
  readonly hasLargeLines: boolean;
  /** Through the program itself instead of its use cases. */
  readonly asProgram: boolean;
  readonly note: Note;
};

export type Finding = {
  /** Shrunk as far as the time allowed. */
  readonly example: FuzzCase;
  readonly seed: number;
  readonly path: string;
  /** The first line of what went wrong, and all of it. */
  readonly problem: string;
  readonly details: string;
};

/** Looks at some cases of every format of lines in the registry; null: all was as it must be. */
export async function runRound(input: RoundInput): Promise<Finding | null> {
  const { seed, runs, timeLimitMs, hasLargeLines, asProgram, note } = input;
  // A document cannot grow, and damage to a line of it is damage to the whole: test/contract/documents.test.ts looks at those.
  const formats = CODECS.map(({ format }) => format)
    .filter(({ layout, whyReadOnly }) => layout.kind !== 'document' && whyReadOnly === undefined)
    .map(({ name }) => name);
  const all = fc.oneof(
    ...formats.map((name) => {
      const write = WRITERS.get(name);
      if (write === undefined)
        throw new Error(`nothing writes transcripts of ${name}: add it to transcripts/writers.ts`);
      return cases({ format: name, write, formats, hasLargeLines });
    }),
  );
  const property = fc.asyncProperty(all, async (one) => (asProgram ? checkProgram(one, note) : checkCase(one, note)));
  const limit = timeLimitMs === undefined ? {} : { interruptAfterTimeLimit: timeLimitMs };
  const done = await fc.check(property, { seed, numRuns: runs, ...limit });
  if (!done.failed || done.counterexample === null) return null;
  const error = done.errorInstance;
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const [problem = ''] = (error instanceof Error ? `${error.name}: ${error.message}` : details).split('\n');
  return { example: done.counterexample[0], seed, path: done.counterexamplePath ?? '', problem, details };
}
