import { writeFileSync } from 'node:fs';
import { describeForm, type Form, type Setting } from '../../src/config/setting.ts';
import { SETTINGS } from '../../src/config/settings.ts';

/** Writes what is generated from the settings: `node test/support/config-files.ts`. A test holds the committed files equal to it. */
export const CONFIG_FILES: readonly { readonly name: string; readonly build: () => string }[] = [
  { name: 'config.toml.example', build: buildExample },
  { name: 'config.schema.json', build: () => `${JSON.stringify(buildJsonSchema(), null, 2)}\n` },
];

const MAX_LINE_CHARS = 120;

const HEAD = `# The configuration of compact: every key with its meaning, unit, range and default. A line that begins with "# key ="
# shows the default, so removing the "# " changes nothing. A line that begins with "#: key =" is an example for a key
# that has no default.
#
# Read from: --config FILE, else $COMPACT_CONFIG, else compact.toml in the working folder or a parent of it up to the
# repository's root, else $XDG_CONFIG_HOME/compact/config.toml (~/.config/compact/config.toml). Flags win over this file.
# Until you trust a compact.toml with \`compact config trust\`, only the numbers in its [summarization] apply.
# \`compact config show\` prints what applies and where each value comes from. A whole number may be a string: "30k", "1.5M".
# This file is generated from src/config; config.schema.json says the same to an editor.
`;

const PRICES_DOC = 'What a model costs, per million tokens, in any currency.';

const TABLES = Object.entries<Readonly<Record<string, Setting>>>(SETTINGS);

function buildExample(): string {
  const tables = TABLES.map(([table, keys]) => {
    const entries = Object.entries(keys).map(([key, setting]) => exampleOf(key, setting));
    return `[${table}]\n${entries.join('\n')}`;
  });
  const prices = `[prices]\n# ${PRICES_DOC}\n#: "some-model" = { input = 1.0, output = 5.0 }\n`;
  return [HEAD, ...tables, prices].join('\n');
}

function exampleOf(key: string, setting: Setting): string {
  const value = setting.default ?? setting.usual;
  const line = value === undefined ? `#: ${key} = ${toml(setting.example)}` : `# ${key} = ${toml(value)}`;
  return `${wrap(describe(setting)).join('\n')}\n${line}\n`;
}

/** "The length of a chunk. (messages, 1 or more)" */
function describe({ doc, unit, form, untrusted }: Setting): string {
  const trust = untrusted === 'lower' ? [' An untrusted compact.toml can only lower it.'] : [];
  const facts = [unit ?? [], describeRange(form) ?? []].flat();
  return [doc, ...trust, ...(facts.length === 0 ? [] : [` (${facts.join(', ')})`])].join('');
}

function describeRange(form: Form): string | null {
  if (form.kind === 'choice') return describeForm(form);
  if (form.kind !== 'number' && form.kind !== 'whole-number') return null;
  if ('above' in form && form.above !== undefined) return `above ${form.above}, ${form.max} at most`;
  return form.max === undefined ? `${form.min ?? 0} or more` : `${form.min ?? 0} to ${form.max}`;
}

function wrap(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= MAX_LINE_CHARS)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`# ${word}`);
  }
  return lines;
}

function toml(value: unknown): string {
  return Array.isArray(value) ? `[${value.map(toml).join(', ')}]` : JSON.stringify(value);
}

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
    description: describe(setting),
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
      return { enum: form.choices };
    case 'url':
      return { type: 'string', pattern: '^https?://' };
    default:
      return { type: 'string', minLength: 1 };
  }
}

if (import.meta.main) {
  for (const { name, build } of CONFIG_FILES) writeFileSync(new URL(`../../${name}`, import.meta.url), build());
}
