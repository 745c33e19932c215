import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMissed } from '../../src/config/origins.ts';
import type { SettingFlags } from '../../src/config/resolve.ts';
import type { SettingsUse } from '../../src/config/setting.ts';
import type { ConfigFile } from '../../src/config/settings.ts';
import { configOf, surroundingsOf } from './fakes.ts';

const ALL: readonly SettingsUse[] = ['selection', 'model', 'archive', 'embedding', 'retention'];

function missed(refused: ConfigFile, uses: readonly SettingsUse[] = ALL, flags: SettingFlags = {}): readonly string[] {
  return findMissed({ config: configOf({}, { refused }), flags, host: surroundingsOf(), uses });
}

const MODEL = { provider: 'ollama', name: 'm', base_url: 'http://h/v1' } as const;

test('a setting that would change what is done is missed, by those who use it', () => {
  const refused: ConfigFile = {
    summarization: { ...MODEL, keep_system: false, important_keywords: ['boat'] },
    transcript: { keep_invalid: true },
    archive: { path: 'a.db' },
    embedding: { provider: 'ollama', model: 'tiny' },
  };
  const selection = ['summarization.keep_system', 'summarization.important_keywords', 'transcript.keep_invalid'];
  const model = ['summarization.provider', 'summarization.name', 'summarization.base_url'];
  const embedding = ['embedding.provider', 'embedding.model'];
  assert.deepEqual(missed(refused), [...model, ...selection, 'archive.path', ...embedding]);
  assert.deepEqual(missed(refused, ['selection']), selection);
  assert.deepEqual(missed(refused, ['model']), model);
  assert.deepEqual(missed(refused, ['archive']), ['archive.path']);
  assert.deepEqual(missed(refused, ['embedding']), embedding);
  assert.deepEqual(missed(refused, []), []);
});

test('what says what applies anyway is not missed', () => {
  const refused: ConfigFile = {
    summarization: { provider: 'extractive', keep_system: true, chunk_order: 'chronological' },
    transcript: { keep_invalid: false },
    archive: { path: '/home/u/.local/share/compact/archive.db' },
  };
  assert.deepEqual(missed(refused), []);
});

test('what a flag says instead is not missed', () => {
  const refused: ConfigFile = { summarization: MODEL, archive: { path: 'a.db' } };
  const flags: SettingFlags = {
    summarization: { provider: 'anthropic', name: 'x', base_url: 'http://mine' },
    archive: { path: 'b.db' },
  };
  assert.deepEqual(missed(refused, ALL, flags), []);
  const offline: SettingFlags = { summarization: { provider: 'extractive' }, archive: { path: 'b.db' } };
  assert.deepEqual(missed(refused, ALL, offline), []);
});

test('what is about a model is not missed where none is named', () => {
  const refused: ConfigFile = {
    summarization: { name: 'm', api_key: 'k', prompt: 'short', fallback: 'extractive', compaction_max_retries: 9 },
    privacy: { redact: true, redact_rules: 'rules.toml' },
    prices: { m: { input: 1, output: 2 } },
  };
  assert.deepEqual(missed(refused), []);
  const named: SettingFlags = { summarization: { provider: 'anthropic' } };
  assert.deepEqual(missed(refused, ALL, named), [
    'summarization.name',
    'summarization.api_key',
    'summarization.prompt',
    'summarization.fallback',
    'summarization.compaction_max_retries',
    'privacy.redact',
    'privacy.redact_rules',
    'prices.m',
  ]);
  const vectors: ConfigFile = { embedding: { provider: 'ollama', model: 'tiny' }, privacy: { redact: true } };
  assert.deepEqual(missed(vectors, ['embedding']), ['embedding.provider', 'embedding.model', 'privacy.redact']);
});
