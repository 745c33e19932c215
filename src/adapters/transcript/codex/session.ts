import type { Decoded, EntryFacts } from '../../../core/transcript.ts';
import type { CodecSession, Json, RecordProblem } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord, stringAt } from '../json.ts';
import { withoutTyped } from '../typed-text.ts';
import { readContext } from './context.ts';
import { legalCuts } from './cuts.ts';
import { createAnswerTracker } from './item.ts';
import { decodeRecord } from './record.ts';
import { renderCompaction } from './render.ts';
import { worldStatePin } from './world-state.ts';

/** Remembers where the header stands, whose thread it is, which answer is being given, and how many changes of the surroundings were noted since all were. */
export function createSession(): CodecSession {
  const trackAnswer = createAnswerTracker();
  const seen = { headerLine: 0, lastLine: 0, changes: 0, isSubagent: false };

  const readOwn = (record: JsonRecord, line: number): EntryFacts | null => {
    const { type, payload } = record;
    if (!isRecord(payload)) return null;
    if (type === 'session_meta' && (seen.headerLine === 0 || seen.headerLine === line)) {
      seen.headerLine = line;
      seen.isSubagent = isRecord(payload['source']) && 'subagent' in payload['source'];
      return readHeader(payload);
    }
    if (type !== 'world_state') return null;
    if (line > seen.lastLine) seen.changes = payload['full'] === true ? 0 : seen.changes + 1;
    return { kind: 'meta', pin: worldStatePin(seen.changes) };
  };
  const decode = (value: Json, line: number): Decoded | RecordProblem => {
    const own = isRecord(value) ? readOwn(value, line) : null;
    const decoded = own ?? decodeRecord(value, line);
    const isNew = line > seen.lastLine;
    seen.lastLine = Math.max(seen.lastLine, line);
    if ('problem' in decoded) return decoded;
    const told = seen.isSubagent ? withoutTyped(decoded) : decoded;
    return isNew ? trackAnswer(told, line) : told;
  };
  return { decode, readContext, legalCuts, renderSummary: (input) => [renderCompaction(input)] };
}

/** A thread that only goes on from the history of another, in another file, is not whole here: a summary would hide the rest. */
function readHeader(payload: JsonRecord): EntryFacts {
  const conversation = stringAt(payload, 'id');
  const isPart = (payload['history_base'] ?? null) !== null;
  return {
    kind: 'header',
    ...(conversation !== undefined && { conversation }),
    ...(isPart && { obstacle: 'the thread begins in the file of another, which a summary here would hide' }),
  };
}
