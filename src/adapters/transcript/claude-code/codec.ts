import type { Codec } from '../../../ports/codec.ts';
import { findWorkingFolder } from '../working-folder.ts';
import { detectClaudeCode } from './detect.ts';
import { createSession } from './session.ts';

/** Session files of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`. */
export const claudeCode: Codec = {
  format: {
    name: 'claude-code',
    title: 'Claude Code session',
    summary: 'Claude Code sessions (~/.claude/projects/**/*.jsonl)',
    checked: 'compacted files resumed by Claude Code 2.1.197, up to three compactions with turns in between',
    places: [
      { variable: 'CLAUDE_CONFIG_DIR', base: '.claude', folder: 'projects/*' },
      { variable: 'CLAUDE_CONFIG_DIR', base: '.config/claude', folder: 'projects/*' },
    ],
    isChain: true,
  },
  detect: detectClaudeCode,
  readProject: findWorkingFolder(),
  open: createSession,
};
