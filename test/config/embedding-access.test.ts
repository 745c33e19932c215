import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EmbeddingAccess, resolveEmbeddingAccess } from '../../src/config/access.ts';
import type { Environment } from '../../src/config/find.ts';
import { resolveSettings } from '../../src/config/resolve.ts';
import type { ConfigFile } from '../../src/config/settings.ts';
import type { Result } from '../../src/core/result.ts';
import { configOf, surroundingsOf } from './fakes.ts';

function access(
  embedding: NonNullable<ConfigFile['embedding']>,
  { environment = {} }: { readonly environment?: Environment } = {},
): Result<EmbeddingAccess | null, string> {
  const config = configOf({ embedding });
  const host = surroundingsOf({ environment });
  const settings = resolveSettings({ config, flags: {}, host });
  return resolveEmbeddingAccess({ settings, config, environment, isDryRun: false });
}

function refusal(...asked: Parameters<typeof access>): string {
  const result = access(...asked);
  return result.ok ? `no refusal: ${JSON.stringify(result.value)}` : result.error;
}

const OLLAMA = { provider: 'ollama', model: 'tiny' } as const;
const OPENAI = { provider: 'openai-compat', model: 'small' } as const;

test('without a provider no service is called, even if the environment has a key', () => {
  assert.deepEqual(access({}, { environment: { OPENAI_API_KEY: 'k' } }), { ok: true, value: null });
  assert.match(refusal({ model: 'tiny' }), /names the model 'tiny' but no provider/);
  assert.match(refusal({ provider: 'ollama' }), /the provider 'ollama' but no model/);
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
  assert.match(refusal({ ...OPENAI, api_key_env: 'MINE' }), /names MINE for the key, but that variable is not set/);
});
