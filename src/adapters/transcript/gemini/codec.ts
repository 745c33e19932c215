import type { Codec } from '../../../ports/codec.ts';
import { detectGemini } from './detect.ts';
import { createSession } from './session.ts';

/** Sessions of Gemini CLI as it logs them since 2026: `~/.gemini/tmp/<project>/chats/session-….jsonl`. */
export const gemini: Codec = {
  format: {
    name: 'gemini',
    title: 'Gemini CLI session',
    summary: 'Gemini CLI session logs (~/.gemini/tmp/*/chats/*.jsonl)',
    checked:
      'compacted files resumed by Gemini CLI 0.61.0, after further compactions, rewinds, resumes and a compression of its own too',
    places: [{ variable: 'GEMINI_CLI_HOME', base: '', folder: '.gemini/tmp/*/chats' }],
    isChain: false,
    summaryStandsFirst: true,
  },
  detect: detectGemini,
  open: createSession,
};
