import type { Detection, Json } from '../../../ports/codec.ts';
import { isRecord, stringAt } from '../json.ts';
import { readMessage } from './message.ts';
import { readLogLine } from './record.ts';

const TYPES = new Set(['user', 'gemini', 'info', 'error', 'warning']);

/** How sure it is that these are records of a session of Gemini CLI. */
export function detectGemini(sample: readonly Json[]): Detection {
  const own = sample.filter(isOwn);
  if (own.length === 0)
    return { confidence: 0, reason: 'no record is a message, an update or the metadata of a session' };
  const [only] = own;
  if (sample.length === 1 && only !== undefined && holdsMessages(only))
    return { confidence: 0, reason: 'one document, as older versions of Gemini CLI wrote it, and no log' };
  const hasMetadata = own.some((value) => readLogLine(value).kind === 'metadata');
  if (!hasMetadata && !own.some(isTelling))
    return { confidence: 0.3, reason: 'messages as Gemini CLI has them, but none of the model and no metadata' };
  const records = `${own.length} ${own.length === 1 ? 'record' : 'records'} of a session`;
  const confidence = own.length >= sample.length / 2 ? (hasMetadata ? 1 : 0.8) : 0.6;
  return { confidence, reason: `${records}${hasMetadata ? '' : ', but no metadata'}` };
}

function isOwn(value: Json): boolean {
  const line = readLogLine(value);
  if (line.kind !== 'message') return line.kind !== 'other';
  const { record } = line;
  return TYPES.has(stringAt(record, 'type') ?? '') && 'content' in record && !('role' in record);
}

/** Nobody else writes these: rewinds and the like, answers of the model, and our summary of a session. */
function isTelling(value: Json): boolean {
  const line = readLogLine(value);
  if (line.kind !== 'message' || line.record['type'] === 'gemini') return true;
  const reading = readMessage(line.record, 1);
  return 'decoded' in reading && reading.decoded.kind === 'summary';
}

function holdsMessages(value: Json): boolean {
  return isRecord(value) && 'messages' in value;
}
