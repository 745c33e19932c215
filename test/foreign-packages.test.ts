import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Commands that fetch a package by its name. `compact` on npm is somebody else's, and `compact-transcript` is not published yet. */
const FETCHES = [
  /\bnpx +(?:--?\w|[@\w])[^`'"\n]*/g,
  /\b(?:npm (?:i|install|exec|x)|pnpm (?:add|dlx|i|install)|yarn (?:add|dlx)|bunx|bun add)\b[^`'"\n]*\bcompact(?:-transcript)?\b[^`'"\n]*/g,
];

/** In a clone npx finds this package itself: the quick start is in one, and the program looks before it says so. */
const ALLOWED: { readonly [path: string]: string } = {
  'README.md': 'npx compact fixtures/transcripts/claude-code/session.jsonl',
  'docs/install.md': 'npx compact fixtures/transcripts/claude-code/session.jsonl',
  'src/cli/program-name.ts': 'npx compact',
};

function filesBelow(path: string): readonly string[] {
  return readdirSync(join(root, path), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
}

test("no message, document or script fetches a package that is somebody else's", () => {
  const paths = [
    ...['bin', 'docs', 'src'].flatMap(filesBelow),
    ...readdirSync(root).filter((name) => /\.(?:md|json|example)$/.test(name) && name !== 'package-lock.json'),
  ];
  const found = paths.flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    const hits = FETCHES.flatMap((pattern) => [...text.matchAll(pattern)].map(([hit]) => hit.trim()));
    return hits.filter((hit) => hit !== ALLOWED[path]).map((hit) => `${path}: ${hit}`);
  });
  assert.ok(paths.length > 300);
  assert.deepEqual(found, []);
});
