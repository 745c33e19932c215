import type { Codec } from '../../../ports/codec.ts';
import { findWorkingFolder } from '../working-folder.ts';
import { detectCopilot } from './detect.ts';
import { createSession } from './session.ts';

/** Sessions of GitHub Copilot CLI: `~/.copilot/session-state/<session id>/events.jsonl`. */
export const copilot: Codec = {
  format: {
    name: 'copilot',
    title: 'Copilot CLI session',
    summary: 'GitHub Copilot CLI (~/.copilot/session-state/*/*.jsonl)',
    checked:
      'compacted files resumed by Copilot CLI 1.0.64 and 1.0.102, after a second compaction, turns in between and one of its own too',
    places: [{ variable: 'COPILOT_HOME', base: '.copilot', folder: 'session-state/*', file: 'events.jsonl' }],
    isChain: true,
  },
  detect: detectCopilot,
  readProject: findWorkingFolder('data', 'context'),
  open: createSession,
};
