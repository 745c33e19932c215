import * as fc from 'fast-check';
import { codePoint } from '../../support/code-points.ts';
import { prose } from '../../support/chat.ts';
import { ODD_TEXTS } from '../odd-values.ts';

/** Something that happens in a conversation; every format writes it in its own records, or leaves it out where it knows nothing like it. */
export type Event =
  | { readonly kind: 'prompt' | 'answer' | 'instruction' | 'thinking' | 'queued'; readonly text: string }
  | { readonly kind: 'tools'; readonly text: string; readonly count: number; readonly results: ResultOrder }
  | { readonly kind: 'side'; readonly text: string; readonly count: number }
  | { readonly kind: 'meta'; readonly which: number }
  | { readonly kind: 'compaction'; readonly text: string; readonly keeps: number }
  | { readonly kind: 'rewind'; readonly back: number };

/** How the results of calls that were made at once come in. */
export type ResultOrder = 'in order' | 'reversed' | 'last missing' | 'first twice' | 'none';

/** A transcript as lines without their endings. `flavor` chooses among the dialects and versions of a format. */
export type Writer = (events: readonly Event[], flavor: number) => readonly string[];

const text = fc.oneof(
  { weight: 8, arbitrary: fc.nat({ max: 400 }).map((seed) => prose(seed, 20 + (seed % 90))) },
  { weight: 1, arbitrary: fc.string({ unit: codePoint, maxLength: 20 }) },
  { weight: 1, arbitrary: fc.constantFrom(...ODD_TEXTS) },
);

const count = fc.integer({ min: 1, max: 3 });

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('prompt'), text }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('answer'), text }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('tools'),
      text,
      count,
      results: fc.oneof(
        { weight: 6, arbitrary: fc.constant('in order') },
        { weight: 1, arbitrary: fc.constantFrom('reversed', 'last missing', 'first twice', 'none') },
      ),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('meta'), which: fc.nat({ max: 20 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('instruction', 'thinking', 'queued'), text }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('side'), text, count }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('compaction'), text, keeps: fc.nat({ max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rewind'), back: fc.integer({ min: 1, max: 5 }) }) },
);

/** Mostly long enough for something to be summarized; what fails shrinks to less. */
export const conversations: fc.Arbitrary<readonly Event[]> = fc.oneof(
  { withCrossShrink: true },
  { weight: 1, arbitrary: fc.array(event, { minLength: 1, maxLength: 12 }) },
  { weight: 6, arbitrary: fc.array(event, { minLength: 12, maxLength: 50, size: 'max' }) },
);

/** The numbers of calls (from 0) in the order in which their results come. */
export function orderResults(count: number, order: ResultOrder): readonly number[] {
  const all = Array.from({ length: count }, (_, index) => index);
  switch (order) {
    case 'reversed':
      return all.toReversed();
    case 'last missing':
      return all.slice(0, -1);
    case 'first twice':
      return [0, ...all];
    case 'none':
      return [];
    default:
      return all;
  }
}

/** The time of the n-th record: a second after the one before, with a step back now and then. */
export function timeAt(n: number): string {
  return new Date(Date.UTC(2026, 2, 2, 9) + (n % 17 === 5 ? n - 9 : n) * 1000).toISOString();
}
