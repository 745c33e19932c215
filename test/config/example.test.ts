import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseConfig } from '../../src/config/parse.ts';
import { resolveSettings } from '../../src/config/resolve.ts';
import { configFileSchema } from '../../src/config/schema.ts';
import { DEFAULT_SETTINGS } from '../../src/config/settings.ts';
import { configOf, NO_CONFIG, surroundingsOf } from './fakes.ts';

const example = readFileSync(new URL('../../config.toml.example', import.meta.url), 'utf8');
const surroundings = surroundingsOf({ workingFolder: '/w' });

const DEFAULT_LINE = /^# (?=[a-z_]+ = )/gm;
const EXAMPLE_LINE = /^#: (?=["a-z_-]+ = )/gm;

function parsed(text: string) {
  const result = parseConfig(text, '/w/compact.toml');
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

test('the example sets nothing as it stands', () => {
  const { values } = parsed(example);
  assert.deepEqual(
    Object.values(values).filter((table) => Object.keys(table).length > 0),
    [],
  );
});

test('uncommenting every default changes nothing', () => {
  const { values, lines } = parsed(example.replace(DEFAULT_LINE, ''));
  const config = configOf(values, { path: '/w/compact.toml', lines });
  const withAll = resolveSettings({ config, flags: {}, surroundings });
  const without = resolveSettings({ config: NO_CONFIG, flags: {}, surroundings });
  assert.deepEqual(withAll, without);
});

test('every key is in the example once: with its default if it has one, else with an example', () => {
  const keysOf = (values: object): readonly string[] =>
    Object.entries(values).flatMap(([table, keys]) => Object.keys(keys).map((key) => `${table}.${key}`));
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

test('the schema knows exactly the keys that have a place in the settings', () => {
  const known = Object.entries(configFileSchema.shape).map(([table, schema]) => {
    const inner = schema.unwrap();
    return [table, 'shape' in inner ? Object.keys(inner.shape) : []];
  });
  const settings = Object.entries(DEFAULT_SETTINGS).map(([table, keys]) => [table, Object.keys(keys)]);
  assert.deepEqual(known, settings);
});
