import { describeForm, type Form, type Setting } from './setting.ts';
import { TABLES } from './settings.ts';

const MAX_LINE_CHARS = 120;

const HEAD = `# The configuration of compact: every key with its meaning, unit, range and default. A line that begins with "# key ="
# shows the default, so removing the "# " changes nothing. A line that begins with "#: key =" is an example for a key
# that has no default.
#
# Read from: --config FILE, else $COMPACT_CONFIG, else compact.toml in the working folder or a parent of it up to the
# repository's root, else $XDG_CONFIG_HOME/compact/config.toml (~/.config/compact/config.toml). Flags win over this file.
# Until you trust a compact.toml with \`compact config trust\`, only the numbers in its [summarization] apply.
# \`compact config show\` prints what applies and where each value comes from. A whole number may be a string: "30k", "1.5M".
# \`compact config set KEY VALUE\` changes one line and keeps the others; config.schema.json helps editors.
`;

export const PRICES_DOC = 'What a model costs, per million tokens, in any currency.';

/** A configuration file in which every key is a comment. */
export function buildExample(): string {
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
  return `${wrap(describeSetting(setting)).join('\n')}\n${line}\n`;
}

/** "The length of a chunk. (messages, 1 or more)" */
export function describeSetting({ doc, unit, form, untrusted }: Setting): string {
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
