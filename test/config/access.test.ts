import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type EmbeddingAccess,
  isLoopback,
  type ModelAccess,
  resolveEmbeddingAccess,
  resolveModelAccess,
} from '../../src/config/access.ts';
import type { ConfigPlace, Environment } from '../../src/config/find.ts';
import { resolveSettings, type SettingFlags } from '../../src/config/resolve.ts';
import type { ConfigFile } from '../../src/config/settings.ts';
import type { Result } from '../../src/core/result.ts';
import { configOf, surroundingsOf } from './fakes.ts';

type Asked = {
  readonly file?: ConfigFile;
  readonly place?: ConfigPlace;
  readonly flags?: NonNullable<SettingFlags['summarization']>;
  readonly environment?: Environment;
  readonly isDryRun?: boolean;
};

function access({
  file = {},
  place = 'user',
  flags,
  environment = {},
  isDryRun = false,
}: Asked): Result<ModelAccess | null, string> {
  const config = configOf(file, { place });
  const all: SettingFlags = flags === undefined ? {} : { summarization: flags };
  const host = surroundingsOf({ environment });
  const settings = resolveSettings({ config, flags: all, host });
  return resolveModelAccess({ settings, config, flags: all, environment, isDryRun });
}

function given(asked: Asked): ModelAccess {
  const result = access(asked);
  assert.ok(result.ok && result.value !== null, JSON.stringify(result));
  return result.value;
}

function errorIn(result: Result<unknown, string>): string {
  return result.ok ? `no refusal: ${JSON.stringify(result.value)}` : result.error;
}

const refusal = (asked: Asked): string => errorIn(access(asked));

const anthropic = { summarization: { provider: 'anthropic', name: 'some-model' } } as const;
const compatible = (base_url?: string) =>
  ({
    summarization: { provider: 'openai-compat', name: 'm', ...(base_url === undefined ? {} : { base_url }) },
  }) as const;

test('the offline provider needs nothing, whatever keys are in the environment', () => {
  assert.deepEqual(access({ environment: { ANTHROPIC_API_KEY: 'k' } }), { ok: true, value: null });
});

test('each provider has its own host and the variable of its key', () => {
  const environment = { ANTHROPIC_API_KEY: 'a-key', OPENAI_API_KEY: 'o-key' };
  assert.deepEqual(given({ file: anthropic, environment }), {
    provider: 'anthropic',
    model: 'some-model',
    baseUrl: 'https://api.anthropic.com',
    apiKey: 'a-key',
    redactsSecrets: true,
  });
  assert.deepEqual(
    [given({ file: openai, environment }).baseUrl, given({ file: openai, environment }).apiKey],
    ['https://api.openai.com/v1', 'o-key'],
  );
  assert.match(refusal({ file: compatible(), environment }), /needs the URL of its API: give one with --base-url/);
  const ollama = given({ file: { summarization: { provider: 'ollama', name: 'm' } }, environment });
  assert.deepEqual([ollama.baseUrl, ollama.apiKey], ['http://localhost:11434/v1', null]);
});

const openai = { summarization: { provider: 'openai', name: 'm' } };

test('no model, no key, a variable that is not set: said before anything is asked', () => {
  assert.match(
    refusal({ file: { summarization: { provider: 'anthropic' } } }),
    /needs a model: give its name with --model/,
  );
  assert.match(refusal({ file: anthropic }), /needs a key: set ANTHROPIC_API_KEY/);
  assert.match(refusal({ file: anthropic, environment: { ANTHROPIC_API_KEY: '  ' } }), /needs a key/);
  const named = { summarization: { ...anthropic.summarization, api_key_env: 'MY_KEY' } };
  assert.match(
    refusal({ file: named, environment: { ANTHROPIC_API_KEY: 'k' } }),
    /MY_KEY for the key, but that variable is not set/,
  );
  assert.equal(given({ file: named, environment: { MY_KEY: 'mine' } }).apiKey, 'mine');
});

test('a dry run needs no key, and all else that a run does', () => {
  const isDryRun = true;
  const named = { summarization: { ...anthropic.summarization, api_key_env: 'MY_KEY' } };
  assert.deepEqual(
    [anthropic, named].map((file) => given({ file, isDryRun }).apiKey),
    [null, null],
  );
  assert.match(refusal({ file: { summarization: { provider: 'ollama' } }, isDryRun }), /needs a model/);
});

test('a model or a URL that would not be used is refused on the command line, and may stand in the file', () => {
  const stem = "the provider 'extractive' works offline and has no models, so ";
  const advice = ' would do nothing: add --provider anthropic|openai|openai-compat|ollama';
  assert.equal(refusal({ flags: { name: 'm' } }), `${stem}--model${advice}`);
  assert.equal(
    refusal({ flags: { name: 'm', base_url: 'http://x.example' } }),
    `${stem}--model and --base-url${advice}`,
  );
  assert.deepEqual(access({ file: { summarization: { name: 'm' } } }), { ok: true, value: null });
});

test('a length that would limit nothing is refused on the command line, with the one that does', () => {
  assert.match(refusal({ flags: { max_summary_tokens: 9 } }), /use --summary-tokens$/);
  assert.match(refusal({ flags: { summary_tokens: 9, chunk_size: 5 } }), /use --max-summary-tokens$/);
  assert.match(refusal({ file: anthropic, flags: { summary_tokens: 9 } }), /use --max-summary-tokens$/);
  for (const flags of [{ summary_tokens: 9 }, { max_summary_tokens: 9, chunk_size: 5 }])
    assert.deepEqual(access({ flags }), { ok: true, value: null });
});

test('a URL with a name and a password, which no client would take, is refused without showing them', () => {
  const problem = refusal({ file: compatible('https://me:hunter2@other.example/v1') });
  assert.equal(
    problem,
    "the URL 'https://…@other.example/v1' must not contain a user name or password: give the key in OPENAI_API_KEY",
  );
  const typed = refusal({
    file: { summarization: { provider: 'ollama', name: 'm' } },
    flags: { base_url: 'me:hunter2@x' },
  });
  assert.equal(typed, "'…@x' is not an http or https URL: give one with --base-url");
});

test('another server than the provider’s own may want no key', () => {
  assert.equal(given({ file: compatible('http://10.0.0.7:8000/v1') }).apiKey, null);
});

test('a key of the file’s own is used before any of the environment', () => {
  const file = { summarization: { ...anthropic.summarization, api_key: 'own' } };
  assert.equal(given({ file, environment: { ANTHROPIC_API_KEY: 'k' } }).apiKey, 'own');
});

test('this machine is localhost, and an address that leads nowhere else: secrets are masked for all others', () => {
  const environment = { OPENAI_API_KEY: 'o-key' };
  const isMasked = (url: string): boolean => given({ file: compatible(url), environment }).redactsSecrets;
  const own = ['http://localhost:1234/v1', 'http://127.0.0.1:8080', 'http://[::1]:8080/v1', 'http://0x7f.1/v1'];
  const others = [
    'http://evil.localhost/v1',
    'http://a.b.localhost:1234',
    'http://localhost.:1234/v1',
    'http://localhost.evil.example/v1',
    'http://127.0.0.1.evil.example',
    'http://0.0.0.0/v1',
    'http://[::ffff:127.0.0.1]/v1',
  ];
  assert.deepEqual([...own, ...others].map(isMasked), [...own.map(() => false), ...others.map(() => true)]);
});

test('a socket of this machine is recognized by its address', () => {
  const addresses = [
    '127.0.0.1',
    '127.8.8.8',
    '::1',
    '::ffff:127.0.0.1',
    '::',
    '0.0.0.0',
    '10.0.0.1',
    '::ffff:10.0.0.1',
  ];
  assert.deepEqual(addresses.filter(isLoopback), addresses.slice(0, 4));
});

test('a host that the command line names is taken before that of the file', () => {
  const flags = { base_url: 'https://other.example/v1' };
  const environment = { OPENAI_API_KEY: 'o-key' };
  assert.equal(given({ file: compatible('https://evil.example'), flags, environment }).baseUrl, flags.base_url);
});

test('the user’s own files may name any host', () => {
  const environment = { OPENAI_API_KEY: 'o-key' };
  for (const place of ['user', 'flag', 'environment'] as const)
    assert.equal(given({ file: compatible('https://other.example'), place, environment }).apiKey, 'o-key');
});

test('secrets are masked for other machines unless the file says no, and for this one if it says yes', () => {
  const local = compatible('http://localhost:1234/v1');
  const remote = compatible('https://other.example/v1');
  const masks = (file: ConfigFile): boolean => given({ file }).redactsSecrets;
  assert.deepEqual([masks(local), masks(remote)], [false, true]);
  assert.deepEqual(
    [masks({ ...local, privacy: { redact: true } }), masks({ ...remote, privacy: { redact: false } })],
    [true, false],
  );
});

function embeddingAccess(
  embedding: NonNullable<ConfigFile['embedding']>,
  { environment = {} }: { readonly environment?: Environment } = {},
): Result<EmbeddingAccess | null, string> {
  const config = configOf({ embedding });
  const host = surroundingsOf({ environment });
  const settings = resolveSettings({ config, flags: {}, host });
  return resolveEmbeddingAccess({ settings, config, environment, isDryRun: false });
}

const embeddingRefusal = (...asked: Parameters<typeof embeddingAccess>): string => errorIn(embeddingAccess(...asked));

const OLLAMA = { provider: 'ollama', model: 'tiny' } as const;
const OPENAI = { provider: 'openai', model: 'small' } as const;

test('without a provider no service is called, even if the environment has a key', () => {
  assert.deepEqual(embeddingAccess({}, { environment: { OPENAI_API_KEY: 'k' } }), { ok: true, value: null });
  assert.match(embeddingRefusal({ model: 'tiny' }), /names the model 'tiny' but no provider/);
  assert.match(embeddingRefusal({ provider: 'ollama' }), /the provider 'ollama' but no model/);
});

test('ollama is asked on this machine, without a key and with what secrets there are', () => {
  const value = {
    ...OLLAMA,
    dimensions: 64,
    baseUrl: 'http://localhost:11434/v1',
    apiKey: null,
    redactsSecrets: false,
  };
  assert.deepEqual(embeddingAccess({ ...OLLAMA, dimensions: 64 }), { ok: true, value });
});

test("OpenAI's own host needs a key, from the variable by custom or the one that is named, and gets no secrets", () => {
  const value = {
    ...OPENAI,
    dimensions: null,
    baseUrl: 'https://api.openai.com/v1',
    apiKey: 'k',
    redactsSecrets: true,
  };
  assert.deepEqual(embeddingAccess(OPENAI, { environment: { OPENAI_API_KEY: ' k ' } }), { ok: true, value });
  assert.deepEqual(embeddingAccess({ ...OPENAI, api_key_env: 'MINE' }, { environment: { MINE: 'k' } }), {
    ok: true,
    value,
  });
  assert.match(embeddingRefusal(OPENAI), /needs a key: set OPENAI_API_KEY/);
  assert.match(
    embeddingRefusal({ ...OPENAI, api_key_env: 'MINE' }),
    /names MINE for the key, but that variable is not set/,
  );
});
