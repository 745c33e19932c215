import type { Json } from '../../ports/codec.ts';
import type { FormatSearch } from '../../ports/formats.ts';
import { FORMATS } from './registry.ts';

/** Below this a codec only names what it saw. */
const MIN_CONFIDENCE = 0.5;

/** The format that is the surest of a file's first records, or what each format misses in them. */
export function detectFormat(sample: readonly Json[]): FormatSearch {
  const verdicts = FORMATS.map((codec) => ({ codec, ...codec.detect(sample) }));
  const highest = verdicts.reduce((most, { confidence }) => Math.max(most, confidence), 0);
  const best = verdicts.find(({ confidence }) => confidence === highest);
  if (best !== undefined && highest >= MIN_CONFIDENCE) return { kind: 'found', codec: best.codec };
  return { kind: 'unknown', near: verdicts.map(({ codec, reason }) => ({ format: codec.format.name, reason })) };
}
