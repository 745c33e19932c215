import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
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

/** Resumes a copy of a compacted rollout with the real Codex (folder `codex` of `producersFolder`), offline and in a home of its own. */
export async function checkCodex(compactedFile: string, producersFolder: string): Promise<Resumed> {
  const program = join(producersFolder, 'codex/node_modules/@openai/codex');
  const version = textOf(parseFields(readFileSync(join(program, 'package.json'), 'utf8'))?.['version']) ?? '';
  const before = readFileSync(compactedFile);
  const records = readRecords(before);
  const header = records.find((record) => record['type'] === 'session_meta');
  const thread = textOf(fieldsOf(header?.['payload'])['id']) ?? '';
  const home = mkdtempSync(join(tmpdir(), 'resume-codex-'));
  try {
    const sessions = join(home, 'codex/sessions/2026/06/18');
    mkdirSync(sessions, { recursive: true });
    const file = join(sessions, `rollout-2026-06-18T08-00-00-${thread}.jsonl`);
    copyFileSync(compactedFile, file);
    const run = await runOffline({
      command: join(producersFolder, 'codex/node_modules/.bin/codex'),
      args: ['exec', '--skip-git-repo-check', ...SETTINGS.flatMap((one) => ['-c', one]), 'resume', thread, PROMPT],
      cwd: home,
      env: { HOME: home, CODEX_HOME: join(home, 'codex'), CODEX_API_KEY: 'not-a-key', OPENAI_API_KEY: 'not-a-key' },
      timeoutMs: TIMEOUT_MS,
    });
    const after = readFileSync(file);
    const sent = findRequest(run.asked);
    const summary = readSummary(records);
    const resumed = run.code === 0 && run.stdout.includes(ANSWER) && sent.length > 0 && after.includes(ANSWER);
    const detail = [
      ...(resumed ? [] : [`exit code ${run.code}`, lastWords(run.stdout, run.stderr)]),
      ...(run.isIsolated ? [] : ['not in a network namespace of its own']),
    ].join('; ');
    return {
      resumed,
      summaryFound: summary !== undefined && sent.some((item) => textsOf(item).includes(summary)),
      messages: sent.length,
      orphans: countOrphans(callIds(sent, /_call$/), callIds(sent, /_output$/)),
      rewritten: !after.subarray(0, before.length).equals(before),
      version,
      ...(detail !== '' && { detail }),
    };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const SETTINGS = [
  'model="gpt-5"',
  'openai_base_url="MODEL_URL/v1"',
  'approval_policy="never"',
  'sandbox_mode="read-only"',
];

/** The items of the request that has the new prompt. */
function findRequest(asked: readonly Asked[]): readonly Fields[] {
  const request = asked.find(({ path, body }) => path.endsWith('/responses') && body.includes(PROMPT));
  return request === undefined ? [] : listOf(parseFields(request.body)?.['input']);
}

function textsOf({ content }: Fields): readonly string[] {
  return listOf(content).flatMap((part) => textOf(part['text']) ?? []);
}

/** Calls that the server runs itself have no `call_id`, and no output. */
function callIds(items: readonly Fields[], type: RegExp): readonly string[] {
  return items.filter((item) => type.test(textOf(item['type']) ?? '')).flatMap((item) => textOf(item['call_id']) ?? []);
}

/** The text of the latest summary in the file. */
function readSummary(records: readonly Fields[]): string | undefined {
  const compacted = fieldsOf(records.findLast((record) => record['type'] === 'compacted')?.['payload']);
  return listOf(compacted['replacement_history']).flatMap(textsOf).at(-1);
}
