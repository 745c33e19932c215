import type { Codec } from '../../../ports/codec.ts';
import { findWorkingFolder } from '../working-folder.ts';
import { detectCodex, detectItems } from './detect.ts';
import { createItemSession } from './item-session.ts';
import { createSession } from './session.ts';

/** Rollouts of Codex: `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-….jsonl`. */
export const codex: Codec = {
  format: {
    name: 'codex',
    title: 'Codex rollout',
    summary: 'Codex rollouts (~/.codex/sessions/**/*.jsonl)',
    checked:
      'compacted files of versions from September 2025 on resumed by Codex 0.169.0, after a second compaction and a turn in between too',
    places: [
      { variable: 'CODEX_HOME', base: '.codex', folder: 'sessions' },
      { variable: 'CODEX_HOME', base: '.codex', folder: 'archived_sessions' },
    ],
    isChain: false,
    summaryStandsFirst: true,
  },
  detect: detectCodex,
  readProject: findWorkingFolder('payload'),
  open: createSession,
};

/** Items of the Responses API, one a line, and Codex's rollouts up to September 2025, which are such items. */
export const responsesItems: Codec = {
  format: {
    name: 'responses-items',
    title: 'items of the Responses API, one a line',
    summary:
      'items of the Responses API, one a line; Codex rollouts up to September 2025, which Codex itself resumes no more',
    checked: 'restored and verified after up to four compactions',
    isChain: false,
  },
  detect: detectItems,
  open: createItemSession,
};
