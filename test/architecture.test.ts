import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

const SRC = join(import.meta.dirname, '../src');

/** Who may import whom: layer → what a file in it may name. `+x` is a package or a node module; `node` any node: module. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  core: ['core'],
  ports: ['ports', 'core'],
  app: ['app', 'ports', 'core'],
  'adapters/archive': ['adapters/archive', 'ports', 'core', '+zod', '+better-sqlite3', 'node'],
  'adapters/clients': ['adapters/clients', 'ports', 'core', '+zod', '+jsonc-parser', '+smol-toml', 'node'],
  'adapters/fs': ['adapters/fs', 'ports', 'core', 'node'],
  'adapters/model': ['adapters/model', 'ports', 'core', '+zod', '+stemmer', 'node'],
  'adapters/postgres': ['adapters/postgres', 'adapters/archive', 'ports', 'core', '+pg', '+stemmer', 'node'],
  'adapters/producer-index': ['adapters/producer-index', 'ports', 'core', '+better-sqlite3', 'node'],
  'adapters/redact': ['adapters/redact', 'ports', 'core', '+zod', '+smol-toml', 'node'],
  'adapters/runtime': ['adapters/runtime', 'ports', 'core', 'node'],
  'adapters/transcript': ['adapters/transcript', 'ports', 'core', '+zod', 'node'],
  // Its source is put into pages, so it has nothing but itself.
  browser: [],
  config: ['config', 'core', '+zod', '+smol-toml', '+fastest-levenshtein', 'node'],
  cli: ['cli', 'browser', 'config', 'app', 'ports', 'core', '+zod', '+fastest-levenshtein', '+string-width', 'node'],
};

/** Files that may name what their layer may not. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  'adapters/model/anthropic.ts': ['+@anthropic-ai/sdk'],
  'adapters/model/openai-compatible.ts': ['+openai'],
  'cli/compose-batches.ts': ['adapters/model'],
  'cli/compose.ts': [
    'adapters/archive',
    'adapters/fs',
    'adapters/model',
    'adapters/producer-index',
    'adapters/redact',
    'adapters/runtime',
    'adapters/transcript',
  ],
  'cli/compose-archive.ts': ['adapters/archive', 'adapters/postgres'],
  'cli/compose-install.ts': ['adapters/clients', 'adapters/fs', 'adapters/runtime'],
  'cli/mcp/serve.ts': ['+@modelcontextprotocol/server'],
  'cli/file-threads.ts': ['+tinypool'],
  'adapters/archive/exchange/export-tables.ts': ['+hyparquet'],
  'adapters/archive/exchange/parquet-reader.ts': ['+hyparquet'],
  'adapters/archive/exchange/parquet-writer.ts': ['+hyparquet-writer'],
  'adapters/archive/vectors/extension.ts': ['+sqlite-vec'],
  'adapters/postgres/queue.ts': ['+pg-boss'],
  'adapters/redact/go-pattern.ts': ['+re2js'],
  'cli/render/theme.ts': ['+chalk'],
  // The one lock of the system's that Node can have is SQLite's.
  'adapters/fs/file-lock.ts': ['+better-sqlite3'],
};

const layerOf = (file: string): string => {
  const parts = file.split('/');
  return parts[0] === 'adapters' ? `adapters/${parts[1]}` : (parts[0] ?? '');
};

function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  return [...text.matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*)'([^'\n]+)'/g)].flatMap((match) => match[1] ?? []);
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
    const isCommander = file === 'cli/program.ts';
    const names = importsOf(file).map((imported) => nameOf(file, imported));
    return names
      .filter((name) => !allowed.includes(name) && !(isCommander && name === '+commander'))
      .map((name) => `${file} imports ${name}`);
  });
  assert.deepEqual(violations, []);
});

test('`process` is named only in the terminal file, in the entry of the other process, and in adapters', () => {
  const naming = files.filter((file) =>
    /\bprocess\./.test(readFileSync(join(SRC, file), 'utf8').replaceAll(/\/\/.*|\/\*[\s\S]*?\*\/|from '.*'/g, '')),
  );
  assert.deepEqual(
    naming.filter(
      (file) => !['cli/terminal.ts', 'cli/worker-process-entry.ts'].includes(file) && !file.startsWith('adapters/'),
    ),
    [],
  );
});
