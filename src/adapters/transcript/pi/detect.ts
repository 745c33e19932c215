import type { Detection, Json } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord, stringAt } from '../json.ts';

/** Types of entries that nobody else writes in this way; a message's own record stands under `message`. */
const ENTRY_TYPES = new Set([
  'thinking_level_change',
  'model_change',
  'compaction',
  'branch_summary',
  'custom',
  'custom_message',
  'label',
  'session_info',
]);

/** How sure it is that these are entries of a session of pi. The header comes first; without it pi reads nothing. */
export function detectPi(sample: readonly Json[]): Detection {
  const [first] = sample;
  if (first === undefined) return { confidence: 0, reason: 'there is no record to tell by' };
  const entries = sample.filter((value) => isRecord(value) && isEntry(value)).length;
  if (isRecord(first) && isHeader(first))
    return { confidence: 1, reason: 'the first record is the header of a session' };
  if (entries === 0) return { confidence: 0, reason: 'the first record is no header of type session' };
  const reason = `${entries} ${entries === 1 ? 'entry' : 'entries'} of a session, but the first record is no header of type session`;
  return { confidence: entries >= sample.length / 2 ? 0.7 : 0.4, reason };
}

function isHeader(record: JsonRecord): boolean {
  return record['type'] === 'session' && typeof record['id'] === 'string';
}

function isEntry(record: JsonRecord): boolean {
  const type = stringAt(record, 'type') ?? '';
  if (typeof record['timestamp'] !== 'string') return false;
  const { message } = record;
  return type === 'message' ? isRecord(message) && typeof message['role'] === 'string' : ENTRY_TYPES.has(type);
}
