import { callsOf } from '../../../core/message.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { CodecSession, Json, RecordProblem } from '../../../ports/codec.ts';
import { isRecord } from '../json.ts';
import { withoutTyped } from '../typed-text.ts';
import { readContext } from './context.ts';
import { legalCuts } from './cuts.ts';
import { decodeRecord } from './record.ts';
import { canForgeRejection } from './rejection.ts';
import { renderSummary } from './render.ts';

/** Remembers only the calls whose errors could pass for a rejection; every record tells all else that is needed of it. */
export function createSession(): CodecSession {
  const forgers = new Set<string>();

  const decode = (value: Json, line: number): Decoded | RecordProblem => {
    const decoded = decodeRecord(value, line);
    if ('problem' in decoded || decoded.message === undefined || !isRecord(value)) return decoded;
    for (const call of callsOf(decoded.message)) if (canForgeRejection(value, call.name)) forgers.add(call.id);
    return decoded.results?.some((id) => forgers.has(id)) === true ? withoutTyped(decoded) : decoded;
  };
  return { decode, readContext, legalCuts, renderSummary };
}
