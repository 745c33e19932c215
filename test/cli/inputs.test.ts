import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { linkSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { findInputs } from '../../src/cli/inputs/inputs.ts';
import { folderWith } from '../support/folders.ts';

const rules = { skipsCompacted: true };

async function pathsIn(folder: string, ...operands: readonly string[]) {
  const set = await findInputs(
    operands.map((operand) => join(folder, operand)),
    rules,
  );
  return set.files.map(({ path }) => relative(folder, path));
}

test('a folder gives its transcripts, sorted, from hidden folders too, without our own results', async (t) => {
  const folder = folderWith(t, {
    'b.jsonl': '',
    'a/z.jsonl': '',
    'a/.hidden/y.jsonl': '',
    'b.compact.jsonl': '',
    'notes.txt': '',
    'node_modules/m/x.jsonl': '',
    '.git/x.jsonl': '',
  });
  assert.deepEqual(await pathsIn(folder, ''), ['a/.hidden/y.jsonl', 'a/z.jsonl', 'b.jsonl']);
});

test('a file found in a folder has its path below it, and does not count as named', async (t) => {
  const folder = folderWith(t, { 'd/a/x.jsonl': '' });
  const { files, hasFolder } = await findInputs([join(folder, 'd')], rules);
  const pathInFolder = 'a/x.jsonl';
  assert.deepEqual(files, [
    {
      path: join(folder, 'd/a/x.jsonl'),
      pathInFolder,
      pathInOperand: pathInFolder,
      isNamed: false,
      refusesLinks: true,
    },
  ]);
  assert.equal(hasFolder, true);
});

test('a file that is named is taken whatever its name is', async (t) => {
  const folder = folderWith(t, { 'x.compact.jsonl': '', 'notes.txt': '' });
  assert.deepEqual(await pathsIn(folder, 'x.compact.jsonl', 'notes.txt'), ['x.compact.jsonl', 'notes.txt']);
});

test('a glob gives what it matches, sorted, without our own results', async (t) => {
  const folder = folderWith(t, { 'b.jsonl': '', 'a.jsonl': '', 'a.compact.jsonl': '', 'c.txt': '', 'd.jsonl/': '' });
  assert.deepEqual(await pathsIn(folder, '*.jsonl'), ['a.jsonl', 'b.jsonl']);
});

test('a file that exists is no glob, whatever characters are in its name', async (t) => {
  const folder = folderWith(t, { '[ab]*.jsonl': '', 'a1.jsonl': '' });
  assert.deepEqual(await pathsIn(folder, '[ab]*.jsonl'), ['[ab]*.jsonl']);
});

test('a glob that matches nothing is a problem, as a missing file is', async (t) => {
  const folder = folderWith(t, {});
  const set = await findInputs([join(folder, '*.jsonl'), join(folder, 'x.jsonl')], rules);
  assert.deepEqual(set.problems, [
    { kind: 'no-match', pattern: join(folder, '*.jsonl') },
    { kind: 'file', failure: { kind: 'not-found', path: join(folder, 'x.jsonl') } },
  ]);
});

test('a folder without transcripts, and a glob of nothing but results, is empty and no problem', async (t) => {
  const folder = folderWith(t, { 'd/x.compact.jsonl': '' });
  const operands = [join(folder, 'd'), join(folder, 'd/*')];
  assert.deepEqual(await findInputs(operands, rules), { files: [], hasFolder: true, empty: operands, problems: [] });
});

test('a file that is named twice, or through a link, is taken once', async (t) => {
  const folder = folderWith(t, { 'x.jsonl': '' });
  symlinkSync(join(folder, 'x.jsonl'), join(folder, 'link.jsonl'));
  assert.deepEqual(await pathsIn(folder, 'x.jsonl', './x.jsonl', 'link.jsonl', ''), ['x.jsonl']);
});

test('links in a folder are not followed, so that none can lead around in a circle', async (t) => {
  const folder = folderWith(t, { 'd/x.jsonl': '' });
  symlinkSync(folder, join(folder, 'd/up'));
  assert.deepEqual(await pathsIn(folder, 'd'), ['d/x.jsonl']);
});

test('two files with the same bytes under two names are two', async (t) => {
  const folder = folderWith(t, { 'x.jsonl': '' });
  linkSync(join(folder, 'x.jsonl'), join(folder, 'y.jsonl'));
  assert.deepEqual(await pathsIn(folder, ''), ['x.jsonl', 'y.jsonl']);
});

test('a broken link is a problem if it is named or matched, and skipped in a folder', async (t) => {
  const folder = folderWith(t, { 'd/x.jsonl': '' });
  const link = join(folder, 'd/gone.jsonl');
  symlinkSync('nowhere', link);
  const problem = { kind: 'file', failure: { kind: 'not-a-file', path: link, is: 'a link to nothing' } };
  for (const operand of [link, join(folder, 'd/g*.jsonl')]) {
    assert.deepEqual((await findInputs([operand], rules)).problems, [problem]);
  }
  const whole = await findInputs([join(folder, 'd')], rules);
  assert.deepEqual([whole.files.length, whole.problems], [1, []]);
});

test('a pipe in a folder is skipped, and a named one is refused when it is opened', async (t) => {
  const folder = folderWith(t, { 'd/x.jsonl': '' });
  const pipe = join(folder, 'd/pipe.jsonl');
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
  assert.deepEqual(await pathsIn(folder, 'd'), ['d/x.jsonl']);
  assert.deepEqual(await pathsIn(folder, 'd/pipe.jsonl'), ['d/pipe.jsonl']);
});

test('a name in a list that is longer than the system takes is a file that cannot be opened', async () => {
  const { files, problems } = await findInputs([], { ...rules, names: [`/tmp/${'x'.repeat(5000)}`] });
  assert.deepEqual([files.length, problems], [1, []]);
});

test('an interruption ends the way through a long list', async () => {
  const interruption = new AbortController();
  const names = Array.from({ length: 100_000 }, (_, at) => `/nowhere/${at}`);
  setImmediate(() => interruption.abort());
  await assert.rejects(findInputs([], { ...rules, names, signal: interruption.signal }));
});
