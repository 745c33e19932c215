import type { Detection, Json } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord, stringAt } from '../json.ts';

const EVENT_TYPE = /^(?:abort|(?:session|user|assistant|system|tool|hook|permission|subagent|skill)\.[a-z_.]+)$/;

/** How sure it is that these are events of a session of Copilot CLI. `session.start` comes first; without it Copilot resumes nothing. */
export function detectCopilot(sample: readonly Json[]): Detection {
  const [first] = sample;
  if (first === undefined) return { confidence: 0, reason: 'there is no record to tell by' };
  const events = sample.filter((value) => isRecord(value) && isEvent(value)).length;
  if (events === 0) return { confidence: 0, reason: 'no record is an event with a type, data and a parent' };
  if (isRecord(first) && isEvent(first) && first['type'] === 'session.start') {
    return { confidence: 1, reason: 'the first record is the start of a session' };
  }
  const reason = `${events} ${events === 1 ? 'event' : 'events'} of a session, but the first record is no session.start`;
  return { confidence: events >= sample.length / 2 ? 0.7 : 0.4, reason };
}

function isEvent(record: JsonRecord): boolean {
  return EVENT_TYPE.test(stringAt(record, 'type') ?? '') && isRecord(record['data']) && 'parentId' in record;
}
