import type { Codec } from '../../../ports/codec.ts';
import { createItemSession } from './item-session.ts';
import { detectCodex, detectItems } from './detect.ts';
import { createSession } from './session.ts';

/** Rollouts of Codex: `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-….jsonl`. */
export const codex: Codec = {
  format: {
    name: 'codex',
    title: 'Codex rollout',
    summary: 'session files of Codex (~/.codex/sessions); the compacted file resumes there',
    isChain: false,
    summaryStandsFirst: true,
  },
  detect: detectCodex,
  open: createSession,
};

/** Items of the Responses API, one a line, and Codex's rollouts up to September 2025, which are such items. */
export const responsesItems: Codec = {
  format: {
    name: 'responses-items',
    title: 'items of the Responses API, one a line',
    summary:
      'items of the Responses API, one a line, and rollouts of Codex up to September 2025, which it resumes no more',
    isChain: false,
  },
  detect: detectItems,
  open: createItemSession,
};
