// Makes src/cli/report-schemas.json of the type `Reports` in src/cli/reports.ts, as a part of the build. While the types stay the same this
// only hashes their files.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TYPES = join(ROOT, 'src/cli/reports.ts');
const OUTPUT = join(ROOT, 'src/cli/report-schemas.json');
/** The hash of what the output was last made of. */
const STAMP = join(ROOT, 'node_modules/.cache/compact/report-schemas');

/** JSON Schemas (2020-12) by the names that `compact schema` takes. */
async function generateSchemas(): Promise<Readonly<Record<string, unknown>>> {
  const { createGenerator } = await import('ts-json-schema-generator');
  const schema = createGenerator({
    path: TYPES,
    tsconfig: join(ROOT, 'src/tsconfig.json'),
    type: 'Reports',
    skipTypeCheck: true, // by the compiler that the generator brings, which is older than the project's
    expose: 'none', // every schema stands by itself
    topRef: false,
    additionalProperties: false,
  }).createSchema('Reports');
  const named = Object.entries(schema.properties ?? {}).map(([name, properties]) => [
    name,
    { $schema: 'https://json-schema.org/draft/2020-12/schema', ...Object(properties) },
  ]);
  return Object.fromEntries(named);
}

/** The file and all that it imports from the sources, each once. */
function sourcesOf(path: string, known = new Set<string>()): ReadonlySet<string> {
  if (known.has(path)) return known;
  known.add(path);
  for (const [, imported = ''] of readFileSync(path, 'utf8').matchAll(/ from '(\.[^']*\.ts)';/g)) {
    sourcesOf(join(dirname(path), imported), known);
  }
  return known;
}

function hashFiles(paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of paths.toSorted()) hash.update(`${relative(ROOT, path)}\n`).update(readFileSync(path));
  return hash.digest('hex');
}

async function build(): Promise<void> {
  const inputs = [...sourcesOf(TYPES), fileURLToPath(import.meta.url), join(ROOT, 'package-lock.json')];
  const isCurrent =
    existsSync(OUTPUT) && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hashFiles([...inputs, OUTPUT]);
  if (isCurrent) return;
  writeFileSync(OUTPUT, `${JSON.stringify(await generateSchemas(), null, 2)}\n`);
  mkdirSync(dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, hashFiles([...inputs, OUTPUT]));
}

await build();
