import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '../../../src/cli/run.ts';
import { folderWith } from '../../support/folders.ts';
import { createFakeTerminal, createFakeUseCases } from '../fakes.ts';
import type { TerminalOptions } from '../fakes.ts';

async function told(argv: readonly string[], options: TerminalOptions = {}): Promise<string> {
  const terminal = createFakeTerminal(argv, options);
  assert.equal(await run({ terminal, loadUseCases: createFakeUseCases().loadUseCases }), 0);
  return terminal.errors();
}

test('the command that restores names the archive that a named configuration chose', async (t) => {
  const folder = folderWith(t, { 'x.jsonl': '', 'chosen.toml': '[archive]\npath = "mine.db"\n', 'plain.toml': '' });
  const path = join(folder, 'x.jsonl');
  const archive = join(folder, 'mine.db');
  assert.ok((await told([path, '--config', join(folder, 'chosen.toml')])).includes(`restore --archive ${archive} `));
  assert.ok(!(await told([path, '--config', join(folder, 'plain.toml')])).includes('--archive'));
});

test('the command that restores can be typed by who has the program from npx alone', async (t) => {
  const path = join(folderWith(t, { 'x.jsonl': '' }), 'x.jsonl');
  assert.match(await told([path], { environment: { npm_command: 'exec' } }), /restore {3}npx compact restore /);
});

test('a folder that is named as one is made for a single transcript too, but not for a dry run', async (t) => {
  const folder = folderWith(t, { 'x.jsonl': '' });
  const made = join(folder, 'new/deep');
  await told(['-n', join(folder, 'x.jsonl'), '-o', `${made}/`]);
  assert.equal(existsSync(made), false);
  await told([join(folder, 'x.jsonl'), '-o', `${made}/`]);
  assert.equal(existsSync(made), true);
});
