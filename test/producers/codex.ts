import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fields, fieldsOf, listOf, parseFields, readRecords, textOf } from './json.ts';
import { judgeRun } from './judge-run.ts';
import type { Asked } from './mock-model.ts';
import { runOffline } from './offline.ts';
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
    const items = findRequest(run.asked);
    const sent = {
      count: items.length,
      texts: items.flatMap(textsOf),
      calls: callIds(items, /_call$/),
      results: callIds(items, /_output$/),
    };
    return judgeRun({ run, before, after, summary: readSummary(records), sent, version });
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
