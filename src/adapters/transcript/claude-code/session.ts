import type { CodecSession, Json } from '../../../ports/codec.ts';
import { readContext } from './context.ts';
import { legalCuts } from './cuts.ts';
import { isRecord, stringAt } from '../json.ts';
import { decodeRecord } from './record.ts';
import { renderSummary } from './render.ts';

/** Remembers of the file only the message at which the main thread of each conversation ends. */
export function createSession(): CodecSession {
  const tips = new Map<string, string>();
  let conversation = '';
  return {
    decode: (value, line) => {
      const decoded = decodeRecord(value, line);
      if ('problem' in decoded || decoded.kind !== 'message' || decoded.isSide === true) return decoded;
      conversation = decoded.conversation ?? conversation;
      if (decoded.recordId !== undefined) tips.set(conversation, decoded.recordId);
      return decoded;
    },
    readContext,
    legalCuts,
    // The preserved segment has to end at a message: from a progress record, which newer clients do not load, they find no way back to
    // its head and go on believing the old token counts.
    renderSummary: (input) => {
      const tip = tips.get(sessionIdOf(input.firstKept) ?? input.conversationId);
      return renderSummary({ ...input, lastKeptId: tip ?? input.lastKeptId });
    },
  };
}

function sessionIdOf(value: Json): string | undefined {
  return isRecord(value) ? stringAt(value, 'sessionId') : undefined;
}
