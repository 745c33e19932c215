import type { Codec } from '../../../ports/codec.ts';
import { findWorkingFolder } from '../working-folder.ts';
import { detectPi } from './detect.ts';
import { createSession } from './session.ts';

/** Sessions of pi, and of OpenClaw, which has pi in it: `~/.pi/agent/sessions/<folder>/<time>_<id>.jsonl`. */
export const pi: Codec = {
  format: {
    name: 'pi',
    title: 'pi session',
    summary: 'sessions of pi (~/.pi/agent/sessions/**/*.jsonl) and OpenClaw (~/.openclaw/agents/*/sessions)',
    checked: 'compacted files resumed by pi 0.73.1, after a second compaction and one of its own too',
    places: [
      { variable: 'PI_CODING_AGENT_DIR', base: '.pi/agent', folder: 'sessions/*' },
      { variable: 'PI_CODING_AGENT_SESSION_DIR', base: '.pi/agent/sessions', folder: '' },
      { variable: 'OPENCLAW_STATE_DIR', base: '.openclaw', folder: 'agents/*/sessions' },
    ],
    isChain: true,
  },
  detect: detectPi,
  readProject: findWorkingFolder(),
  open: createSession,
};
