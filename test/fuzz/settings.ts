import * as fc from 'fast-check';
import type { ChunkOrder } from '../../src/core/policy.ts';

/** What a compaction of a case is done with. */
export type CaseSettings = {
  readonly keepRecent: number;
  readonly chunkSize: number;
  readonly maxChunkTokens: number | null;
  readonly targetTokens: number | null;
  readonly maxSummaryTokens: number;
  readonly clipFirst: number;
  readonly clipLast: number;
  readonly keepInvalid: boolean;
  readonly keepSystem: boolean;
  readonly chunkOrder: ChunkOrder;
  readonly conversation: string | null;
  readonly output: 'in-place' | 'file' | 'stdout';
};

function seldom<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
}

export const settings: fc.Arbitrary<CaseSettings> = fc.record({
  keepRecent: fc.oneof(
    { weight: 6, arbitrary: fc.nat({ max: 8 }) },
    { weight: 1, arbitrary: fc.integer({ min: 9, max: 50 }) },
  ),
  chunkSize: fc.constantFrom(100, 20, 7, 3, 1),
  maxChunkTokens: seldom(fc.constantFrom(1, 100, 1000)),
  targetTokens: seldom(fc.integer({ min: 1, max: 3000 })),
  maxSummaryTokens: fc.constantFrom(60, 20, 200, 1024, 1),
  clipFirst: fc.nat({ max: 3 }),
  clipLast: fc.nat({ max: 3 }),
  keepInvalid: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  keepSystem: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  chunkOrder: fc.constantFrom('importance', 'chronological'),
  conversation: seldom(fc.constantFrom('named', 'an\nodd\u2028\u0000 one', 'x'.repeat(300))),
  output: fc.oneof(
    { weight: 4, arbitrary: fc.constant('in-place') },
    { weight: 2, arbitrary: fc.constantFrom('file', 'stdout') },
  ),
});
