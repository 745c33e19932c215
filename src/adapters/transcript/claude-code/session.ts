import type { CodecSession } from '../../../ports/codec.ts';
import { readContext } from './context.ts';
import { legalCuts } from './cuts.ts';
import { decodeRecord } from './record.ts';
import { renderSummary } from './render.ts';

/** Every record tells all that is needed of it: nothing is remembered. */
export function createSession(): CodecSession {
  return { decode: decodeRecord, readContext, legalCuts, renderSummary };
}
