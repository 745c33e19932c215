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
 * Resumes a copy of a compacted session with the real Copilot CLI, offline and in a home of its own, with a provider of one's own in the
 * place of GitHub's. It stands in the folder `copilot` of `producersFolder`, as `npm i --prefix` leaves it.
 */
export async function checkCopilot(compactedFile: string, producersFolder: string): Promise<Resumed> {
  const packages = join(producersFolder, 'copilot/node_modules');
  const program = join(packages, '@github/copilot/package.json');
  const version = textOf(parseFields(readFileSync(program, 'utf8'))?.['version']) ?? '';
  const before = readFileSync(compactedFile);
  const records = readRecords(before);
  const session = records.flatMap(({ data }) => textOf(fieldsOf(data)['sessionId']) ?? [])[0] ?? 'no-session';
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'resume-copilot-')));
  try {
    const work = join(home, 'work');
    const folder = join(home, '.copilot/session-state', session);
    for (const path of [work, folder]) mkdirSync(path, { recursive: true });
    const file = join(folder, 'events.jsonl');
    copyFileSync(compactedFile, file);
    const run = await runOffline({
      command: join(packages, '.bin/copilot'),
      args: [`--resume=${session}`, '-p', PROMPT, '--allow-all-tools', '--no-color'],
      cwd: work,
      env: { ...ENVIRONMENT, HOME: home, COPILOT_HOME: join(home, '.copilot') },
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
  CI: 'true',
  COPILOT_AUTO_UPDATE: 'false',
  COPILOT_MODEL: 'claude-sonnet-4',
  COPILOT_OFFLINE: 'true',
  COPILOT_PROVIDER_API_KEY: 'not-a-key',
  COPILOT_PROVIDER_BASE_URL: 'MODEL_URL',
  COPILOT_PROVIDER_TYPE: 'anthropic',
};

/** The text of the latest summary in the file. */
function readSummary(records: readonly Fields[]): string | undefined {
  const texts = records.flatMap(({ type, data }) =>
    type === 'session.compaction_complete' ? (textOf(fieldsOf(data)['summaryContent']) ?? []) : [],
  );
  return texts.at(-1);
}
