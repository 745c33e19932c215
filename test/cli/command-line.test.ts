import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitCommandLine } from '../../src/cli/line/parse.ts';
import { loadAll } from '../../src/cli/commands/table.ts';

test('flags may stand before the command', async () => {
  const split = await splitCommandLine(['--json', '--archive', 'a.db', 'score', 'f', '--explain']);
  assert.deepEqual(split, {
    command: 'score',
    rest: ['--json', '--archive', 'a.db', 'f', '--explain'],
    isOpen: false,
  });
});

test("a flag's value is no command, however it is called", async () => {
  for (const argv of [
    ['-o', 'score', 'f'],
    ['--limit', 'score', 'f'],
    ['--since', 'show', 'f'],
  ]) {
    assert.deepEqual(await splitCommandLine(argv), { command: null, rest: argv, isOpen: true });
  }
});

test('a flag that no command knows takes no value', async () => {
  assert.deepEqual(await splitCommandLine(['--lmit', 'score', 'f']), {
    command: 'score',
    rest: ['--lmit', 'f'],
    isOpen: false,
  });
});

test('only the first word can be a command', async () => {
  assert.deepEqual(await splitCommandLine(['f', 'score']), { command: null, rest: ['f', 'score'], isOpen: true });
  assert.deepEqual(await splitCommandLine(['-', 'score']), { command: null, rest: ['-', 'score'], isOpen: true });
});

test('after -- there are files only', async () => {
  assert.deepEqual(await splitCommandLine(['--', 'score']), { command: null, rest: ['--', 'score'], isOpen: false });
});

test('a flag that takes a value in one command takes one in every command that has it', async () => {
  const kinds = new Map<string, Set<boolean>>();
  for (const [, command] of await loadAll()) {
    for (const { flags } of command.flags) {
      for (const name of flags.match(/-[-\w]+/g) ?? []) {
        kinds.set(name, (kinds.get(name) ?? new Set()).add(flags.endsWith('>')));
      }
    }
  }
  assert.ok(kinds.size > 30);
  assert.deepEqual(
    [...kinds].filter(([, found]) => found.size > 1).map(([name]) => name),
    [],
  );
});
