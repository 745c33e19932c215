import * as fc from 'fast-check';
import type { Json } from '../../../../src/ports/codec.ts';
import { assistantRecord, record, userRecord } from './records.ts';

type Shape = {
  readonly type: 'user' | 'assistant' | 'system' | 'progress' | 'boundary' | 'summary' | 'title';
  readonly isSide: boolean;
  /** Lines back to the parent; 0: a parent that is not in the file; negative: a later line. Null: a root. */
  readonly back: number | null;
  /** Takes the id of this many lines back. */
  readonly repeats: number | null;
};

const shape: fc.Arbitrary<Shape> = fc.record({
  type: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom('user', 'assistant') },
    { weight: 3, arbitrary: fc.constantFrom('system', 'progress') },
    { weight: 1, arbitrary: fc.constantFrom('boundary', 'summary', 'title') },
  ),
  isSide: fc.oneof({ weight: 14, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  back: fc.oneof(
    { weight: 20, arbitrary: fc.constant(1) },
    { weight: 3, arbitrary: fc.integer({ min: 2, max: 4 }) },
    { weight: 1, arbitrary: fc.constantFrom(0, -1, -2, null) },
  ),
  repeats: fc.oneof(
    { weight: 25, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 5 }) },
  ),
});

/** Session files with branches, rewinds, side threads, missing and later parents, circles, and ids that stand twice. */
export const sessions: fc.Arbitrary<readonly Json[]> = fc
  .array(shape, { minLength: 1, maxLength: 16 })
  .map((shapes) => {
    const idAt = (index: number): string => {
      const { repeats } = shapes[index] ?? { repeats: null };
      return `id-${repeats === null || index < repeats ? index : index - repeats}`;
    };
    return shapes.map(({ type, isSide, back }, index) => {
      const target = index - (back ?? 0);
      const isInFile = back !== 0 && target >= 0 && target < shapes.length;
      const parentUuid = back === null ? null : isInFile ? idAt(target) : `gone-${target}`;
      return build(type, { uuid: idAt(index), parentUuid, isSidechain: isSide });
    });
  });

function build(type: Shape['type'], chain: { readonly [key: string]: Json }): Json {
  switch (type) {
    case 'user':
      return userRecord('hello', chain);
    case 'assistant':
      return assistantRecord('hello', chain);
    case 'summary':
      return userRecord('continued', { ...chain, isCompactSummary: true });
    case 'boundary':
      return record('system', { ...chain, subtype: 'compact_boundary', parentUuid: null });
    case 'title':
      return { type: 'custom-title', customTitle: 'x' };
    default:
      return record(type, chain);
  }
}
