import type { FormatRegistry } from '../../ports/formats.ts';
import { detectDocument, detectFormat, findClaimant } from './detect.ts';
import { describeBytes } from './foreign-bytes.ts';
import { parseJsonLine } from './jsonl.ts';
import { findCodec, FORMATS } from './registry.ts';

export const formatRegistry: FormatRegistry = {
  list: () => FORMATS.map(({ format }) => format),
  find: findCodec,
  detect: detectFormat,
  detectDocument,
  findClaimant,
  describeBytes,
  parseLine: parseJsonLine,
};
