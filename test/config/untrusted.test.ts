import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseConfig } from '../../src/config/parse.ts';
import { type ConfigFile, DEFAULT_SETTINGS, joinConfig, splitUntrusted } from '../../src/config/settings.ts';

const example = readFileSync(new URL('../../config.toml.example', import.meta.url), 'utf8');

/** A file that sets every key there is. */
function everything(): ConfigFile {
  const parsed = parseConfig(example.replaceAll(/^#:? (?=["a-z_-]+ = )/gm, ''), '/w/compact.toml');
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return parsed.value.values;
}

const keysOf = (values: ConfigFile): readonly string[] =>
  Object.entries(values).flatMap(([table, keys]) => Object.keys(keys).map((key) => `${table}.${key}`));

test('of every setting there is, the numbers of [summarization] alone apply without trust', () => {
  const { values, refused } = splitUntrusted(everything());
  const numbers = Object.entries(everything().summarization ?? {}).flatMap(([key, value]) =>
    typeof value === 'number' ? [`summarization.${key}`] : [],
  );
  assert.deepEqual(keysOf(values), numbers);
  const others = Object.entries(DEFAULT_SETTINGS).flatMap(([table, keys]) =>
    Object.keys(keys).map((key) => `${table}.${key}`),
  );
  assert.deepEqual(
    others.filter((key) => !numbers.includes(key)).toSorted(),
    keysOf(refused)
      .filter((key) => !key.startsWith('prices.'))
      .toSorted(),
  );
  for (const key of ['provider', 'name', 'base_url', 'api_key', 'api_key_env', 'prompt', 'keep_system', 'fallback']) {
    assert.ok(keysOf(refused).includes(`summarization.${key}`), key);
  }
  assert.deepEqual(joinConfig({ values, refused }), everything());
});

function splitText(text: string) {
  const parsed = parseConfig(`[summarization]\n${text}\n`, '/w/compact.toml');
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return splitUntrusted(parsed.value.values);
}

test('a number written as a text applies without trust, as the number that it says', () => {
  const summarization = { model_max_tokens: 200_000, keep_recent: 1000 };
  assert.deepEqual(splitText('model_max_tokens = "200k"\nkeep_recent = "1_000"'), {
    values: { summarization },
    refused: {},
  });
});

test('a text stays a text where no number is meant, even if it reads like one', () => {
  for (const key of ['name', 'prompt', 'api_key', 'api_key_env']) {
    assert.deepEqual(splitText(`${key} = "200k"`), {
      values: { summarization: {} },
      refused: { summarization: { [key]: '200k' } },
    });
  }
});

test('a request may be repeated less often, and not more often, than by default', () => {
  const split = (compaction_max_retries: number) => splitUntrusted({ summarization: { compaction_max_retries } });
  for (const fine of [0, 2]) assert.deepEqual(split(fine).refused, {});
  const refused = { values: { summarization: {} }, refused: { summarization: { compaction_max_retries: 3 } } };
  assert.deepEqual(split(3), refused);
  assert.deepEqual(splitText('compaction_max_retries = "3"'), refused);
  assert.deepEqual(splitText('compaction_max_retries = "2"').refused, {});
});
