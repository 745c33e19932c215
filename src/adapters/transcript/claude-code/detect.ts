import type { Detection, Json } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord, stringAt } from '../json.ts';

/** Records of a session that stand outside the chain of parents; a file may begin with dozens, or hold nothing else. */
const LOOSE_TYPES = new Set([
  'queue-operation',
  'last-prompt',
  'custom-title',
  'ai-title',
  'agent-name',
  'mode',
  'permission-mode',
  'pr-link',
  'frame-link',
  'tag',
]);

/** How sure it is that these are records of a session file of Claude Code. */
export function detectClaudeCode(sample: readonly Json[]): Detection {
  if (sample.length === 0) return { confidence: 0, reason: 'there is no record to tell by' };
  const records = sample.filter(isRecord);
  const chained = records.filter(isChained).length;
  const loose = records.filter(isLoose).length;
  const share = (chained + loose) / sample.length;
  if (chained > 0) {
    const reason = `${count(chained, 'record')} with the type of a message and a parentUuid`;
    return { confidence: share >= 0.5 ? 1 : 0.6, reason };
  }
  if (loose > 0 && share >= 0.5) {
    return { confidence: 0.8, reason: `${count(loose, 'record')} that Claude Code keeps beside its messages` };
  }
  if (records.some((record) => isMessageType(record) && isRecord(record['message']))) {
    return { confidence: 0, reason: 'there are user and assistant records, but none has a parentUuid' };
  }
  return { confidence: 0, reason: 'no record has type user, assistant or system with a parentUuid' };
}

function isChained(record: JsonRecord): boolean {
  const parent = record['parentUuid'];
  if (parent !== null && typeof parent !== 'string') return false;
  return isMessageType(record) || ['system', 'attachment', 'progress'].includes(stringAt(record, 'type') ?? '');
}

function isMessageType(record: JsonRecord): boolean {
  return record['type'] === 'user' || record['type'] === 'assistant';
}

function isLoose(record: JsonRecord): boolean {
  const type = stringAt(record, 'type') ?? '';
  if (type === 'summary') return typeof record['leafUuid'] === 'string';
  if (type === 'file-history-snapshot') return isRecord(record['snapshot']);
  return LOOSE_TYPES.has(type) && typeof record['sessionId'] === 'string';
}

function count(total: number, noun: string): string {
  return `${total} ${noun}${total === 1 ? '' : 's'}`;
}
