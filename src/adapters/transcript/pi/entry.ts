import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { refuseDeepNesting } from '../deep-nesting.ts';
import { isRecord, type JsonRecord, stringAt } from '../json.ts';
import { isContent, readContent } from './content.ts';
import { decodeMessage, decodeWords, type EntryPlace } from './message.ts';
import { readTime } from './time.ts';

/** What an entry says; the line number names one without an id. Only a message or a compaction can be a problem. */
export function decodeEntry(value: Json, line: number): Decoded | RecordProblem {
  if (!isRecord(value)) return { kind: 'meta' };
  const place = { id: stringAt(value, 'id') ?? `line:${line}`, at: readTime(value['timestamp']) };
  return refuseDeepNesting('a call whose arguments are', () => decodeSaid(value, place) ?? { kind: 'meta' });
}

/** Null: the entry says nothing to the model. */
function decodeSaid(entry: JsonRecord, place: EntryPlace): Decoded | RecordProblem | null {
  switch (entry['type']) {
    case 'message':
      return decodeMessage(entry['message'], place);
    case 'compaction':
      return decodeCompaction(entry, place);
    case 'branch_summary': {
      const summary = stringAt(entry, 'summary') ?? '';
      return summary === '' ? null : decodeWords(summary, place);
    }
    case 'custom_message': {
      const { content } = entry;
      return isContent(content) ? decodeWords(readContent(content).text, place, stringAt(entry, 'customType')) : null;
    }
    default:
      return null;
  }
}

/** pi's own, or ours. What it keeps of the entries before it begins at `firstKeptEntryId`; version 1 counts entries instead. */
function decodeCompaction(entry: JsonRecord, { id, at }: EntryPlace): Decoded | RecordProblem {
  const { summary, firstKeptEntryIndex: index } = entry;
  if (typeof summary !== 'string') return { problem: 'a compaction entry whose summary is no text' };
  const keptFrom = stringAt(entry, 'firstKeptEntryId') ?? (typeof index === 'number' ? entryName(index) : undefined);
  return {
    kind: 'summary',
    ...(keptFrom !== undefined && { boundary: { keptFrom } }),
    message: {
      id,
      conversation_id: '',
      role: 'system',
      content: summary,
      created_at: at,
      parts: [{ kind: 'text', text: summary }],
    },
  };
}

/** What the n-th entry of a file of version 1 is called here, the header counted as 0: there are no ids in it. */
export function entryName(index: number): string {
  return `entry:${index}`;
}
