import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitCommandLine, VALUE_FLAGS } from '../../src/cli/command-word.ts';
import { archiveCommand } from '../../src/cli/commands/archive.ts';
import { compactCommand } from '../../src/cli/commands/compact.ts';
import { configCommand } from '../../src/cli/commands/config.ts';
import { mcpCommand } from '../../src/cli/commands/mcp.ts';
import { restoreCommand } from '../../src/cli/commands/restore.ts';
import { scanCommand } from '../../src/cli/commands/scan.ts';
import { schemaCommand } from '../../src/cli/commands/schema.ts';
import { scoreCommand } from '../../src/cli/commands/score.ts';
import { searchCommand } from '../../src/cli/commands/search.ts';
import { showCommand } from '../../src/cli/commands/show.ts';
import { verifyCommand } from '../../src/cli/commands/verify.ts';

test('flags may stand before the command', () => {
  const split = splitCommandLine(['--json', '--archive', 'a.db', 'score', 'f', '--explain']);
  assert.deepEqual(split, {
    command: 'score',
    rest: ['--json', '--archive', 'a.db', 'f', '--explain'],
    isOpen: false,
  });
});

test("a flag's value is no command, however it is called", () => {
  assert.deepEqual(splitCommandLine(['-o', 'score', 'f']), { command: null, rest: ['-o', 'score', 'f'], isOpen: true });
});

test('only the first word can be a command', () => {
  assert.deepEqual(splitCommandLine(['f', 'score']), { command: null, rest: ['f', 'score'], isOpen: true });
  assert.deepEqual(splitCommandLine(['-', 'score']), { command: null, rest: ['-', 'score'], isOpen: true });
});

test('after -- there are files only', () => {
  assert.deepEqual(splitCommandLine(['--', 'score']), { command: null, rest: ['--', 'score'], isOpen: false });
});

test('the flags that take a value are exactly those of the commands', () => {
  const definitions = [
    compactCommand,
    scoreCommand,
    scanCommand,
    restoreCommand,
    verifyCommand,
    searchCommand,
    showCommand,
    archiveCommand,
    mcpCommand,
    configCommand,
    schemaCommand,
  ];
  const flags = definitions.flatMap((definition) =>
    definition.flags.flatMap((flag) => (flag.flags.endsWith('>') ? (flag.flags.match(/-[-\w]+/g) ?? []) : [])),
  );
  assert.deepEqual([...new Set(flags)].toSorted(), [...VALUE_FLAGS].toSorted());
});
