import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveEmbeddingAccess } from '../../src/config/embedding-access.ts';
import type { EmbeddingAccess } from '../../src/config/embedding-access.ts';
import type { ConfigPlace, Environment } from '../../src/config/find.ts';
import { resolveSettings } from '../../src/config/resolve.ts';
import type { ConfigFile } from '../../src/config/schema.ts';
import type { Result } from '../../src/core/result.ts';

type Asked = {
  readonly place?: ConfigPlace;
  readonly environment?: Environment;
  readonly trustsConfig?: boolean;
  readonly privacy?: ConfigFile['privacy'];
};

function access(
  embedding: NonNullable<ConfigFile['embedding']>,
  { place = 'user', environment = {}, trustsConfig = false, privacy }: Asked = {},
): Result<EmbeddingAccess | null, string> {
  const values: ConfigFile = { embedding, ...(privacy === undefined ? {} : { privacy }) };
  const config = { file: { path: '/p/compact.toml', place, lines: { lineOf: () => 1 } }, values };
  const surroundings = { environment, workingFolder: '/p', homeFolder: '/h' };
  const settings = resolveSettings({ config, flags: {}, surroundings });
  return resolveEmbeddingAccess({ settings, config, environment, trustsConfig, isDryRun: false });
}

function refusal(...asked: Parameters<typeof access>): string {
  const result = access(...asked);
  return result.ok ? `no refusal: ${JSON.stringify(result.value)}` : result.error;
}

const OLLAMA = { provider: 'ollama', model: 'tiny' } as const;
const OPENAI = { provider: 'openai-compat', model: 'small' } as const;

test('without a provider nobody is asked, even where a key is in the environment', () => {
  assert.deepEqual(access({}, { environment: { OPENAI_API_KEY: 'k' } }), { ok: true, value: null });
  assert.match(refusal({ model: 'tiny' }), /names the model 'tiny' and no provider/);
  assert.match(refusal({ provider: 'ollama' }), /the provider 'ollama' and no model/);
});

test('ollama is asked on this machine, without a key and with what secrets there are', () => {
  const value = {
    ...OLLAMA,
    dimensions: 64,
    baseUrl: 'http://localhost:11434/v1',
    apiKey: null,
    redactsSecrets: false,
  };
  assert.deepEqual(access({ ...OLLAMA, dimensions: 64 }), { ok: true, value });
});

test("OpenAI's own host needs a key, from the variable by custom or the one that is named, and gets no secrets", () => {
  const value = {
    ...OPENAI,
    dimensions: null,
    baseUrl: 'https://api.openai.com/v1',
    apiKey: 'k',
    redactsSecrets: true,
  };
  assert.deepEqual(access(OPENAI, { environment: { OPENAI_API_KEY: ' k ' } }), { ok: true, value });
  assert.deepEqual(access({ ...OPENAI, api_key_env: 'MINE' }, { environment: { MINE: 'k' } }), { ok: true, value });
  assert.match(refusal(OPENAI), /needs a key: set OPENAI_API_KEY/);
  assert.match(refusal({ ...OPENAI, api_key_env: 'MINE' }), /the key is in MINE, and that variable is not set/);
});

test("a project's file may name this machine, but no other host and no other key without a word of the user", () => {
  const project = { place: 'project', environment: { OPENAI_API_KEY: 'k', MINE: 'm' } } as const;
  const far = { ...OPENAI, base_url: 'https://vectors.example/v1' };
  assert.equal(access({ ...OPENAI, base_url: 'http://127.0.0.1:8080/v1' }, project).ok, true);
  assert.match(refusal(far, project), /sent to vectors\.example: give --trust-config/);
  assert.match(refusal({ ...OPENAI, api_key_env: 'MINE' }, project), /the value of MINE sent as a key/);
  assert.match(refusal(OPENAI, { ...project, privacy: { redact: false } }), /with their secrets: give --trust-config/);
  assert.equal(access(far, { ...project, trustsConfig: true }).ok, true);
  assert.equal(access(far, { ...project, place: 'user' }).ok, true);
});
