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
    const sent = findRequest(run.asked);
    const blocks = sent.flatMap(blocksOf);
    const summary = readSummary(records);
    const resumed = run.code === 0 && run.stdout.includes(ANSWER) && sent.length > 0 && after.includes(ANSWER);
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
  ANTHROPIC_BASE_URL: 'MODEL_URL',
  ANTHROPIC_API_KEY: 'not-a-key',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTO_COMPACT: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_TELEMETRY: '1',
  IS_SANDBOX: '1',
};

/** The messages of the request that has the new prompt; the client asks for other things beside it. */
function findRequest(asked: readonly Asked[]): readonly Fields[] {
  const bodies = asked
    .filter(({ path, body }) => path.endsWith('/v1/messages') && body.includes(PROMPT))
    .map(({ body }) => listOf(parseFields(body)?.['messages']));
  return bodies.toSorted((a, b) => b.length - a.length)[0] ?? [];
}

function blocksOf({ content }: Fields): readonly Fields[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);
}

function idsOf(blocks: readonly Fields[], type: string, key: string): readonly string[] {
  return blocks.filter((block) => block['type'] === type).flatMap((block) => textOf(block[key]) ?? []);
}

/** The text of the latest summary in the file. */
function readSummary(records: readonly Fields[]): string | undefined {
  const summary = records.findLast((record) => record['isCompactSummary'] === true);
  return textOf(fieldsOf(summary?.['message'])['content']);
}
