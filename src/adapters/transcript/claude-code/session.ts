import type { CodecSession, Json } from '../../../ports/codec.ts';
import { readContext } from './context.ts';
import { legalCuts } from './cuts.ts';
import { isRecord, stringAt } from './json.ts';
import { decodeRecord } from './record.ts';
import { renderSummary } from './render.ts';

/** The types that the client loads into its chain. It reads past others, even those with a parent: the thread never ends at one. */
const THREAD_TYPES = new Set(['user', 'assistant', 'system', 'attachment']);

/** Remembers of the file which record each main thread ends at, and which records the client reads past. */
export function createSession(): CodecSession {
  const passing = new Set<string>();
  const tips = new Map<string, string>();
  return {
    decode: (value, line) => {
      const decoded = decodeRecord(value, line);
      if ('problem' in decoded || decoded.recordId === undefined || decoded.isSide === true) return decoded;
      if (isThreadRecord(value)) tips.set(decoded.conversation ?? '', decoded.recordId);
      else passing.add(decoded.recordId);
      return decoded;
    },
    readContext,
    legalCuts: (entries) => legalCuts(entries, (id) => passing.has(id)),
    renderSummary: (input) => {
      const { lastKeptId } = input;
      if (lastKeptId === null || !passing.has(lastKeptId)) return renderSummary(input);
      return renderSummary({ ...input, lastKeptId: tips.get(conversationOf(input.firstKept)) ?? null });
    },
  };
}

function isThreadRecord(value: Json): boolean {
  return isRecord(value) && THREAD_TYPES.has(stringAt(value, 'type') ?? '');
}

function conversationOf(value: Json): string {
  return isRecord(value) ? (stringAt(value, 'sessionId') ?? '') : '';
}
