import type { Codec } from '../../../ports/codec.ts';
import { detectPi } from './detect.ts';
import { createSession } from './session.ts';

/** Sessions of pi, and of OpenClaw, which has pi in it: `~/.pi/agent/sessions/<folder>/<time>_<id>.jsonl`. */
export const pi: Codec = {
  format: {
    name: 'pi',
    title: 'pi session',
    summary: 'session files of pi (~/.pi/agent/sessions) and OpenClaw; the compacted file resumes there',
    isChain: true,
  },
  detect: detectPi,
  open: createSession,
};
