import type { Codec } from '../../../ports/codec.ts';
import { detectChatLines } from './detect.ts';
import { createSession } from './session.ts';

/** Messages of chat models, one a line: OpenAI's, Anthropic's, Kimi CLI's `context.jsonl`, rows of a database. */
export const chatLines: Codec = {
  format: {
    name: 'chat-lines',
    title: 'chat messages, one a line',
    summary:
      'one message a line: OpenAI chat messages, Anthropic messages with content blocks, Kimi CLI contexts, database rows with conversation_id and created_at (several conversations in one file)',
    checked: 'restored and verified after up to four compactions',
    // Kimi CLI: its other records of a session are no messages.
    places: [{ variable: 'KIMI_SHARE_DIR', base: '.kimi', folder: 'sessions', file: 'context.jsonl' }],
    isChain: false,
  },
  detect: detectChatLines,
  open: createSession,
};
