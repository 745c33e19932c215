import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fieldsOf, listOf, parseFields, readRecords, textOf } from './json.ts';
import type { Fields } from './json.ts';
import { ANSWER } from './mock-model.ts';
import type { Asked } from './mock-model.ts';
import { runOffline } from './offline.ts';
import { countOrphans, lastWords } from './resumed.ts';
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
    const sent = findRequest(run.asked);
    const blocks = sent.flatMap(blocksOf);
    const summary = readSummary(records);
    const isAnswered = run.code === 0 && run.stdout.includes(ANSWER) && sent.length > 0;
    const resumed = isAnswered && after.subarray(before.length).includes(ANSWER);
    const detail = [
      ...(resumed ? [] : [`exit code ${run.code}`, lastWords(run.stdout, run.stderr)]),
      ...(run.isIsolated ? [] : ['not in a network namespace of its own']),
    ].join('; ');
    return {
      resumed,
      summaryFound: summary !== undefined && blocks.some((block) => textOf(block['text'])?.includes(summary) === true),
      messages: sent.length,
      orphans: countOrphans(idsOf(blocks, 'tool_use', 'id'), idsOf(blocks, 'tool_result', 'tool_use_id')),
      rewritten: !after.subarray(0, before.length).equals(before),
      version,
      ...(detail !== '' && { detail }),
    };
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

/** The messages of the request that has the new prompt. */
function findRequest(asked: readonly Asked[]): readonly Fields[] {
  const request = asked.find(({ path, body }) => path.endsWith('/v1/messages') && body.includes(PROMPT));
  return listOf(parseFields(request?.body ?? '')?.['messages']);
}

function blocksOf({ content }: Fields): readonly Fields[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);
}

function idsOf(blocks: readonly Fields[], type: string, key: string): readonly string[] {
  return blocks.filter((block) => block['type'] === type).flatMap((block) => textOf(block[key]) ?? []);
}

/** The text of the latest summary in the file. */
function readSummary(records: readonly Fields[]): string | undefined {
  const texts = records.flatMap(({ type, data }) =>
    type === 'session.compaction_complete' ? (textOf(fieldsOf(data)['summaryContent']) ?? []) : [],
  );
  return texts.at(-1);
}
