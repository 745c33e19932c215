import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

const SRC = join(import.meta.dirname, '../src');

/** Who may import whom: layer → what a file in it may name. `+x` is a package or a node module; `node` any node: module. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  core: ['core'],
  ports: ['ports', 'core'],
  // What the system offers, for everything that touches it.
  system: ['system', 'ports', 'core', 'node'],
  app: ['app', 'ports', 'core'],
  'adapters/archive': [
    'adapters/archive',
    'adapters/runtime',
    'system',
    'ports',
    'core',
    '+zod',
    '+better-sqlite3',
    'node',
  ],
  'adapters/clients': ['adapters/clients', 'system', 'ports', 'core', '+zod', '+jsonc-parser', '+smol-toml', 'node'],
  'adapters/fs': ['adapters/fs', 'system', 'ports', 'core', 'node'],
  'adapters/model': ['adapters/model', 'ports', 'core', '+zod', '+stemmer', 'node'],
  'adapters/archive/postgres': [
    'adapters/archive/postgres',
    'adapters/archive',
    'adapters/runtime',
    'ports',
    'core',
    '+pg',
    '+stemmer',
    'node',
  ],
  'adapters/prices': ['adapters/prices', 'ports', '+@pydantic/genai-prices'],
  'adapters/producer-index': ['adapters/producer-index', 'system', 'ports', 'core', '+better-sqlite3', 'node'],
  'adapters/queue': ['adapters/queue', 'adapters/archive', 'adapters/archive/postgres', 'ports', 'core', '+pg-boss'],
  'adapters/redact': ['adapters/redact', 'system', 'ports', 'core', '+zod', '+smol-toml', 'node'],
  'adapters/runtime': ['adapters/runtime', 'system', 'ports', 'core', 'node'],
  'adapters/transcript': ['adapters/transcript', 'ports', 'core', '+zod', 'node'],
  // Its source is put into pages, so it has nothing but itself.
  browser: [],
  config: ['config', 'system', 'ports', 'core', '+zod', '+smol-toml', '+fastest-levenshtein', 'node'],
  // Where ports meet their adapters.
  compose: [
    'compose',
    'adapters/archive',
    'adapters/clients',
    'adapters/fs',
    'adapters/model',
    'adapters/archive/postgres',
    'adapters/prices',
    'adapters/producer-index',
    'adapters/queue',
    'adapters/redact',
    'adapters/runtime',
    'adapters/transcript',
    'config',
    'system',
    'app',
    'ports',
    'core',
    'node',
  ],
  // Sentences for people, for the command line and the library.
  messages: ['messages', 'compose', 'config', 'system', 'app', 'ports', 'core', '+string-width', 'node'],
  cli: [
    'cli',
    'messages',
    'compose',
    'browser',
    'config',
    'system',
    'app',
    'ports',
    'core',
    '+zod',
    '+fastest-levenshtein',
    'node',
  ],
};

/** Files that may name what their layer may not. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  'adapters/model/anthropic.ts': ['+@anthropic-ai/sdk'],
  'adapters/model/openai-compatible.ts': ['+openai'],
  'cli/mcp/serve.ts': ['+@modelcontextprotocol/server'],
  'cli/commands/work/metrics.ts': ['+prom-client'],
  'adapters/archive/exchange/tables.ts': ['+hyparquet'],
  'adapters/archive/exchange/parquet.ts': ['+hyparquet', '+hyparquet-writer'],
  'adapters/archive/sqlite/extension.ts': ['+sqlite-vec'],
  'adapters/redact/gitleaks/rule.ts': ['+re2js'],
  'cli/render/theme.ts': ['+chalk'],
  'cli/inputs/sessions.ts': ['+@clack/prompts'],
  // The one lock of the system's that Node can have is SQLite's.
  'adapters/fs/file-lock.ts': ['+better-sqlite3'],
};

const layerOf = (file: string): string => {
  if (file.startsWith('adapters/archive/postgres/')) return 'adapters/archive/postgres';
  const parts = file.split('/');
  return parts[0] === 'adapters' ? `adapters/${parts[1]}` : (parts[0] ?? '');
};

function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  return [...text.matchAll(/(?:\bfrom\s+|(?<!')\bimport\s*\(?\s*)'([^'\n]+)'/g)].flatMap((match) => match[1] ?? []);
}

function nameOf(file: string, imported: string): string {
  if (imported.startsWith('node:')) return 'node';
  if (!imported.startsWith('.'))
    return `+${imported
      .split('/')
      .slice(0, imported.startsWith('@') ? 2 : 1)
      .join('/')}`;
  return layerOf(normalize(join(dirname(file), imported)));
}

const files = globSync('**/*.ts', { cwd: SRC }).filter((file) => file.includes('/'));

test('every file imports only what its layer may', () => {
  const violations = files.flatMap((file) => {
    const allowed = [...(ALLOWED[layerOf(file)] ?? []), ...(EXCEPTIONS[file] ?? [])];
    const isCommander = file === 'cli/line/parse.ts';
    const names = importsOf(file).map((imported) => nameOf(file, imported));
    return names
      .filter((name) => !allowed.includes(name) && !(isCommander && name === '+commander'))
      .map((name) => `${file} imports ${name}`);
  });
  assert.deepEqual(violations, []);
});

test('no file imports itself through others, not even with `await import()`', () => {
  const imports = new Map(
    files.map((file) => [
      file,
      importsOf(file)
        .filter((imported) => imported.startsWith('.'))
        .map((imported) => normalize(join(dirname(file), imported))),
    ]),
  );
  const done = new Set<string>();
  const findCycles = (file: string, path: readonly string[]): readonly string[] => {
    const from = path.indexOf(file);
    if (from !== -1) return [[...path.slice(from), file].join(' -> ')];
    if (done.has(file)) return [];
    const found = (imports.get(file) ?? []).flatMap((next) => findCycles(next, [...path, file]));
    done.add(file);
    return found;
  };
  assert.deepEqual(
    files.flatMap((file) => findCycles(file, [])),
    [],
  );
});

test('`process` is named only in the terminal file, in the entry of the other process, and in adapters', () => {
  const naming = files.filter((file) =>
    /\bprocess\./.test(readFileSync(join(SRC, file), 'utf8').replaceAll(/\/\/.*|\/\*[\s\S]*?\*\/|from '.*'/g, '')),
  );
  assert.deepEqual(
    naming.filter(
      (file) => !['cli/terminal/terminal.ts', 'cli/pool/worker.ts'].includes(file) && !file.startsWith('adapters/'),
    ),
    [],
  );
});

/** Modules that open files by themselves, and why; every other file is opened by `system/outside-file.ts`. */
const OPENERS: Readonly<Record<string, string>> = {
  'system/outside-file.ts': 'the reader of files that others write',
  'system/files.ts': 'folders for fsync, and files of our own whose opener says how',
  'adapters/archive/sqlite/create.ts': 'a new archive',
  'adapters/archive/exchange/folder.ts': 'new files of an export',
  'adapters/archive/failure.ts': 'opens a folder to learn why nothing opens',
  'adapters/archive/sqlite/identity.ts': "an archive's first 100 bytes, after SQLite has read it",
  'adapters/archive/sqlite/schema.ts': 'a copy of an archive, made before its schema changes',
  'adapters/fs/decompress.ts': 'an unnamed temporary file',
  'adapters/fs/file-lock.ts': 'a lock',
  'adapters/fs/leftovers.ts':
    'files of our own beside a transcript, and a transcript for appending, opened with O_NOFOLLOW',
  'adapters/fs/open-elsewhere.ts': '/proc',
  'adapters/fs/swap.ts': 'our own new files',
  'adapters/fs/new-file.ts': 'new files',
  'adapters/runtime/node.ts': '/etc/machine-id',
  'cli/commands/config/file.ts': "the user's own configuration, and our copy of it after the editor",
  'cli/hook/rule-notes.ts': 'our own notes',
  'cli/mcp/compact-context.ts': 'holds a file open to know what it is; reads nothing',
  'cli/program-name.ts': "this program's own files",
  'cli/inputs/opencode.ts': 'what OpenCode prints for us, in files of our own',
  'cli/terminal/terminal.ts': 'standard streams and our own log',
  'adapters/archive/sqlite/later.ts': 'our own database',
  'system/package-version.ts': 'our own package',
  'config/trust-store.ts': 'our own list, opened with O_NOFOLLOW',
};

test('files of others are opened by one reader', () => {
  const opening = files.filter((file) =>
    /\b(?:openSync|open|readFileSync|readFile|createReadStream|createInterface)\b[^;]*\bfrom 'node:(?:fs|fs\/promises|readline|readline\/promises)'|\bwithOpenFile\(/.test(
      readFileSync(join(SRC, file), 'utf8'),
    ),
  );
  assert.deepEqual(opening.toSorted(), Object.keys(OPENERS).toSorted());
});

test('the rows of a table are inserted in one place', () => {
  const found = files
    .filter((file) => file.startsWith('adapters/archive/'))
    .flatMap((file) =>
      [
        ...readFileSync(join(SRC, file), 'utf8').matchAll(/INSERT INTO ([a-z_]+) ?\((?!\1)|\.insert\(\s*'([a-z_]+)'/g),
      ].map(([, plain, named]) => ({ file, table: plain ?? named ?? '' })),
    );
  const places = Map.groupBy(found, ({ table }) => table);
  const several = [...places].filter(([, all]) => new Set(all.map(({ file }) => file)).size > 1);
  assert.deepEqual(several, []);
});

test('no pattern has flags within it, which Node 22 does not know', () => {
  const found = files.filter((file) =>
    /\(\?[ims]*-?[ims]+:/.test(readFileSync(join(SRC, file), 'utf8').replaceAll(/^.*Node 22.*$/gm, '')),
  );
  assert.deepEqual(found, []);
});
