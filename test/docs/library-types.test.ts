import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderWith } from '../support/folders.ts';

const ROOT = join(import.meta.dirname, '../..');

const MAIN = `import { compactMessages, type ConversationMessage, createCompactor, type CustomModel, openArchive } from 'compact-transcript';
const held: { readonly role: 'user' | 'assistant'; readonly content: string }[] = [];
const { messages, result, error } = await compactMessages(held, { ifOverTokens: 100_000, archive: 'archive.db' });
const next: typeof held = messages;
const message: ConversationMessage = { id: '1', conversation_id: 'c', role: 'user', content: 'x', created_at: null };
const model: CustomModel = {
  name: 'mine',
  complete: async () => ({ content: [], stop_reason: 'end_turn', usage: { input_tokens: 0, output_tokens: 0 } }),
};
console.log(next, result, error?.kind, message, model, createCompactor, openArchive);
`;

test('a strict project that has no other package and checks every declaration compiles with the public types', (t) => {
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    lib: ['es2024', 'dom'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
  };
  const folder = folderWith(t, {
    'main.ts': MAIN,
    'package.json': '{"type":"module"}',
    'tsconfig.json': JSON.stringify({ compilerOptions, files: ['main.ts'] }),
  });
  const installed = join(folder, 'node_modules/compact-transcript');
  mkdirSync(installed, { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(installed, 'package.json'));
  for (const path of globSync('**/*.d.ts', { cwd: join(ROOT, 'dist') }))
    cpSync(join(ROOT, 'dist', path), join(installed, 'dist', path));
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' });
  assert.deepEqual([status, stdout], [0, '']);
});
