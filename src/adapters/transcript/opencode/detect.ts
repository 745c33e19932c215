import type { Detection, Json } from '../../../ports/codec.ts';
import { isList, isRecord, stringAt } from '../json.ts';

/** How sure it is that this is the beginning of a session that `opencode export` wrote. */
export function detectExport(beginning: Json): Detection {
  if (!isRecord(beginning)) return { confidence: 0, reason: 'it is no object' };
  const { info, messages } = beginning;
  if (!isRecord(info)) return { confidence: 0, reason: 'it has no object "info"' };
  if (!isList(messages)) return { confidence: 0, reason: 'it has no list "messages"' };
  const isSession = stringAt(info, 'id')?.startsWith('ses') === true;
  const first = messages[0];
  const hasParts = isRecord(first) && isRecord(first['info']) && isList(first['parts']);
  if (!isSession && !hasParts) return { confidence: 0, reason: 'its messages have no "info" and "parts"' };
  return { confidence: 1, reason: 'a session with "info" and "messages"' };
}
