import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Fields, fieldsOf, listOf, parseFields, readRecords, textOf } from './json.ts';
import { type Asked, judgeRun, PROMPT, readMessagesRequest, type SentMessages } from './judge-run.ts';
import { runOffline } from './offline.ts';
import { type Check, versionIn, withFolder } from './resumed.ts';

/** How a program takes up a session, in a home of its own and with the mock in the place of its model. */
type Program = {
  readonly timeoutMs?: number;
  /** The session's id; a record that has none gives undefined. */
  readonly idIn: (record: Fields) => string | undefined;
  /** Where the program looks for the session. Whatever else it needs is written beside it. */
  readonly place: (home: Home, session: string, records: readonly Fields[]) => string;
  readonly args: (session: string) => readonly string[];
  readonly environment: (home: Home) => Readonly<Record<string, string>>;
  /** The text of the latest summary in the file. */
  readonly summary: (records: readonly Fields[]) => string | undefined;
  /** By default, what was sent to the Messages API. */
  readonly sent?: (asked: readonly Asked[]) => SentMessages;
};

/** `work`: the folder that the program is started in. */
type Home = { readonly path: string; readonly work: string };

/** Resumes a copy of a compacted session with the real program, offline. Its command has the name of its folder. */
export function resumeWith(program: Program): Check {
  return async (compactedFile, producersFolder, { folder, packageName }) => {
    const packages = join(producersFolder, folder, 'node_modules');
    const version = versionIn(join(packages, packageName));
    const before = readFileSync(compactedFile);
    const records = readRecords(before);
    const session = records.flatMap((record) => program.idIn(record) ?? [])[0] ?? 'no-session';
    return withFolder(`resume-${folder}-`, async (path) => {
      const home = { path, work: join(path, 'work') };
      mkdirSync(home.work);
      const file = program.place(home, session, records);
      mkdirSync(dirname(file), { recursive: true });
      copyFileSync(compactedFile, file);
      const run = await runOffline({
        command: join(packages, '.bin', folder),
        args: program.args(session),
        cwd: home.work,
        env: { HOME: path, ...program.environment(home) },
        timeoutMs: program.timeoutMs ?? 90_000,
      });
      const sent = (program.sent ?? readMessagesRequest)(run.asked);
      return judgeRun({ run, before, after: readFileSync(file), summary: program.summary(records), sent, version });
    });
  };
}

/** The name that Claude Code and Qwen Code give to a project's folder. */
function projectName(work: string): string {
  return work.replaceAll(/[^A-Za-z0-9]/g, '-');
}

export const CLAUDE_CODE: Program = {
  idIn: ({ sessionId }) => textOf(sessionId),
  place: ({ path, work }, session) => join(path, '.claude/projects', projectName(work), `${session}.jsonl`),
  args: (session) => ['-p', '--resume', session, PROMPT],
  environment: ({ path }) => ({
    ANTHROPIC_BASE_URL: 'MODEL_URL',
    ANTHROPIC_API_KEY: 'not-a-key',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CONFIG_DIR: join(path, '.claude'),
    DISABLE_AUTO_COMPACT: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_TELEMETRY: '1',
    IS_SANDBOX: '1',
  }),
  summary: (records) => {
    const summary = records.findLast((record) => record['isCompactSummary'] === true);
    return textOf(fieldsOf(summary?.['message'])['content']);
  },
};

const CODEX_SETTINGS = [
  'model="gpt-5"',
  'openai_base_url="MODEL_URL/v1"',
  'approval_policy="never"',
  'sandbox_mode="read-only"',
].flatMap((setting) => ['-c', setting]);

export const CODEX: Program = {
  idIn: ({ type, payload }) => (type === 'session_meta' ? textOf(fieldsOf(payload)['id']) : undefined),
  place: ({ path }, thread) => join(path, 'codex/sessions/2026/06/18', `rollout-2026-06-18T08-00-00-${thread}.jsonl`),
  args: (thread) => ['exec', '--skip-git-repo-check', ...CODEX_SETTINGS, 'resume', thread, PROMPT],
  environment: ({ path }) => ({
    CODEX_HOME: join(path, 'codex'),
    CODEX_API_KEY: 'not-a-key',
    OPENAI_API_KEY: 'not-a-key',
  }),
  summary: (records) => {
    const compacted = fieldsOf(records.findLast((record) => record['type'] === 'compacted')?.['payload']);
    return listOf(compacted['replacement_history']).flatMap(contentTexts).at(-1);
  },
  sent: (asked) => {
    const request = asked.find(({ path, body }) => path.endsWith('/responses') && body.includes(PROMPT));
    const items = request === undefined ? [] : listOf(parseFields(request.body)?.['input']);
    // Calls that the server runs itself have no `call_id`, and no output.
    const callIds = (type: RegExp): readonly string[] =>
      items.flatMap((item) => (type.test(textOf(item['type']) ?? '') ? (textOf(item['call_id']) ?? []) : []));
    return {
      count: items.length,
      texts: items.flatMap(contentTexts),
      calls: callIds(/_call$/),
      results: callIds(/_output$/),
    };
  },
};

function contentTexts({ content }: Fields): readonly string[] {
  return listOf(content).flatMap((part) => textOf(part['text']) ?? []);
}

/** With a provider of one's own in the place of GitHub's. */
export const COPILOT: Program = {
  idIn: ({ data }) => textOf(fieldsOf(data)['sessionId']),
  place: ({ path }, session) => join(path, '.copilot/session-state', session, 'events.jsonl'),
  args: (session) => [`--resume=${session}`, '-p', PROMPT, '--allow-all-tools', '--no-color'],
  environment: ({ path }) => ({
    CI: 'true',
    COPILOT_AUTO_UPDATE: 'false',
    COPILOT_HOME: join(path, '.copilot'),
    COPILOT_MODEL: 'claude-sonnet-4',
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_API_KEY: 'not-a-key',
    COPILOT_PROVIDER_BASE_URL: 'MODEL_URL',
    COPILOT_PROVIDER_TYPE: 'anthropic',
  }),
  summary: (records) =>
    records
      .flatMap(({ type, data }) =>
        type === 'session.compaction_complete' ? (textOf(fieldsOf(data)['summaryContent']) ?? []) : [],
      )
      .at(-1),
};

export const QWEN: Program = {
  idIn: ({ sessionId }) => textOf(sessionId),
  place: ({ path, work }, session) => {
    const folder = join(path, '.qwen/projects', projectName(work), 'chats');
    // The folder in the records is another one; this says that the session is of this folder nevertheless.
    const status = { pid: 1, session_id: session, work_dir: work, hostname: 'localhost', started_at: 1 };
    writeJson(join(folder, `${session}.runtime.json`), { schema_version: 1, ...status, qwen_version: null });
    return join(folder, `${session}.jsonl`);
  },
  args: (session) =>
    ['--resume', session, '--auth-type', 'anthropic', '--model', 'claude-sonnet-4-5', '-p'].concat(PROMPT),
  environment: () => ({
    ANTHROPIC_API_KEY: 'not-a-key',
    ANTHROPIC_BASE_URL: 'MODEL_URL',
    ANTHROPIC_MODEL: 'claude-sonnet-4-5',
    CI: 'true',
    QWEN_SANDBOX: 'false',
  }),
  summary: (records) => {
    const payload = fieldsOf(records.findLast(({ subtype }) => subtype === 'chat_compression')?.['systemPayload']);
    const [first] = listOf(payload['compressedHistory']);
    return textOf(listOf(first?.['parts'])[0]?.['text']);
  },
};

export const KIMI: Program = {
  timeoutMs: 120_000,
  idIn: () => 'session_00000000-0000-4000-8000-000000000001',
  place: ({ path, work }, session, records) => {
    const kimi = join(path, '.kimi-code');
    const key = createHash('sha256').update(work).digest('hex').slice(0, 12);
    const folder = join(kimi, `sessions/wd_work_${key}`, session);
    const agent = join(folder, 'agents/main');
    const times = { createdAt: 1, updatedAt: 1, archived: false };
    const agents = { main: { homedir: agent, type: 'main' } };
    writeJson(join(folder, 'state.json'), { id: session, version: 2, cwd: work, ...times, agents, custom: {} });
    writeJson(join(kimi, 'session_index.jsonl'), { sessionId: session, sessionDir: folder, workDir: work });
    // A session goes on with the model that it had, by the name in the settings.
    const models = new Set(['mock', ...records.flatMap(({ modelAlias }) => textOf(modelAlias) ?? [])]);
    writeFileSync(join(kimi, 'config.toml'), kimiSettings(models));
    return join(agent, 'wire.jsonl');
  },
  args: (session) => ['--session', session, '-p', PROMPT],
  environment: ({ path }) => ({
    KIMI_CODE_HOME: join(path, '.kimi-code'),
    ANTHROPIC_BASE_URL: 'MODEL_URL',
    CI: 'true',
  }),
  summary: (records) => {
    const compaction = fieldsOf(records.findLast(({ type }) => type === 'context.apply_compaction'));
    return textOf(compaction['contextSummary']) ?? textOf(compaction['summary']);
  },
};

export function kimiSettings(models: ReadonlySet<string>): string {
  const provider = ['[providers.mock]', 'type = "anthropic"', 'api_key = "not-a-key"'];
  const entries = Array.from(models, (name) => [
    `[models.${JSON.stringify(name)}]`,
    'provider = "mock"',
    'model = "claude-sonnet-4-5"',
    'max_context_size = 200000',
  ]);
  return ['default_model = "mock"', 'telemetry = false', ...provider, ...entries.flat()].join('\n');
}

function writeJson(path: string, value: object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(value)}\n`);
}
