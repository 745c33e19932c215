import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { runOffline } from './offline.ts';
import { openCodeEnvironment } from './opencode.ts';
import { lastWords, type Package, withFolder } from './resumed.ts';

const ROOT = join(import.meta.dirname, '../..');
const TIMEOUT_MS = 90_000;
const RULE = 'Never write tabs into this project.';

/** How a client holds a conversation in which it compacts, after `compact install` in a home of its own. */
export type Installation = {
  readonly client: string;
  /** Below the folder of the producers. */
  readonly program: string;
  /** Its settings before, below the home. */
  readonly files: Readonly<Record<string, string>>;
  /** A fixture to begin with, and where the client looks for it, below the home. */
  readonly session?: { readonly fixture: string; readonly at: (home: string) => string };
  readonly environment: (home: string) => Readonly<Record<string, string>>;
  /** What the last request has. */
  readonly expected: readonly string[];
  /** A hook archives the session. */
  readonly archives?: true;
  /** The package of the program, if it is another than that of the format. */
  readonly needs?: Package;
  /** The command lines that add our plugin, instead of `compact install`. */
  readonly plugin?: readonly (readonly string[])[];
  /** The command lines, with PROGRAM for the client: the first says the rule, the client compacts in the second at the latest. */
  readonly turns: (rule: string) => readonly (readonly string[])[];
};

/** What went wrong; '': the client itself ran the hooks, sent the rule again after its own compaction, and offered the archive's tools. */
export async function checkInstalled(installation: Installation, producersFolder: string): Promise<string> {
  return withFolder('installed-', async (home) => {
    const work = join(home, 'work');
    mkdirSync(work);
    for (const [path, text] of Object.entries(installation.files)) {
      mkdirSync(join(home, path, '..'), { recursive: true });
      writeFileSync(join(home, path), text);
    }
    const { session } = installation;
    if (session !== undefined) {
      const path = join(home, session.at(home));
      mkdirSync(join(path, '..'), { recursive: true });
      const text = readFileSync(join(ROOT, 'fixtures/transcripts', session.fixture), 'utf8');
      writeFileSync(path, text.replaceAll(/\/home\/(?:ada\/ferry|me\/mill)/g, work));
    }
    const before = readHome(home, installation);
    const path = [join(home, 'bin'), process.env['PATH'] ?? ''].join(delimiter);
    const env = { HOME: home, PATH: path, ...installation.environment(home) };
    const install = (...args: readonly string[]) =>
      spawnSync(process.execPath, [join(ROOT, 'bin/compact.js'), 'install', installation.client, ...args], {
        env,
        encoding: 'utf8',
      });
    const { plugin } = installation;
    if (plugin !== undefined) {
      mkdirSync(join(home, 'bin'));
      symlinkSync(join(ROOT, 'bin/compact.js'), join(home, 'bin/compact'));
    }
    const installed = plugin === undefined ? install() : { status: 0, stdout: '', stderr: '' };
    if (installed.status !== 0) return lastWords(installed.stdout, installed.stderr);
    const asked: string[] = [];
    for (const args of [...(plugin ?? []), ...installation.turns(RULE)]) {
      const program = join(producersFolder, installation.program);
      const [command = '', ...rest] = args.map((word) =>
        word.replaceAll('PROGRAM', program).replaceAll('PLUGIN', join(ROOT, 'bin/plugin')),
      );
      const run = await runOffline({ command, args: rest, cwd: work, env, timeoutMs: TIMEOUT_MS });
      if (run.code !== 0) return `exit code ${run.code}: ${lastWords(run.stdout, run.stderr)}`;
      asked.push(...run.asked.map(({ body }) => body));
    }
    const last = asked.at(-1) ?? '';
    const isArchived = installation.archives === undefined || (await findCaptured(home));
    const undone = install('--undo');
    const missing = installation.expected.filter((part) => !last.includes(part));
    return [
      ...missing.map((part) => `not in the last request: ${part}`),
      ...(isArchived ? [] : ['the session is not archived']),
      ...(undone.status === 0 ? [] : [lastWords(undone.stdout, undone.stderr)]),
      ...(readHome(home, installation).includes('compact.js') ? ['something of ours is left'] : []),
      ...(before.includes('compact.js') ? ['the home is not clean'] : []),
    ].join('; ');
  });
}

const TRIES = 60;

/** The work of a hook goes on when the client has ended. */
async function findCaptured(home: string): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const args = [join(ROOT, 'bin/compact.js'), 'capture', '--list', '--json'];
    const { stdout } = spawnSync(process.execPath, args, { env: { HOME: home }, encoding: 'utf8' });
    if (stdout.includes('compact/captured@1')) return true;
    await setTimeout(250);
  }
  return false;
}

/** The texts of the settings and what stands beside them. */
function readHome(home: string, { files }: Installation): string {
  const folders = Object.keys(files).map((path) => join(home, path, '..'));
  const paths = folders.flatMap((folder) =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:jsonc?|toml|[jt]s)$/.test(entry.name))
      .map(({ name }) => join(folder, name)),
  );
  return paths.map((path) => readFileSync(path, 'utf8')).join('\n');
}

const KEYS = { ANTHROPIC_API_KEY: 'not-a-key', OPENAI_API_KEY: 'not-a-key', CODEX_API_KEY: 'not-a-key' };

const CODEX_SETTINGS = [
  'model="gpt-5"',
  'approval_policy="never"',
  'sandbox_mode="read-only"',
  'model_auto_compact_token_limit=1',
  // OpenAI's own provider compacts on its server.
  'model_provider="mock"',
  'model_providers.mock={name="mock",base_url="MODEL_URL/v1",wire_api="responses",env_key="OPENAI_API_KEY"}',
].flatMap((setting) => ['-c', setting]);
const CODEX = ['PROGRAM', 'exec', '--skip-git-repo-check', '--dangerously-bypass-hook-trust', ...CODEX_SETTINGS];
/** Of the fixture. */
const SESSION = '00000001-aaaa-4aaa-8aaa-aaaaaaaaaaaa';

const PI = 'PROGRAM --session "$HOME/session.jsonl" --provider mock --model mock';
/** Every turn has a mock of its own. */
const PI_MODELS = `echo '${JSON.stringify({
  providers: {
    mock: { baseUrl: 'MODEL_URL', api: 'anthropic-messages', apiKey: 'not-a-key', models: [{ id: 'mock' }] },
  },
})}' > "$PI_CODING_AGENT_DIR/models.json"`;
/** Its input stays open until it has answered. */
const PI_COMPACT = `{ echo '{"type":"compact"}'; until grep -q '"command":"compact"' out; do sleep 0.1; done; } | ${PI} --mode rpc > out; cat out; grep -q '"success":true' out && rm out`;

const CLAUDE: Installation = {
  client: 'claude',
  program: 'claude/node_modules/.bin/claude',
  files: { 'config/settings.json': '{\n  "cleanupPeriodDays": 9\n}\n', 'config/.claude.json': '{}' },
  // It does not compact a few messages only.
  session: {
    fixture: 'claude-code/session.jsonl',
    at: (home) => `config/projects/${join(home, 'work').replaceAll(/[^A-Za-z0-9]/g, '-')}/${SESSION}.jsonl`,
  },
  environment: (home) => ({
    ...KEYS,
    ANTHROPIC_BASE_URL: 'MODEL_URL',
    CLAUDE_CONFIG_DIR: join(home, 'config'),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_TELEMETRY: '1',
    IS_SANDBOX: '1',
  }),
  expected: ['What the user said before this conversation was summarized', RULE, 'memory_read'],
  archives: true,
  turns: (rule) => [
    ['PROGRAM', '-p', '--resume', SESSION, `${rule} Say hello.`],
    ['PROGRAM', '-p', '--resume', SESSION, '/compact'],
    ['PROGRAM', '-p', '--resume', SESSION, 'Go on.'],
  ],
};

const CODEX_CLI: Installation = {
  client: 'codex',
  program: 'codex/node_modules/.bin/codex',
  files: { 'codex/config.toml': '[tui]\nnotifications = true\n' },
  environment: (home) => ({ ...KEYS, CODEX_HOME: join(home, 'codex') }),
  expected: ['What the user said before this conversation was summarized', RULE, 'memory_read'],
  archives: true,
  turns: (rule) => [
    [...CODEX, `${rule} Say hello.`],
    [...CODEX, 'resume', '--last', 'Go on.'],
  ],
};

/** Of the fixture. */
const OPENCODE_SESSION = 'ses_e0161a000ffeMadeUpSession1';

export const INSTALLATIONS: readonly Installation[] = [
  CLAUDE,
  {
    ...CLAUDE,
    plugin: [
      ['PROGRAM', 'plugin', 'marketplace', 'add', 'PLUGIN'],
      ['PROGRAM', 'plugin', 'install', 'compact@compact-transcript'],
    ],
  },
  CODEX_CLI,
  {
    ...CODEX_CLI,
    plugin: [
      ['PROGRAM', 'plugin', 'marketplace', 'add', 'PLUGIN'],
      ['PROGRAM', 'plugin', 'add', 'compact@compact-transcript'],
    ],
  },
  {
    client: 'pi',
    program: 'pi/node_modules/.bin/pi',
    files: { 'pi/settings.json': '{ "compaction": { "keepRecentTokens": 100 } }' },
    session: { fixture: 'pi/session.jsonl', at: () => 'session.jsonl' },
    environment: (home) => ({ ...KEYS, PI_CODING_AGENT_DIR: join(home, 'pi'), PI_OFFLINE: '1' }),
    // It compacts by itself in the first turn, because of the token counts in the fixture.
    expected: ['Rules that hold', RULE, '[Context Summary', 'across 2 compaction cycles', 'five cents'],
    turns: (rule) => [
      ['sh', '-c', `${PI_MODELS}; ${PI} -p '${rule} Say hello.'`],
      ['sh', '-c', PI_COMPACT],
      ['sh', '-c', `${PI_MODELS}; ${PI} -p 'Go on.'`],
    ],
  },
  {
    client: 'gemini',
    needs: { folder: 'gemini-cli', packageName: '@google/gemini-cli', version: '0.61.0' },
    program: 'gemini-cli/node_modules/.bin/gemini',
    files: {
      '.gemini/settings.json':
        '{ "general": { "enableAutoUpdate": false }, "security": { "auth": { "selectedType": "gemini-api-key" } } }',
    },
    environment: () => ({
      GOOGLE_GEMINI_BASE_URL: 'MODEL_URL',
      GEMINI_API_KEY: 'not-a-key',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
    expected: ['memory_read'],
    archives: true,
    turns: () => [['PROGRAM', '-m', 'gemini-2.5-pro', '-p', 'Say hello.']],
  },
  {
    client: 'opencode',
    program: 'opencode/node_modules/.bin/opencode',
    files: { '.config/opencode/opencode.json': '{\n  // mine\n  "autoupdate": false,\n}\n' },
    session: { fixture: 'opencode/session.json', at: () => 'session.json' },
    environment: () => openCodeEnvironment({ context: 20, output: 12 }),
    // It compacts by itself in the second turn, because the token counts in the fixture are above the model's limit.
    expected: [
      'What the user said before this conversation was summarized',
      RULE,
      'opencode export ses_',
      'memory_read',
    ],
    archives: true,
    turns: (rule) => [
      ['sh', '-c', 'PROGRAM import "$HOME/session.json"'],
      ['PROGRAM', 'run', '--model', 'mock/mock', '--session', OPENCODE_SESSION, ...rule.split(' ')], // it puts an argument with spaces into quotes
      ['PROGRAM', 'run', '--model', 'mock/mock', '--session', OPENCODE_SESSION, 'Go on.'],
    ],
  },
];
