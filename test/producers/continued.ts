import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { keepSession, KEPT_SESSIONS } from '../support/client-sessions.ts';
import { PROMPT } from './judge-run.ts';
import { runOffline } from './offline.ts';
import { openCodeEnvironment } from './opencode.ts';
import { CLAUDE_CODE, CODEX, COPILOT, KIMI, kimiSettings, QWEN } from './programs.ts';
import { lastWords, type Package, versionIn, withFolder } from './resumed.ts';

const ROOT = join(import.meta.dirname, '../..');
const TIMEOUT_MS = 270_000;

type Client = {
  readonly package: Pick<Package, 'folder' | 'packageName' | 'version'>;
  readonly command: string;
  /** Its settings, below the home. */
  readonly files?: (work: string) => Readonly<Record<string, string>>;
  readonly environment: (home: { readonly path: string; readonly work: string }) => Readonly<Record<string, string>>;
  /** What is passed on to it, with a prompt. */
  readonly passed: readonly string[];
};

/** PORT is that of the mock. */
const CODEX_LINES = [
  'model = "gpt-5"',
  'openai_base_url = "http://127.0.0.1:PORT/v1"',
  'approval_policy = "never"',
  'sandbox_mode = "read-only"',
  'check_for_update_on_startup = false',
];

/** The clients of `KEPT_SESSIONS` and OpenCode, with which `compact resume` goes on. */
const CLIENTS: Readonly<Record<(typeof KEPT_SESSIONS)[number]['format'] | 'opencode', Client>> = {
  'claude-code': {
    package: { folder: 'claude', packageName: '@anthropic-ai/claude-code', version: '2.1.197' },
    command: 'claude',
    environment: CLAUDE_CODE.environment,
    passed: ['-p', PROMPT],
  },
  codex: {
    package: { folder: 'codex', packageName: '@openai/codex', version: '0.169.0' },
    command: 'codex',
    files: (work) => ({
      '.codex/auth.json': '{ "OPENAI_API_KEY": "not-a-key" }',
      '.codex/config.toml': [...CODEX_LINES, `[projects."${work}"]`, 'trust_level = "trusted"'].join('\n'),
    }),
    environment: (home) => ({ ...CODEX.environment(home), CODEX_HOME: join(home.path, '.codex') }),
    passed: [PROMPT],
  },
  gemini: {
    package: { folder: 'gemini-cli', packageName: '@google/gemini-cli', version: '0.61.0' },
    command: 'gemini',
    files: (work) => ({
      '.gemini/settings.json':
        '{ "general": { "enableAutoUpdate": false }, "security": { "auth": { "selectedType": "gemini-api-key" } } }',
      '.gemini/projects.json': JSON.stringify({ projects: { [work]: 'station' } }),
    }),
    environment: () => ({
      GOOGLE_GEMINI_BASE_URL: 'MODEL_URL',
      GEMINI_API_KEY: 'not-a-key',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
    passed: ['-m', 'gemini-2.5-pro', '-p', PROMPT],
  },
  pi: {
    package: { folder: 'pi', packageName: '@mariozechner/pi-coding-agent', version: '0.73.1' },
    command: 'pi',
    environment: ({ path }) => ({ PI_CODING_AGENT_DIR: join(path, '.pi/agent'), PI_OFFLINE: '1' }),
    passed: ['--provider', 'mock', '--model', 'mock', '-p', PROMPT],
  },
  copilot: {
    package: { folder: 'copilot', packageName: '@github/copilot', version: '1.0.64' },
    command: 'copilot',
    environment: COPILOT.environment,
    passed: ['-p', PROMPT, '--allow-all-tools', '--no-color'],
  },
  qwen: {
    package: { folder: 'qwen', packageName: '@qwen-code/qwen-code', version: '0.24.4' },
    command: 'qwen',
    environment: QWEN.environment,
    passed: ['--auth-type', 'anthropic', '--model', 'claude-sonnet-4-5', '-p', PROMPT],
  },
  opencode: {
    package: { folder: 'opencode', packageName: 'opencode-ai', version: '1.18.33' },
    command: 'opencode',
    environment: () => openCodeEnvironment({ context: 200_000, output: 8192 }),
    // It takes no prompt with a session.
    passed: ['--model', 'mock/mock'],
  },
  'kimi-code': {
    package: { folder: 'kimi', packageName: '@moonshot-ai/kimi-code', version: '2.1.0' },
    command: 'kimi',
    environment: KIMI.environment,
    passed: ['-p', PROMPT],
  },
};

/** The packages of a format's client; null: `compact resume` is not tried with it. */
export function clientOf(format: string): Client | null {
  return Object.entries(CLIENTS).find(([name]) => name === format)?.[1] ?? null;
}

/**
 * What went wrong; '': on a terminal, `compact resume` has compacted the client's session, and the client itself has sent the summary and a new
 * prompt to its model.
 */
export async function checkContinued(format: string, producersFolder: string): Promise<string> {
  const kept = KEPT_SESSIONS.find((one) => one.format === format);
  const client = clientOf(format);
  if (format === 'opencode') return checkOpenCodeContinued(producersFolder);
  if (kept === undefined || client === null) return 'there is no session of it to go on with';
  return withFolder('continued-', async (path) => {
    const work = join(path, 'work');
    mkdirSync(work);
    const file = keepSession(path, work, kept);
    for (const [name, text] of Object.entries(client.files?.(work) ?? {})) write(join(path, name), text);
    if (format === 'kimi-code') {
      write(join(path, '.kimi-code/config.toml'), kimiSettings(new Set(['mock', 'kimi-k9'])));
      const sessionDir = dirname(dirname(dirname(file)));
      write(
        join(path, '.kimi-code/session_index.jsonl'),
        `${JSON.stringify({ sessionId: kept.id, sessionDir, workDir: work })}\n`,
      );
    }
    const args = ['resume', kept.id.replace(/^session_/, '').slice(0, 8), '--if-over', '100', '--', ...client.passed];
    const run = await runOn({ path, client, args }, producersFolder);
    const compacted = readFileSync(file, 'utf8');
    const sent = run.asked.filter(({ body }) => body.includes(PROMPT));
    return [
      ...(sent.some(({ body }) => body.includes('[Context Summary'))
        ? []
        : ['no request with the summary and the prompt']),
      ...(compacted.includes('[Context Summary') ? [] : ['the session was not compacted']),
      ...(sent.length > 0 ? [] : [`exit code ${run.code}: ${lastWords(run.stdout, run.stderr)}`]),
    ].join('; ');
  });
}

/**
 * The same for OpenCode, which gets a fixture with longer texts into its database first: it has sent the summary of a copy, and its session is
 * as it was.
 */
async function checkOpenCodeContinued(producersFolder: string): Promise<string> {
  return withFolder('continued-', async (path) => {
    const id = 'ses_e0161a000ffeMadeUpSession1';
    const fixture = readFileSync(join(ROOT, 'fixtures/transcripts/opencode/session.json'), 'utf8');
    const long = fixture
      .replaceAll(/(?<="(?:provider|model)ID": ")[^"]+/g, 'mock')
      .replaceAll(/"text": "(.*)"/g, (_, text: string) => `"text": "${`${text} `.repeat(9)}"`);
    mkdirSync(join(path, 'work'));
    write(join(path, 'long.json'), long);
    const client = CLIENTS.opencode;
    const first = `cd work; opencode import ../long.json; opencode export ${id} > ../before.json; cd ..`;
    const args = ['resume', id, '--if-over', '100', '--', ...client.passed];
    const run = await runOn({ path, client, args, first }, producersFolder);
    await runOffline({
      command: 'sh',
      args: ['-c', `"$0" export ${id} > after.json`, join(path, 'bin/opencode')],
      cwd: path,
      env: { ...client.environment({ path, work: path }), HOME: path },
      timeoutMs: TIMEOUT_MS,
    });
    const [before = '', after] = ['before', 'after'].map((name) => readFileSync(join(path, `${name}.json`), 'utf8'));
    const sent = run.asked.filter(({ body }) => body.includes(PROMPT) && body.includes('[Context Summary'));
    return [
      ...(before.includes(id) ? [] : ['it did not read the fixture']),
      ...(before === after ? [] : ['the session was changed']),
      ...(sent.length > 0 ? [] : [`exit code ${run.code}: ${lastWords(run.stdout, run.stderr)}`]),
    ].join('; ');
  });
}

export const HANDED_OVER = ['claude-code', 'codex'] as const;

/** The same for a hand-over: the client has sent it, or where it is, as the first prompt. */
export async function checkHandedOver(format: (typeof HANDED_OVER)[number], producersFolder: string): Promise<string> {
  const client = CLIENTS[format];
  const [kept] = KEPT_SESSIONS;
  return withFolder('handed-over-', async (path) => {
    const work = join(path, 'work');
    mkdirSync(work);
    keepSession(path, work, kept);
    const settings = {
      ...client.files?.(work),
      '.claude/.claude.json': JSON.stringify({
        hasCompletedOnboarding: true,
        customApiKeyResponses: { approved: ['not-a-key'] },
        projects: { [work]: { hasTrustDialogAccepted: true } },
      }),
    };
    for (const [name, text] of Object.entries(settings)) write(join(path, name), text);
    const args = ['handoff', kept.id.slice(0, 8), '--to', client.command];
    const run = await runOn({ path, client, args }, producersFolder, 'and-over');
    // Claude Code puts a file that a prompt names into its request; Codex reads it by itself.
    const expected = format === 'codex' ? 'handover.md' : '# Hand-over';
    const sent = run.asked.filter(({ body }) => body.includes(expected));
    return sent.length > 0 ? '' : `exit code ${run.code}: ${lastWords(run.stdout, run.stderr)}`;
  });
}

function runOn(
  {
    path,
    client,
    args,
    first = '',
  }: {
    readonly path: string;
    readonly client: Client;
    readonly args: readonly string[];
    /** Shell commands before it. */
    readonly first?: string;
  },
  producersFolder: string,
  until = PROMPT,
) {
  const bin = join(path, 'bin');
  mkdirSync(bin);
  const { folder } = client.package;
  symlinkSync(join(producersFolder, folder, 'node_modules/.bin', client.command), join(bin, client.command));
  const work = join(path, 'work');
  const pi = {
    providers: {
      mock: { baseUrl: 'MODEL_URL', api: 'anthropic-messages', apiKey: 'not-a-key', models: [{ id: 'mock' }] },
    },
  };
  // Settings in files get the address of the mock in the shell, which has it from the environment.
  const script = `${first}
    if [ -n "$MODELS" ]; then echo "$MODELS" > "$HOME/.pi/agent/models.json"; fi; if [ -f "$HOME/.codex/config.toml" ]; then sed -i "s|http://127.0.0.1:PORT|$MODEL|" "$HOME/.codex/config.toml"; fi; exec "$@"`;
  return runOffline({
    command: 'sh',
    args: ['-c', script, 'sh', process.execPath, join(ROOT, 'bin/compact.js'), ...args],
    cwd: path,
    env: {
      PATH: [bin, process.env['PATH'] ?? ''].join(delimiter),
      HOME: path,
      MODEL: 'MODEL_URL',
      ...(client.command === 'pi' && { MODELS: JSON.stringify(pi) }),
      ...client.environment({ path, work }),
    },
    timeoutMs: TIMEOUT_MS,
    onTerminalUntil: until,
  });
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** The version of a client that is installed. */
export function versionOf({ package: { folder, packageName } }: Client, producersFolder: string): string {
  return versionIn(join(producersFolder, folder, 'node_modules', packageName));
}
