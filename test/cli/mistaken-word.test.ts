import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { listGroups } from '../../src/cli/commands/table.ts';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { runIn } from '../support/program.ts';

const TALK = chatTranscript(9);

/** Runs the program in a folder of transcripts, and tells whether anything was touched. */
function placeWith(t: TestContext, files: Readonly<Record<string, string>> = {}) {
  const folder = folderWith(t, { 'x.jsonl': TALK, 'logs/y.jsonl': TALK, ...files });
  const state = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .toSorted()
      .map((name) => [name, name.endsWith('l') ? readFileSync(join(folder, name), 'utf8') : '']);
  const before = state();
  return {
    folder,
    isUntouched: () => assert.deepEqual(state(), before),
    compact: (...args: readonly string[]) =>
      runIn(folder, args, { homeFolder: '/nowhere', environment: { XDG_DATA_HOME: join(folder, 'data') } }),
  };
}

const NO_COMMAND = (word: string, rest: string): string =>
  `compact: '${word}' is neither a command nor a file, so nothing was done. ${rest} Try 'compact --help'.\n`;
const NAMES = listGroups().flatMap(({ rows }) => rows.map(([name]) => name));
const ALL = `The commands are ${NAMES.join(', ')}.`;

for (const [line, stderr] of [
  ['status -i x.jsonl', NO_COMMAND('status', "Did you mean 'compact batch status'?")],
  ['-i status x.jsonl', NO_COMMAND('status', "Did you mean 'compact batch status'?")],
  ['-i frobnicate logs x.jsonl', NO_COMMAND('frobnicate', ALL)],
  ['frobnicate --archive a.db -i x.jsonl', NO_COMMAND('frobnicate', ALL)],
  ['-nj 2 veryfy x.jsonl', NO_COMMAND('veryfy', "Did you mean 'compact verify'?")],
  ['--json -i status x.jsonl', NO_COMMAND('status', "Did you mean 'compact batch status'?")],
  ['status --files-from list', NO_COMMAND('status', "Did you mean 'compact batch status'?")],
  ['trust -i x.jsonl', NO_COMMAND('trust', "Did you mean 'compact config trust'?")],
  ['compct -i x.jsonl', NO_COMMAND('compct', "Did you mean 'compact run'?")],
  ['6b6f42 -i x.jsonl', NO_COMMAND('6b6f42', 'The id of a session needs at least 8 digits.')],
  ['sessions', NO_COMMAND('sessions', "Did you mean 'compact scan'?")],
  ['revert -i x.jsonl', NO_COMMAND('revert', "Did you mean 'compact undo'?")],
  ['-i x.jsonl delete', NO_COMMAND('delete', "Did you mean 'compact archive erase --match TEXT'?")],
  ['free 1GB', NO_COMMAND('free', "Did you mean 'compact capture --remove --older-than 90d'?")],
  ['shw -i x.jsonl', NO_COMMAND('shw', "Did you mean 'compact show'?")],
  [
    '-i typo.jsonl x.jsonl',
    "compact: typo.jsonl: no such file or folder, so nothing was done. Try 'compact --help'.\n",
  ],
  [
    '-i x.jsonl 6b6f4218',
    "compact: there is no file 6b6f4218, and no session whose id begins with it ('compact scan' lists them). Try 'compact --help'.\n",
  ],
  ['-i nolog/ x.jsonl', "compact: nolog/: no such file or folder, so nothing was done. Try 'compact --help'.\n"],
  ['-i q*.jsonl x.jsonl', "compact: q*.jsonl: no file matches, so nothing was done. Try 'compact --help'.\n"],
  ['-i x.jsonl status', NO_COMMAND('status', "Did you mean 'compact batch status'?")],
  ['x.jsonl verify -o out', NO_COMMAND('verify', "Did you mean 'compact verify'?")],
  ['-i logs x.jsonl frobnicate -- y.jsonl', NO_COMMAND('frobnicate', ALL)],
] as const) {
  test(`'compact ${line}' touches nothing`, async (t) => {
    const { compact, isUntouched } = placeWith(t, { list: 'x.jsonl\n' });
    const { code, stdout, stderr: said } = await compact(...line.split(' '));
    assert.deepEqual([code, stdout, said], [2, '', stderr]);
    isUntouched();
  });
}

test('an empty word, which a script makes of a variable that is not set, touches nothing', async (t) => {
  const { compact, isUntouched } = placeWith(t);
  assert.equal((await compact('-i', '', 'x.jsonl')).code, 2);
  isUntouched();
});

for (const [what, toml] of [
  ['nobody has trusted', '[archive]\npath = "x.db"\n'],
  ['is wrong', '[archive]\npth = "x.db"\n'],
] as const) {
  test(`a wrong first word is reported before a configuration that ${what}`, async (t) => {
    const { compact, isUntouched } = placeWith(t, { 'compact.toml': toml });
    const { code, stderr } = await compact('frobnicate', '-i', 'x.jsonl');
    assert.deepEqual([code, stderr], [2, NO_COMMAND('frobnicate', ALL)]);
    isUntouched();
  });
}

test('a wrong first word is reported before a model that cannot be used', async (t) => {
  const { compact, isUntouched } = placeWith(t);
  const { code, stderr } = await compact('--provider', 'anthropic', '--model', 'm', 'frobnicate', '-i', 'x.jsonl');
  assert.deepEqual([code, stderr], [2, NO_COMMAND('frobnicate', ALL)]);
  isUntouched();
});

test('a file is a file, however it is called', async (t) => {
  // The last one could also be the id of a session.
  const { compact, folder } = placeWith(t, { status: TALK, search: TALK, '6b6f4218': TALK });
  assert.equal((await compact('-i', 'status')).code, 0);
  assert.equal((await compact('run', '-i', 'search')).code, 0);
  assert.equal((await compact('-i', '6b6f4218')).code, 0);
  for (const name of ['status', 'search', '6b6f4218']) assert.notEqual(readFileSync(join(folder, name), 'utf8'), TALK);
});

for (const line of [
  '-i x.jsonl typo.jsonl',
  'run -i typo.jsonl x.jsonl',
  '-i -- typo.jsonl x.jsonl',
  '-i x.jsonl -- typo.jsonl',
]) {
  test(`'compact ${line}' names files alone: the one that is missing fails, and the other is done`, async (t) => {
    const { compact, folder } = placeWith(t);
    const { code, stderr } = await compact(...line.split(' '));
    assert.equal(code, 1);
    assert.match(stderr, /^typo\.jsonl: no such file or folder\. Check the path\.$/m);
    assert.notEqual(readFileSync(join(folder, 'x.jsonl'), 'utf8'), TALK);
  });
}

for (const line of ['run -i x.jsonl status', '-i x.jsonl -- status']) {
  test(`'compact ${line}' ends in the name of a file that is missing, which is no command`, async (t) => {
    const { compact, folder } = placeWith(t);
    const { code, stderr } = await compact(...line.split(' '));
    assert.equal(code, 1);
    assert.match(stderr, /^status: no such file or folder\. Check the path\.$/m);
    assert.notEqual(readFileSync(join(folder, 'x.jsonl'), 'utf8'), TALK);
  });
}

test('a later word that is a file is one, however it is called', async (t) => {
  const { compact, folder } = placeWith(t, { status: TALK });
  assert.equal((await compact('-i', 'x.jsonl', 'status')).code, 0);
  assert.notEqual(readFileSync(join(folder, 'status'), 'utf8'), TALK);
});

test('a name in a list is no command, and one that is missing fails alone', async (t) => {
  const { compact, folder } = placeWith(t, { list: 'status\nx.jsonl\n' });
  const { code, stderr } = await compact('-i', '--files-from', 'list');
  assert.equal(code, 1);
  assert.match(stderr, /^status: no such file or folder/m);
  assert.notEqual(readFileSync(join(folder, 'x.jsonl'), 'utf8'), TALK);
});

test('what a list names and is no transcript is skipped, as in a folder', async (t) => {
  const { compact, folder } = placeWith(t, { list: 'x.jsonl\nnotes.jsonl\n' });
  writeFileSync(join(folder, 'notes.jsonl'), 'Dear diary\n');
  const { code, stderr } = await compact('-i', '--files-from', 'list');
  assert.equal(code, 0);
  assert.match(stderr, /^notes\.jsonl: skipped, not a transcript: it looks like plain text$/m);
  assert.match(stderr, /^2 transcripts: 1 compacted, 1 skipped \(1 no transcript\)$/m);
  assert.equal((await compact('-i', 'notes.jsonl')).code, 1);
});
