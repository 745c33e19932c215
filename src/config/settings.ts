import {
  age,
  database,
  describeForm,
  type FileValueOf,
  type Form,
  oneOf,
  path,
  secret,
  type Setting,
  size,
  text,
  url,
  type ValueOf,
  wholeNumber,
  yesOrNo,
} from './setting.ts';
import { SUMMARIZATION } from './summarization.ts';

/** More than any model returns, and more than the index of vectors can hold. */
const MAX_DIMENSIONS = 8192;

/**
 * Every key of the configuration, by table, in display order. The types below, the defaults, the zod schema, `config
 * show`, config.toml.example and config.schema.json all derive from it. [prices] is separate, because its keys are
 * model names.
 */
export const SETTINGS = {
  summarization: SUMMARIZATION,
  transcript: {
    keep_invalid: yesOrNo({
      default: false,
      doc: 'Whether lines that are not JSON are carried along byte for byte, instead of being an error.',
    }),
    min_idle_minutes: wholeNumber({
      min: 0,
      default: 10,
      unit: 'minutes',
      doc: 'How long a transcript that was found in a folder must not have changed before it is replaced, where the system does not tell whether a program has it open (macOS, Windows). 0: it may be replaced at once.',
    }),
  },
  rules: {
    chats: yesOrNo({
      default: false,
      doc: 'Whether your rules are also found in transcripts whose format does not say what a person typed, such as chat lines and exports. A page or a tool could then state rules too: set it only for data that you trust.',
    }),
  },
  archive: {
    path: path({
      default: null,
      usual: '~/.local/share/compact/archive.db',
      uses: ['archive'],
      flag: '--archive',
      doc: "The archive of everything that leaves a transcript: a file, or postgres://user@host/database. Relative to this file's folder; ~ is your home. The default follows $XDG_DATA_HOME.",
    }),
    url: database({
      default: null,
      example: 'postgres://user@host/database',
      uses: ['archive'],
      flag: '--archive',
      doc: 'A Postgres database that keeps the archive instead of `path`. The password comes from PGPASSWORD or ~/.pgpass.',
    }),
    schema: text({
      default: null,
      example: 'team_a',
      uses: ['archive'],
      doc: 'The schema of the Postgres database in which the archive and its queue are, instead of `compact`: several teams can share a database. A URL with `?schema=NAME` goes first.',
    }),
    index: oneOf(['on-search', 'at-once', 'never'], {
      default: 'on-search',
      doc: 'When what is stored gets into the search index, which takes as long as compacting: when somebody searches, after each run, or only by `compact archive index`.',
    }),
  },
  capture: {
    on_search: yesOrNo({
      default: false,
      uses: ['archive'],
      doc: 'Whether `compact search` first captures what is new in the folders of the clients.',
    }),
  },
  retention: {
    older_than: age({
      default: null,
      example: '180d',
      uses: ['retention'],
      doc: 'What `compact archive prune` does without flags; nothing else prunes. Conversations that were last archived longer ago than this, or before this day, go: 180d, 26w, 6mo, 1y, 2026-03-02.',
    }),
    max_size: size({
      default: null,
      example: '20GB',
      uses: ['retention'],
      doc: "The oldest conversations go until the archive's file is about this large.",
    }),
    keep_last: wholeNumber({
      min: 0,
      default: 0,
      unit: 'conversations',
      uses: ['retention'],
      doc: 'The newest conversations that stay in any case.',
    }),
  },
  embedding: {
    provider: oneOf(['openai', 'openai-compat', 'ollama'], {
      default: null,
      example: 'ollama',
      uses: ['embedding'],
      doc: 'Search by meaning: who turns texts into vectors. Without it, the archive is searched by words.',
    }),
    model: text({
      default: null,
      example: 'some-embedding-model',
      uses: ['embedding'],
      doc: 'The embedding model.',
    }),
    base_url: url({
      default: null,
      example: 'http://localhost:11434/v1',
      uses: ['embedding'],
      doc: 'Where the model is. The defaults are those of [summarization].',
    }),
    dimensions: wholeNumber({
      min: 1,
      max: MAX_DIMENSIONS,
      default: null,
      example: 768,
      unit: 'numbers',
      uses: ['embedding'],
      doc: 'The length of a vector, for a model that offers several. After a change of model or length, run `compact archive embed`.',
    }),
    api_key: secret({
      default: null,
      example: '…',
      uses: ['embedding'],
      doc: 'The API key. It is safer in the environment: OPENAI_API_KEY, or the variable that api_key_env names.',
    }),
    api_key_env: text({
      default: null,
      example: 'MY_KEY',
      uses: ['embedding'],
      doc: 'The environment variable that holds the API key.',
    }),
    requests_per_minute: wholeNumber({
      min: 1,
      default: null,
      example: 500,
      unit: 'requests',
      uses: ['embedding'],
      doc: "The service's limit.",
    }),
    input_tokens_per_minute: wholeNumber({
      min: 1,
      default: null,
      example: 1_000_000,
      unit: 'tokens',
      uses: ['embedding'],
      doc: "The service's limit on what is sent.",
    }),
  },
  privacy: {
    redact: yesOrNo({
      default: true,
      uses: ['model', 'embedding'],
      doc: 'Whether secrets are masked in what is sent to a model. Not set: only for models on other machines. The archive keeps the original.',
    }),
    redact_rules: path({
      default: null,
      example: 'gitleaks.toml',
      uses: ['model', 'embedding'],
      doc: "More rules for that, in gitleaks' format. Relative to this file's folder; ~ is your home.",
    }),
  },
} as const;

/** The same as a list, for what treats all keys alike. */
export const TABLES = Object.entries<Readonly<Record<string, Setting>>>(SETTINGS);

type Tables = typeof SETTINGS;
type TableName = keyof Tables;

/** What a model costs, per million tokens, in any currency. */
type Prices = { readonly [model: string]: { readonly input: number; readonly output: number } };

/** The settings that apply, by the tables and keys of the file. Null: not set, without a default. */
export type Settings = {
  readonly [T in TableName]: { readonly [K in keyof Tables[T]]: ValueOf<Tables[T][K]> };
} & { readonly prices: Prices };

export type SummarizationSettings = Settings['summarization'];

export type ConfigFile = {
  readonly [T in TableName]?: { readonly [K in keyof Tables[T]]?: FileValueOf<Tables[T][K]> };
} & { readonly prices?: Prices };

/** Derived from `SETTINGS`, which has the same tables and keys. */
export const DEFAULT_SETTINGS = {
  ...mapSettings((setting) => setting.default),
  prices: {},
} as Settings;

/** What `work` gives for each key, by table and key. */
export function mapSettings<V>(
  work: (setting: Setting, table: string, key: string) => V,
): Readonly<Record<string, Readonly<Record<string, V>>>> {
  return Object.fromEntries(
    TABLES.map(([table, keys]) => [
      table,
      Object.fromEntries(Object.entries(keys).map(([key, setting]) => [key, work(setting, table, key)])),
    ]),
  );
}

/** Null: there is no such key, or it is a model's name in [prices]. */
export function findSetting(path: readonly string[]): Setting | null {
  return path.length < 2 ? null : ((valueAt(SETTINGS, path.slice(0, 2)) as Setting | undefined) ?? null);
}

/** The value at a path of tables and keys; undefined: there is none. */
export function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined,
    root,
  );
}

/** The settings of a file that apply, and those that need trust. */
type SplitConfig = { readonly values: ConfigFile; readonly refused: ConfigFile };

/**
 * Splits what a project's file sets. Without trust only settings marked `untrusted` apply; none of those decides what
 * is sent, or where to.
 */
export function splitUntrusted(config: ConfigFile): SplitConfig {
  const values = pick(config, (path, value) => isHarmless(path, value));
  return { values: { summarization: {}, ...values }, refused: pick(config, (path, value) => !isHarmless(path, value)) };
}

function isHarmless(path: readonly string[], value: unknown): boolean {
  const setting = findSetting(path);
  if (setting?.untrusted === undefined) return false;
  return setting.untrusted === 'any' || Number(value) <= Number(setting.default);
}

function pick(config: ConfigFile, isPicked: (path: readonly string[], value: unknown) => boolean): ConfigFile {
  const tables = Object.entries<object>(config).map(([table, keys]): [string, object] => {
    const entries: readonly [string, unknown][] = Object.entries(keys);
    return [table, Object.fromEntries(entries.filter(([key, value]) => isPicked([table, key], value)))];
  });
  return Object.fromEntries(tables.filter(([, keys]) => Object.keys(keys).length > 0));
}

/** Undoes `splitUntrusted`. */
export function joinConfig({ values, refused }: SplitConfig): ConfigFile {
  const [kept, added]: readonly (readonly [string, object][])[] = [Object.entries(values), Object.entries(refused)];
  const tables = Map.groupBy([...(kept ?? []), ...(added ?? [])], ([table]) => table);
  return Object.fromEntries(
    Array.from(tables, ([table, parts]) => [table, Object.assign({}, ...parts.map(([, keys]) => keys))]),
  );
}

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
