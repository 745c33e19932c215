import type { Codec } from '../../../ports/codec.ts';
import { detectGemini } from './detect.ts';
import { createSession } from './session.ts';

/** Sessions of Gemini CLI as it logs them since 2026: `~/.gemini/tmp/<project>/chats/session-….jsonl`. */
export const gemini: Codec = {
  format: {
    name: 'gemini',
    title: 'Gemini CLI session',
    summary: 'session logs of Gemini CLI (~/.gemini/tmp/*/chats/*.jsonl); the compacted file resumes there',
    isChain: false,
    summaryStandsFirst: true,
  },
  detect: detectGemini,
  open: createSession,
};
