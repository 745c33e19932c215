import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fields, fieldsOf, parseFields, readRecords, textOf } from './json.ts';
import { judgeRun } from './judge-run.ts';
import { readMessagesRequest } from './messages-request.ts';
import { runOffline } from './offline.ts';
import type { Resumed } from './resumed.ts';

const PROMPT = 'a prompt that nobody has typed before';
const TIMEOUT_MS = 90_000;

/**
 * Resumes a copy of a compacted session with the real Claude Code, offline and in a home of its own. It stands in the folder `claude` of
 * `producersFolder`, as `npm i --prefix` leaves it.
 */
export async function checkClaudeCode(compactedFile: string, producersFolder: string): Promise<Resumed> {
  const program = join(producersFolder, 'claude/node_modules/@anthropic-ai/claude-code');
  const version = textOf(parseFields(readFileSync(join(program, 'package.json'), 'utf8'))?.['version']) ?? '';
  const before = readFileSync(compactedFile);
  const records = readRecords(before);
  const session = records.flatMap((record) => textOf(record['sessionId']) ?? [])[0] ?? '';
  // The client names a project's folder after the resolved path.
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'resume-claude-')));
  try {
    const work = join(home, 'work');
    const project = join(home, '.claude/projects', work.replaceAll(/[^A-Za-z0-9]/g, '-'));
    for (const folder of [work, project]) mkdirSync(folder, { recursive: true });
    const file = join(project, `${session}.jsonl`);
    copyFileSync(compactedFile, file);
    const run = await runOffline({
      command: join(producersFolder, 'claude/node_modules/.bin/claude'),
      args: ['-p', '--resume', session, PROMPT],
      cwd: work,
      env: { ...ENVIRONMENT, HOME: home, CLAUDE_CONFIG_DIR: join(home, '.claude') },
      timeoutMs: TIMEOUT_MS,
    });
    const after = readFileSync(file);
    const sent = readMessagesRequest(run.asked, PROMPT);
    return judgeRun({ run, before, after, summary: readSummary(records), sent, version });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const ENVIRONMENT = {
  ANTHROPIC_BASE_URL: 'MODEL_URL',
  ANTHROPIC_API_KEY: 'not-a-key',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTO_COMPACT: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_TELEMETRY: '1',
  IS_SANDBOX: '1',
};

/** The text of the latest summary in the file. */
function readSummary(records: readonly Fields[]): string | undefined {
  const summary = records.findLast((record) => record['isCompactSummary'] === true);
  return textOf(fieldsOf(summary?.['message'])['content']);
}
