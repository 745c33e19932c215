import type { Codec } from '../../../ports/codec.ts';
import { detectChatLines } from './detect.ts';
import { createSession } from './session.ts';

/** Messages of chat models, one a line: OpenAI's, Anthropic's, Kimi CLI's `context.jsonl`, rows of a database. */
export const chatLines: Codec = {
  format: {
    name: 'chat-lines',
    title: 'chat messages, one a line',
    summary:
      'OpenAI or Anthropic messages, Kimi CLI contexts, database rows: one message a line; every line may be a cut',
    isChain: false,
  },
  detect: detectChatLines,
  open: createSession,
};
