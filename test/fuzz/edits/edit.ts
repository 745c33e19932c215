import * as fc from 'fast-check';
import { ODD_BYTES, ODD_JSON, ODD_LINES, ODD_MEMBERS } from '../odd-values.ts';

/** Something that goes wrong with a transcript. `at` and `to` choose lines (or bytes), `place` a value within a line, each modulo what there is. */
export type Edit =
  | { readonly kind: 'double' | 'move' | 'swap'; readonly at: number; readonly to: number }
  | { readonly kind: 'delete' | 'glue'; readonly at: number }
  | { readonly kind: 'insert'; readonly at: number; readonly line: string }
  | { readonly kind: 'set'; readonly at: number; readonly place: number; readonly json: string }
  | { readonly kind: 'borrow'; readonly at: number; readonly to: number; readonly place: number }
  | {
      readonly kind: 'nest';
      readonly at: number;
      readonly place: number;
      readonly depth: number;
      readonly isList: boolean;
    }
  | { readonly kind: 'grow'; readonly at: number; readonly place: number; readonly sizeBytes: number }
  | { readonly kind: 'member'; readonly at: number; readonly member: string; readonly isFirst: boolean }
  | { readonly kind: 'flip'; readonly at: number; readonly to: number; readonly bits: number }
  | { readonly kind: 'bytes'; readonly at: number; readonly to: number; readonly bytes: string }
  | { readonly kind: 'cut'; readonly at: number; readonly to: number };

/** Sizes around what buffers hold: 4 KiB are sniffed, 64 KiB and 1 MiB are read at a time. */
const SIZES = [0, 1, 4095, 65_537, 300_000];
const LARGE_SIZES = [1_048_576, 3_000_000, 17_000_000, 64_000_000];

export type EditLimits = {
  /** Lines of up to 64 MB, which take their time. */
  readonly hasLargeLines: boolean;
};

export function edits({ hasLargeLines }: EditLimits): fc.Arbitrary<readonly Edit[]> {
  const at = fc.nat({ max: 10_000 });
  const weighted = (
    weight: number,
    arbitrary: fc.Arbitrary<Edit>,
  ): { weight: number; arbitrary: fc.Arbitrary<Edit> } => ({
    weight,
    arbitrary,
  });
  const one = fc.oneof(
    weighted(6, fc.record({ kind: fc.constantFrom('double', 'move', 'swap'), at, to: at })),
    weighted(4, fc.record({ kind: fc.constantFrom('delete', 'glue'), at })),
    weighted(3, fc.record({ kind: fc.constant('insert'), at, line: fc.constantFrom(...ODD_LINES) })),
    weighted(8, fc.record({ kind: fc.constant('set'), at, place: at, json: fc.constantFrom(...ODD_JSON) })),
    weighted(5, fc.record({ kind: fc.constant('borrow'), at, to: at, place: at })),
    weighted(
      4,
      fc.record({ kind: fc.constant('member'), at, member: fc.constantFrom(...ODD_MEMBERS), isFirst: fc.boolean() }),
    ),
    weighted(
      1,
      fc.record({
        kind: fc.constant('nest'),
        at,
        place: at,
        depth: fc.constantFrom(50, 3_000, 100_000),
        isList: fc.boolean(),
      }),
    ),
    weighted(1, fc.record({ kind: fc.constant('grow'), at, place: at, sizeBytes: fc.constantFrom(...SIZES) })),
    ...(hasLargeLines
      ? [
          weighted(
            1,
            fc.record({ kind: fc.constant('grow'), at, place: at, sizeBytes: fc.constantFrom(...LARGE_SIZES) }),
          ),
        ]
      : []),
    weighted(2, fc.record({ kind: fc.constant('flip'), at, to: at, bits: fc.integer({ min: 1, max: 255 }) })),
    weighted(2, fc.record({ kind: fc.constant('bytes'), at, to: at, bytes: fc.constantFrom(...ODD_BYTES) })),
    weighted(1, fc.record({ kind: fc.constant('cut'), at, to: at })),
  );
  return fc.array(one, { maxLength: 6 });
}
