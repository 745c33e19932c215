import type { Detection, Json } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord } from '../json.ts';
import { nameOther } from './other-formats.ts';
import { classify } from './record.ts';

/** How sure it is that these are messages, one a line. Formats with more to tell them by go before this one. */
export function detectChatLines(sample: readonly Json[]): Detection {
  if (sample.length === 0) return { confidence: 0, reason: 'there is no record to tell by' };
  const records = sample.filter(isRecord);
  const other = records.flatMap((record) => nameOther(record) ?? []);
  const chat = records.filter((record) => isChat(record) && nameOther(record) === null).length;
  if (other[0] !== undefined && other.length >= chat) {
    return { confidence: 0, reason: `most records are those of ${mostFrequent(other)}` };
  }
  if (chat === 0) {
    const hasRole = records.some((record) => 'role' in record);
    return { confidence: 0, reason: hasRole ? 'no record has a role and content' : 'no record has a role' };
  }
  const reason = `${chat} ${chat === 1 ? 'record' : 'records'} with a role and content`;
  // Messages with another type than that may be records of a program that is not known.
  const surest = records.some(hasOtherType) ? 0.6 : 0.9;
  return { confidence: chat >= sample.length / 2 ? surest : 0.5, reason };
}

function hasOtherType({ type }: JsonRecord): boolean {
  return typeof type === 'string' && type !== 'message';
}

function isChat(record: JsonRecord): boolean {
  const { role } = record;
  if (typeof role !== 'string') return false;
  if (role.startsWith('_')) return true;
  const kind = classify(record);
  return (
    'kind' in kind &&
    kind.kind === 'said' &&
    ('content' in record || 'tool_calls' in record || 'function_call' in record)
  );
}

function mostFrequent(names: readonly string[]): string {
  const counts = Map.groupBy(names, (name) => name);
  return [...counts].reduce((best, one) => (one[1].length > best[1].length ? one : best))[0];
}
