import { writeFileSync } from 'node:fs';
import { buildExample, describeSetting, PRICES_DOC, TABLES } from '../../src/config/settings.ts';
import { type Form, namesOfChoice, type Setting } from '../../src/config/setting.ts';

/** Writes what is generated from the settings: `node test/support/config-files.ts`. A test holds the committed files equal to it. */
export const CONFIG_FILES: readonly { readonly name: string; readonly build: () => string }[] = [
  { name: 'config.toml.example', build: buildExample },
  { name: 'config.schema.json', build: () => `${JSON.stringify(buildJsonSchema(), null, 2)}\n` },
];

function buildJsonSchema(): object {
  const price = { type: 'number', minimum: 0 };
  const prices = {
    type: 'object',
    description: PRICES_DOC,
    additionalProperties: tableOf({ input: price, output: price }, ['input', 'output']),
  };
  const tables = TABLES.map(([table, keys]): [string, object] => {
    const entries = Object.entries(keys).map(([key, setting]): [string, object] => [key, propertyOf(setting)]);
    return [table, tableOf(Object.fromEntries(entries))];
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'The configuration of compact',
    ...tableOf({ ...Object.fromEntries(tables), prices }),
  };
}

function tableOf(properties: object, required: readonly string[] = []): object {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }), additionalProperties: false };
}

function propertyOf(setting: Setting): object {
  return {
    description: describeSetting(setting),
    ...(setting.default === null ? {} : { default: setting.default }),
    ...typeOf(setting.form),
  };
}

function typeOf(form: Form): object {
  switch (form.kind) {
    case 'whole-number':
      // A string must be a count such as "30k"; which one, only the program knows.
      return { type: ['integer', 'string'], minimum: form.min, maximum: form.max, pattern: '^[\\d_,.]+ ?[kKmMgG]?$' };
    case 'number':
      return {
        type: 'number',
        exclusiveMinimum: form.above,
        minimum: form.above === undefined ? form.min : undefined,
        maximum: form.max,
      };
    case 'boolean':
      return { type: 'boolean' };
    case 'strings':
      return { type: 'array', items: { type: 'string', minLength: 1 } };
    case 'choice':
      return { enum: namesOfChoice(form) };
    case 'url':
      return { type: 'string', pattern: '^https?://' };
    default:
      return { type: 'string', minLength: 1 };
  }
}

if (import.meta.main) {
  for (const { name, build } of CONFIG_FILES) writeFileSync(new URL(`../../${name}`, import.meta.url), build());
}
