import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '../../../src/cli/run.ts';
import { err, ok } from '../../../src/core/result.ts';
import { folderWith } from '../../support/folders.ts';
import { compactReport } from '../fake-reports.ts';
import { createFakeTerminal, createFakeUseCases, type TerminalOptions } from '../fakes.ts';
import { jsonLines } from '../../support/program.ts';

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

test('a folder that is named as one is made for a single transcript too, but not for a dry run', async (t) => {
  const folder = folderWith(t, { 'x.jsonl': '' });
  const made = join(folder, 'new/deep');
  await told(['-n', join(folder, 'x.jsonl'), '-o', `${made}/`]);
  assert.equal(existsSync(made), false);
  await told([join(folder, 'x.jsonl'), '-o', `${made}/`]);
  assert.equal(existsSync(made), true);
});

test('an error that nobody expected is of one transcript alone, and is told as a bug', async (t) => {
  const folder = folderWith(t, { 'a.jsonl': '', 'b.jsonl': '' });
  const terminal = createFakeTerminal(['--json', folder]);
  const { loadUseCases } = createFakeUseCases({
    compactFile: async ({ input: { name } }) => {
      if (name.endsWith('a.jsonl')) throw new TypeError('x is not a function');
      return ok(compactReport({ file: name }));
    },
  });
  assert.equal(await run({ terminal, loadUseCases }), 1);
  const results = jsonLines(terminal.out()).map(({ result, error }) => [result, error?.kind]);
  assert.deepEqual(results, [
    ['failed', 'bug'],
    ['compacted', undefined],
  ]);
  assert.match(terminal.errors(), /a\.jsonl: This is a bug in compact; .*\nTypeError: x is not a function\n/);
});

test('an interrupted run tells how many transcripts it left', async (t) => {
  const folder = folderWith(t, { 'a.jsonl': '', 'b.jsonl': '', 'c.jsonl': '' });
  const terminal = createFakeTerminal([folder]);
  const { loadUseCases } = createFakeUseCases({
    compactFile: async ({ input: { name } }) => {
      if (name.endsWith('a.jsonl')) return ok(compactReport({ file: name }));
      terminal.interrupt();
      return err({ kind: 'interrupted' });
    },
  });
  assert.equal(await run({ terminal, loadUseCases }), 130);
  assert.match(terminal.errors(), /^3 transcripts: 1 compacted, 2 not done; /m);
});
