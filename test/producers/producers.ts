import { checkClaudeStream, checkCodexExec } from './agent-streams.ts';
import { checkGemini } from './gemini.ts';
import { checkOpenCode } from './opencode.ts';
import { checkPi } from './pi.ts';
import { CLAUDE_CODE, CODEX, COPILOT, KIMI, QWEN, resumeWith } from './programs.ts';
import type { Check, Package } from './resumed.ts';

/** A program that reads back what it wrote, in the version that this is tried with. */
export type Producer = Package & {
  readonly format: string;
  /** Fixtures that the program does not take up by themselves, whatever is in them. */
  readonly notResumed?: readonly string[];
  readonly check: Check;
};

export const PRODUCERS: readonly Producer[] = [
  {
    format: 'claude-code',
    folder: 'claude',
    packageName: '@anthropic-ai/claude-code',
    version: '2.1.197',
    notResumed: ['subagent-file.jsonl'], // only from within its session
    check: resumeWith(CLAUDE_CODE),
  },
  {
    format: 'codex',
    folder: 'codex',
    packageName: '@openai/codex',
    version: '0.169.0',
    check: resumeWith(CODEX),
  },
  {
    format: 'pi',
    folder: 'pi',
    packageName: '@mariozechner/pi-coding-agent',
    version: '0.73.1',
    movedTo: '@earendil-works/pi-coding-agent',
    check: checkPi,
  },
  {
    format: 'copilot',
    folder: 'copilot',
    packageName: '@github/copilot',
    version: '1.0.64',
    notResumed: ['blank-lines-and-no-header.jsonl'], // it refuses that one before, too
    check: resumeWith(COPILOT),
  },
  { format: 'gemini', folder: 'gemini', packageName: '@google/gemini-cli-core', version: '0.61.0', check: checkGemini },
  {
    format: 'opencode',
    folder: 'opencode',
    packageName: 'opencode-ai',
    version: '1.18.33',
    notResumed: ['cut-off.json', 'no-messages.json'],
    check: checkOpenCode,
  },
  {
    format: 'qwen',
    folder: 'qwen',
    packageName: '@qwen-code/qwen-code',
    version: '0.24.4',
    notResumed: ['no-messages.jsonl'],
    check: resumeWith(QWEN),
  },
  {
    format: 'kimi-code',
    folder: 'kimi',
    packageName: '@moonshot-ai/kimi-code',
    version: '2.1.0',
    notResumed: ['blank-and-torn.jsonl'], // it refuses damaged lines, also in the original
    check: resumeWith(KIMI),
  },
  {
    format: 'claude-stream',
    folder: 'claude-agent-sdk',
    packageName: '@anthropic-ai/claude-agent-sdk',
    version: '0.3.330',
    isLibrary: true,
    notResumed: ['cursor-tool-calls.jsonl'], // another program printed it
    check: checkClaudeStream,
  },
  {
    format: 'codex-exec',
    folder: 'codex-sdk',
    packageName: '@openai/codex-sdk',
    version: '0.163.0',
    isLibrary: true,
    check: checkCodexExec,
  },
];
