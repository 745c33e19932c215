import * as fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };

/** Any code point, as the unit of a string: as fast-check's own unit 'binary', which takes half a second to make a map of all of them. */
export const codePoint: fc.Arbitrary<string> = fc
  .nat({ max: 0x10_ff_ff - SURROGATES.count })
  .map((at) => String.fromCodePoint(at < SURROGATES.first ? at : at + SURROGATES.count));
