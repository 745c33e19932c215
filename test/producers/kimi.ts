import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fieldsOf, parseFields, readRecords, textOf } from './json.ts';
import { judgeRun } from './judge-run.ts';
import { readMessagesRequest } from './messages-request.ts';
import { runOffline } from './offline.ts';
import type { Resumed } from './resumed.ts';

const PROMPT = 'a prompt that nobody has typed before';
const TIMEOUT_MS = 120_000;
const SESSION = 'session_00000000-0000-4000-8000-000000000001';

/**
 * Resumes a copy of a compacted session with the real Kimi Code, offline and in a home of its own, with the mock as a
 * server of the Messages API. It stands in the folder `kimi` of `producersFolder`, as `npm i --prefix` leaves it.
 */
export async function checkKimi(compactedFile: string, producersFolder: string): Promise<Resumed> {
  const packages = join(producersFolder, 'kimi/node_modules');
  const manifest = join(packages, '@moonshot-ai/kimi-code/package.json');
  const version = textOf(parseFields(readFileSync(manifest, 'utf8'))?.['version']) ?? '';
  const before = readFileSync(compactedFile);
  const records = readRecords(before);
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'resume-kimi-')));
  try {
    const [work, kimi] = [join(home, 'work'), join(home, '.kimi-code')];
    const key = createHash('sha256').update(work).digest('hex').slice(0, 12);
    const folder = join(kimi, `sessions/wd_work_${key}`, SESSION);
    const agent = join(folder, 'agents/main');
    for (const path of [work, agent]) mkdirSync(path, { recursive: true });
    const file = join(agent, 'wire.jsonl');
    copyFileSync(compactedFile, file);
    const agents = { main: { homedir: agent, type: 'main' } };
    const state = {
      id: SESSION,
      version: 2,
      cwd: work,
      createdAt: 1,
      updatedAt: 1,
      archived: false,
      agents,
      custom: {},
    };
    writeFileSync(join(folder, 'state.json'), JSON.stringify(state));
    const entry = { sessionId: SESSION, sessionDir: folder, workDir: work };
    writeFileSync(join(kimi, 'session_index.jsonl'), `${JSON.stringify(entry)}\n`);
    // A session goes on with the model that it had, by the name in the settings.
    const models = new Set(['mock', ...records.flatMap(({ modelAlias }) => textOf(modelAlias) ?? [])]);
    writeFileSync(join(kimi, 'config.toml'), toSettings(models));
    const run = await runOffline({
      command: join(packages, '.bin/kimi'),
      args: ['--session', SESSION, '-p', PROMPT],
      cwd: work,
      env: { HOME: home, KIMI_CODE_HOME: kimi, ANTHROPIC_BASE_URL: 'MODEL_URL', CI: 'true' },
      timeoutMs: TIMEOUT_MS,
    });
    const after = readFileSync(file);
    const compaction = fieldsOf(records.findLast(({ type }) => type === 'context.apply_compaction'));
    const summary = textOf(compaction['contextSummary']) ?? textOf(compaction['summary']);
    const sent = readMessagesRequest(run.asked, PROMPT);
    return judgeRun({ run, before, after, summary, sent, version });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function toSettings(models: ReadonlySet<string>): string {
  const provider = ['[providers.mock]', 'type = "anthropic"', 'api_key = "not-a-key"'];
  const entries = Array.from(models, (name) => [
    `[models.${JSON.stringify(name)}]`,
    'provider = "mock"',
    'model = "claude-sonnet-4-5"',
    'max_context_size = 200000',
  ]);
  return ['default_model = "mock"', 'telemetry = false', ...provider, ...entries.flat()].join('\n');
}
