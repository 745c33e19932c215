import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseNames } from '../../src/cli/inputs/gather.ts';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folders.ts';
import { createFakeTerminal, createFakeUseCases, type TerminalOptions } from './fakes.ts';

const namesIn = (list: string): readonly string[] => parseNames(Buffer.from(list));

test('a list has one name a line, whatever ends it; blank lines and a byte order mark are no names', () => {
  assert.deepEqual(namesIn('\ufeffa b.jsonl\r\n\n  \n c.jsonl\nd.jsonl'), ['a b.jsonl', ' c.jsonl', 'd.jsonl']);
});

test('where a NUL ends a name, a name may hold line ends', () => {
  assert.deepEqual(namesIn('a\nb.jsonl\0 \0\0c.jsonl'), ['a\nb.jsonl', ' ', 'c.jsonl']);
});

/** The transcripts that a run takes up, in order. */
async function takenUp(args: readonly string[], options: TerminalOptions = {}) {
  const { calls, loadUseCases } = createFakeUseCases();
  const terminal = createFakeTerminal(args, options);
  const code = await run({ terminal, loadUseCases });
  const names = calls.flatMap(({ name, request }) =>
    name !== 'close' && typeof request === 'object' && request !== null && 'input' in request ? [request.input] : [],
  );
  return {
    code,
    errors: terminal.errors(),
    names: names.map((input) => (typeof input === 'object' && input !== null && 'name' in input ? input.name : null)),
  };
}

for (const command of [[], ['verify']]) {
  test(`${command[0] ?? 'compact'} takes the transcripts named in a list after those named on its line`, async (t) => {
    const folder = folderWith(t, { 'a.jsonl': '', 'b.jsonl': '', 'c.jsonl': '' });
    const [a, b, c] = ['a', 'b', 'c'].map((name) => join(folder, `${name}.jsonl`));
    const list = join(folderWith(t, { list: `${a}\n${b}\n` }), 'list');
    const { code, names } = await takenUp([...command, '--files-from', list, c ?? '']);
    assert.deepEqual([code, names], [0, [c, a, b]]);
  });
}

test('a list comes in on standard input, and a name in it is never a pattern', async (t) => {
  const folder = folderWith(t, { 'a.jsonl': '' });
  const stdin = `${join(folder, '*.jsonl')}\n${join(folder, 'a.jsonl')}\n`;
  const { code, names, errors } = await takenUp(['--files-from', '-'], { stdin });
  assert.deepEqual([code, names], [1, [join(folder, 'a.jsonl')]]);
  assert.match(errors, /\*\.jsonl: no such file or folder/);
});

test('a list without names is nothing to do', async () => {
  const { code, names, errors } = await takenUp(['--files-from', '-'], { stdin: '\n' });
  assert.deepEqual([code, names, errors], [0, [], 'standard input: the list is empty; nothing to do.\n']);
});

test('a list that cannot be read is a wrong command line, and nothing is begun', async (t) => {
  const folder = folderWith(t, { 'a.jsonl': '' });
  for (const [list, message] of [
    [join(folder, 'none'), /^compact: --files-from .*none: no such file or folder/],
    [folder, /^compact: --files-from .*: not a file: it is a folder/],
    ['/dev/zero', /^compact: --files-from \/dev\/zero: it is larger than 67 MB/],
  ] as const) {
    const { code, names, errors } = await takenUp(['--files-from', list, join(folder, 'a.jsonl')]);
    assert.deepEqual([code, names], [2, []]);
    assert.match(errors, message);
  }
});

test('a terminal is not read for names', async () => {
  const { code, errors } = await takenUp(['--files-from', '-']);
  assert.equal(code, 2);
  assert.match(errors, /pipe names of transcripts in/);
});
