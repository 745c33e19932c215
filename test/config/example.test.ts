import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 as Ajv } from 'ajv/dist/2020.js';
import { parse } from 'smol-toml';
import { parseConfig } from '../../src/config/parse.ts';
import { resolveSettings } from '../../src/config/resolve.ts';
import { type ConfigFile, DEFAULT_SETTINGS, joinConfig, SETTINGS, splitUntrusted } from '../../src/config/settings.ts';
import { CONFIG_FILES } from '../support/config-files.ts';
import { configOf, NO_CONFIG, surroundingsOf } from './fakes.ts';

const example = readFileSync(new URL('../../config.toml.example', import.meta.url), 'utf8');
const host = surroundingsOf({ workingFolder: '/w' });

const keysOf = (values: object): readonly string[] =>
  Object.entries(values).flatMap(([table, keys]) => Object.keys(keys).map((key) => `${table}.${key}`));

const DEFAULT_LINE = /^# (?=[a-z_]+ = )/gm;
const EXAMPLE_LINE = /^#: (?=["a-z_-]+ = )/gm;

function parsed(text: string) {
  const result = parseConfig(text, '/w/compact.toml');
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

test('the example file sets nothing unless a line is uncommented', () => {
  const { values } = parsed(example);
  assert.deepEqual(
    Object.values(values).filter((table) => Object.keys(table).length > 0),
    [],
  );
});

test('uncommenting every default changes nothing', () => {
  const { values, lines } = parsed(example.replace(DEFAULT_LINE, ''));
  const config = configOf(values, { path: '/w/compact.toml', lines });
  const withAll = resolveSettings({ config, flags: {}, host });
  const without = resolveSettings({ config: NO_CONFIG, flags: {}, host });
  assert.deepEqual(withAll, without);
});

test('every key is in the example once: with its default if it has one, else with an example', () => {
  const withDefault = keysOf(parsed(example.replace(DEFAULT_LINE, '')).values);
  const withExample = keysOf(parsed(example.replace(EXAMPLE_LINE, '')).values).filter(
    (key) => !key.startsWith('prices'),
  );
  const unset = Object.entries(DEFAULT_SETTINGS).flatMap(([table, keys]) =>
    Object.entries(keys).flatMap(([key, value]) => (value === null ? [`${table}.${key}`] : [])),
  );
  // Its default depends on something else.
  const dependent = ['archive.path'];
  assert.deepEqual(withExample.toSorted(), unset.filter((key) => !dependent.includes(key)).toSorted());
  assert.deepEqual([...withDefault, ...withExample].toSorted(), keysOf(DEFAULT_SETTINGS).toSorted());
});

for (const { name, build } of CONFIG_FILES) {
  test(`${name} is what the settings give (node test/support/config-files.ts writes it)`, () => {
    assert.equal(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'), build());
  });
}

const validate = new Ajv({ allowUnionTypes: true }).compile(
  JSON.parse(readFileSync(new URL('../../config.schema.json', import.meta.url), 'utf8')),
);

test('the JSON Schema takes every key of the example', () => {
  const everything = parse(example.replaceAll(/^#:? (?=["a-z_-]+ = )/gm, ''));
  assert.deepEqual(Object.keys(everything), [...Object.keys(SETTINGS), 'prices']);
  assert.ok(validate(everything), JSON.stringify(validate.errors));
});

test('the JSON Schema refuses what the program refuses, and takes what it takes', () => {
  for (const [text, isRight] of [
    ['[summarization]\nkeep_recent = "30k"', true],
    ['[summarization]\nkeep_recent = -1', false],
    ['[summarization]\nkeep_recent = "many"', false],
    ['[summarization]\nkeep_recents = 1', false],
    ['[summarization]\nprovider = "none"', false],
    ['[summarization]\ncontext_budget = 0', false],
    ['[summarization]\ncontext_budget = 1', true],
    ['[summarization]\nbase_url = "localhost"', false],
    ['[summarization]\nrules = "one"', false],
    ['[embedding]\ndimensions = 8193', false],
    ['[privacy]\nredact = 1', false],
    ['[prices]\n"m" = { input = 1 }', false],
    ['[other]', false],
  ] as const) {
    assert.equal(validate(parse(text)), isRight, text);
    assert.equal(parseConfig(text, 'c').ok, isRight, text);
  }
});

/** A file that sets every key there is. */
function everything(): ConfigFile {
  return parsed(example.replaceAll(/^#:? (?=["a-z_-]+ = )/gm, '')).values;
}

test('of every setting there is, the numbers of [summarization] alone apply without trust', () => {
  const { values, refused } = splitUntrusted(everything());
  const numbers = Object.entries(everything().summarization ?? {}).flatMap(([key, value]) =>
    typeof value === 'number' ? [`summarization.${key}`] : [],
  );
  assert.deepEqual(keysOf(values), numbers);
  assert.deepEqual(
    keysOf(DEFAULT_SETTINGS)
      .filter((key) => !numbers.includes(key))
      .toSorted(),
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
  return splitUntrusted(parsed(`[summarization]\n${text}\n`).values);
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
