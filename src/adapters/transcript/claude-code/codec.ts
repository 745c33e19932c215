import type { Codec } from '../../../ports/codec.ts';
import { detectClaudeCode } from './detect.ts';
import { createSession } from './session.ts';

/** Session files of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`. */
export const claudeCode: Codec = {
  format: {
    name: 'claude-code',
    title: 'Claude Code session',
    summary: 'session files of Claude Code (~/.claude/projects); the compacted file resumes there',
    isChain: true,
  },
  detect: detectClaudeCode,
  open: createSession,
};
