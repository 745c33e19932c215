import { KNOWN_FORMATS } from '../../src/adapters/transcript/detect.ts';
import type { Codec } from '../../src/ports/codec.ts';

/** The codec of every format, loaded. */
export const CODECS: readonly Codec[] = await Promise.all(KNOWN_FORMATS.map(({ load }) => load()));

export function findCodec(name: string): Codec | null {
  return CODECS.find(({ format }) => format.name === name) ?? null;
}
