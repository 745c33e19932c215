import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { run } from '../../src/cli/run.ts';
import type { ModelChoice } from '../../src/compose/services.ts';
import type { Environment } from '../../src/config/find.ts';
import { err, ok, type Result } from '../../src/core/result.ts';
import { folderWith } from '../support/folders.ts';
import { createFakeTerminal, createFakeUseCases, SUMMARIZER } from './fakes.ts';

type Asked = {
  readonly args: readonly string[];
  readonly config?: string;
  /** Whether the configuration is only found in the folder, and not named. */
  readonly isProject?: boolean;
  readonly environment?: Environment;
};
type Told = { readonly code: number; readonly errors: string; readonly choices: readonly ModelChoice[] };

const KEY = 'made-up-key-0123456789';

/** One empty transcript, and a configuration in its folder: what was said, and which models were chosen. */
async function told(
  t: TestContext,
  { args, config = '', isProject = false, environment = {} }: Asked,
  warnings: Result<readonly string[], string> = ok([]),
): Promise<Told> {
  const folder = folderWith(t, { 'x.jsonl': '', 'compact.toml': config });
  const named = isProject ? [] : ['--config', join(folder, 'compact.toml')];
  const argv = [...args, ...named, join(folder, 'x.jsonl')];
  const terminal = createFakeTerminal(argv, { workingFolder: folder, environment });
  const choices: ModelChoice[] = [];
  const { loadUseCases } = createFakeUseCases({
    createSummarizer: async ({ model }) => {
      if (model !== null) choices.push(model);
      return warnings.ok ? ok({ value: SUMMARIZER, warnings: warnings.value }) : warnings;
    },
  });
  const code = await run({ terminal, loadUseCases });
  return { code, errors: terminal.errors().replaceAll(folder, '.'), choices };
}

const HELP = "Try 'compact --help'.\n";

for (const [what, asked, message] of [
  [
    'a missing model',
    { args: ['--provider', 'ollama'] },
    "the provider 'ollama' needs a model: give its name with --model, or as summarization.name in the configuration.",
  ],
  [
    'a missing key',
    { args: ['--provider', 'anthropic', '--model', 'm'] },
    "the provider 'anthropic' needs a key: set ANTHROPIC_API_KEY, or name another variable with api_key_env in the configuration.",
  ],
  [
    'a URL that is none',
    { args: ['--provider', 'ollama', '--model', 'm', '--base-url', 'localhost'] },
    "'localhost' is not an http or https URL: give one with --base-url.",
  ],
  [
    'a model for the offline provider',
    { args: ['--model', 'm'], environment: { ANTHROPIC_API_KEY: KEY } },
    "the provider 'extractive' works offline and has no models, so --model would do nothing: add --provider anthropic|openai|openai-compat|ollama.",
  ],
] satisfies readonly (readonly [string, Asked, string])[]) {
  test(`${what} is one line that says what to do, and nothing is begun`, async (t) => {
    assert.deepEqual(await told(t, asked), { code: 2, errors: `compact: ${message} ${HELP}`, choices: [] });
  });
}

test('a host set by an untrusted project is refused in one line that says what to do', async (t) => {
  const asked = {
    args: ['--provider', 'openai-compat', '--model', 'm'],
    config: '[summarization]\nbase_url = "https://other.example/v1"\n',
    isProject: true,
    environment: { OPENAI_API_KEY: KEY },
  };
  const errors =
    './compact.toml:2: not trusted, so it may not set summarization.base_url, which this run depends on. ' +
    'Read it, then run `compact config trust`, or give --trust-config.\n';
  assert.deepEqual(await told(t, asked), { code: 2, errors, choices: [] });
});

test('an unknown provider in the configuration is refused with its place', async (t) => {
  const { code, errors } = await told(t, { args: [], config: '[summarization]\nprovider = "antropic"\n' });
  assert.equal(code, 2);
  assert.match(errors, /^\.\/compact\.toml:2: summarization\.provider must be one of .* Did you mean "anthropic"\?\n$/);
});

test('what makes a chosen model useless is refused, what only disturbs is said', async (t) => {
  const args = ['--provider', 'ollama', '--model', 'm'];
  const refused = await told(t, { args }, err('rules.toml: line 3 is wrong'));
  assert.deepEqual([refused.code, refused.errors], [2, `compact: rules.toml: line 3 is wrong. ${HELP}`]);
  const warned = await told(t, { args }, ok(['the rule x\u001b is left out']));
  assert.deepEqual([warned.code, warned.errors.split('\n')[0]], [0, 'the rule x\\x1b is left out']);
});

test('the command line chooses over the configuration, and the rules for secrets are found beside it', async (t) => {
  const config = [
    '[summarization]',
    'provider = "anthropic"',
    'name = "other"',
    'fallback = "extractive"',
    'requests_per_minute = 5',
    '[privacy]',
    'redact_rules = "more/rules.toml"',
    '',
  ].join('\n');
  const args = ['--provider', 'openai-compat', '--model', 'm', '--base-url', 'https://other.example/v1'];
  const { choices } = await told(t, { args, config, environment: { OPENAI_API_KEY: KEY } });
  const [choice] = choices;
  assert.ok(choice);
  const { notice: _notice, redactRulesPath, ...rest } = choice;
  assert.match(redactRulesPath ?? '', /^\/.*\/more\/rules\.toml$/);
  assert.deepEqual(rest, {
    provider: 'openai-compat',
    model: 'm',
    baseUrl: 'https://other.example/v1',
    apiKey: KEY,
    redactsSecrets: true,
    limits: { requestsPerMinute: 5, inputTokensPerMinute: null, outputTokensPerMinute: null },
    maxTokensField: null,
    fallsBack: true,
    isDryRun: false,
    asksAgain: false,
  });
});

test('the host of a project is taken with --trust-config', async (t) => {
  const config = '[summarization]\nprovider = "openai-compat"\nname = "m"\nbase_url = "https://other.example/v1"\n';
  const { code, choices } = await told(t, { args: ['--trust-config'], config, isProject: true });
  assert.deepEqual([code, choices.map(({ baseUrl }) => baseUrl)], [0, ['https://other.example/v1']]);
});

test('a dry run chooses a model without a key, and says that it will not be asked', async (t) => {
  const { code, choices } = await told(t, { args: ['-n', '--provider', 'anthropic', '--model', 'm'] });
  assert.deepEqual([code, choices.map(({ apiKey, isDryRun }) => [apiKey, isDryRun])], [0, [[null, true]]]);
});

test('a key is in nothing that is shown of the settings', async (t) => {
  const config = `[summarization]\nprovider = "anthropic"\nname = "m"\napi_key = "${KEY}"\nbase_url = "https://me:${KEY}@other.example/v1"\n`;
  const folder = folderWith(t, { 'compact.toml': config });
  for (const flags of [[], ['--json'], ['-v']]) {
    const environment = { ANTHROPIC_API_KEY: KEY };
    const args = ['config', 'show', '--trust-config', ...flags];
    const terminal = createFakeTerminal(args, { workingFolder: folder, environment });
    assert.equal(await run({ terminal, loadUseCases: createFakeUseCases().loadUseCases }), 0);
    assert.ok(terminal.out().includes('other.example'));
    assert.ok(!`${terminal.out()}${terminal.errors()}`.includes(KEY));
  }
});
