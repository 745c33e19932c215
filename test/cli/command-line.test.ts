import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { readCommandLine } from '../../src/cli/command-line.ts';
import { COMMAND_NAMES, splitCommandLine } from '../../src/cli/command-word.ts';
import { loadDefinition } from '../../src/cli/commands/load.ts';
import { readPackageVersion } from '../../src/cli/package-version.ts';
import { readPlainLine } from '../../src/cli/plain-line.ts';
import { parseArguments } from '../../src/cli/program.ts';

async function readPlain(argv: readonly string[]) {
  const { command, rest } = splitCommandLine(argv);
  return readPlainLine(rest, await loadDefinition(command));
}

test('what people type every day is read without commander', async () => {
  const lines = [
    'f.jsonl',
    '-n f.jsonl',
    '-i --if-over 100000 sessions',
    '-o out --keep-recent 0 --json a b',
    'score f.jsonl --explain --limit 5 --sort position',
    'restore f.compact.jsonl -o -',
    'verify --no-progress --color never f',
    'config show',
    '- --format chat-lines',
  ];
  for (const line of lines) assert.notEqual(await readPlain(line.split(' ')), null, line);
});

test('what is not plain, or wrong, is left to commander', async () => {
  const lines = [
    'score',
    'score --limit=5 f',
    'score --limit 0 f',
    'score --limit',
    'score --sort name f',
    'score --limit -5 f',
    '-in f',
    '--if-over 5 --if-over-budget f',
    '-o x -i f',
    '-qv f',
    '--jsno f',
    '--help',
    '-V f',
    'restore a b',
    'config list',
    '-- -f',
  ];
  for (const line of lines) assert.equal(await readPlain(line.split(' ')), null, line);
});

test('a line that is read without commander means what commander makes of it', async () => {
  const definitions = await Promise.all(COMMAND_NAMES.map(loadDefinition));
  const flags = definitions.flatMap((definition) =>
    definition.flags.flatMap((flag) => {
      const names = flag.flags.split(/,? /).filter((part) => part.startsWith('-'));
      const values = [...(flag.choices ?? []), '3', '0', 'extractive', 'x', '-', '', '--json'];
      return names.flatMap((name) =>
        flag.flags.endsWith('>') ? values.map((value) => [name, value]) : [[name], [name]],
      );
    }),
  );
  const piece = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...flags) },
    { weight: 2, arbitrary: fc.constantFrom(['f'], ['g.jsonl'], ['-'], ['show'], ['compact']) },
    { weight: 1, arbitrary: fc.constantFrom(['--'], ['--limit=5'], ['-in'], ['-5'], ['--nope'], ['--no-json'], ['']) },
  );
  const line = fc.record({
    command: fc.constantFrom([], ...COMMAND_NAMES.map((name) => [name])),
    pieces: fc.array(piece, { maxLength: 5 }),
  });
  const facts = { version: readPackageVersion(), widthColumns: 80 };
  let plainCount = 0;
  await fc.assert(
    fc.asyncProperty(line, async ({ command, pieces }) => {
      const argv = [...command, ...pieces.flat()];
      if ((await readPlain(argv)) !== null) plainCount += 1;
      assert.deepEqual(await readCommandLine(argv, facts), await parseArguments(argv, facts));
    }),
    { numRuns: 1500 },
  );
  assert.ok(plainCount > 100, `only ${plainCount} lines were plain: the property says nothing`);
});
