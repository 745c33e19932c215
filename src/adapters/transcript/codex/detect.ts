import type { Detection, Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';

/** Types of a rollout's records; a payload stands in each. */
const RECORD_TYPES = new Set([
  'session_meta',
  'response_item',
  'event_msg',
  'turn_context',
  'compacted',
  'world_state',
  'token_usage_record',
  'inter_agent_communication',
  'inter_agent_communication_metadata',
]);

/** How sure it is that these are records of a Codex rollout. */
export function detectCodex(sample: readonly Json[]): Detection {
  const records = sample.filter(isRecord);
  const own = records.filter(
    (record) => RECORD_TYPES.has(stringAt(record, 'type') ?? '') && isRecord(record['payload']),
  );
  if (own.length === 0) return { confidence: 0, reason: 'no record has a payload and one of the types of a rollout' };
  const hasHeader = own.some((record) => record['type'] === 'session_meta');
  const reason = `${count(own.length, 'record')} of a rollout${hasHeader ? '' : ', but no session_meta'}`;
  return { confidence: own.length >= sample.length / 2 ? (hasHeader ? 1 : 0.8) : 0.6, reason };
}

/** How sure it is that these are bare items of the Responses API. */
export function detectItems(sample: readonly Json[]): Detection {
  const records = sample.filter(isRecord);
  const items = records.filter(isItem).length;
  const old = records.filter((record) => isOldHeader(record) || 'record_type' in record).length;
  if (items + old === 0) return { confidence: 0, reason: 'no record is an item of the Responses API' };
  const reason = `${count(items, 'item')} of the Responses API${old > 0 ? ', and a header of older Codex versions' : ''}`;
  return { confidence: items + old >= sample.length / 2 ? 0.95 : 0.5, reason };
}

/** The first line of a rollout up to September 2025. */
export function isOldHeader(record: JsonRecord): boolean {
  if ('type' in record || 'role' in record) return false;
  return typeof record['id'] === 'string' && typeof record['timestamp'] === 'string' && 'instructions' in record;
}

function isItem(record: JsonRecord): boolean {
  const type = stringAt(record, 'type') ?? '';
  if (type === 'reasoning') return isList(record['summary']);
  if (/(?:_call|_output)$/.test(type)) return !('role' in record) && !('message' in record);
  return type === 'message' && typeof record['role'] === 'string' && hasItemParts(record['content']);
}

function hasItemParts(content: Json | undefined): boolean {
  return (
    isList(content) &&
    content.some((part) => isRecord(part) && /^(?:in|out)put_text$/.test(stringAt(part, 'type') ?? ''))
  );
}

function count(total: number, noun: string): string {
  return `${total} ${noun}${total === 1 ? '' : 's'}`;
}
