import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { findKnownFiles } from '../../src/cli/inputs/known-places.ts';
import type { Environment } from '../../src/config/find.ts';
import type { Place } from '../../src/ports/codec.ts';
import { folderWith } from '../support/folders.ts';

const PROJECTS: Place = { variable: 'X_HOME', base: '.x', folder: 'projects/*' };

async function foundIn(homeFolder: string, places: readonly Place[], environment: Environment = {}) {
  const found = await findKnownFiles(places, { environment, homeFolder, workingFolder: homeFolder, userId: null });
  return {
    files: found.files.map(({ path, project }) => [relative(homeFolder, path), project]),
    looked: found.looked.map((path) => relative(homeFolder, path)),
    failures: found.failures,
  };
}

test('transcripts of any depth are found below a place, with the folder that the star matches', async (t) => {
  const home = folderWith(t, {
    '.x/projects/harbor/a.jsonl': '',
    '.x/projects/harbor/deep/b.jsonl': '',
    '.x/projects/harbor/a.compact.jsonl': '',
    '.x/projects/harbor/notes.txt': '',
    '.x/projects/quay/c.jsonl': '',
    '.x/projects/stray.jsonl': '',
    '.x/elsewhere/d.jsonl': '',
  });
  assert.deepEqual(await foundIn(home, [PROJECTS]), {
    files: [
      ['.x/projects/harbor/a.jsonl', 'harbor'],
      ['.x/projects/harbor/deep/b.jsonl', 'harbor'],
      ['.x/projects/quay/c.jsonl', 'quay'],
    ],
    looked: ['.x/projects/*'],
    failures: [],
  });
});

test("the producer's variable moves its place; an empty one does not", async (t) => {
  const home = folderWith(t, { '.x/projects/a/x.jsonl': '', 'moved/projects/b/y.jsonl': '' });
  const filesWith = async (value: string) => (await foundIn(home, [PROJECTS], { X_HOME: value })).files;
  assert.deepEqual(await filesWith(join(home, 'moved')), [['moved/projects/b/y.jsonl', 'b']]);
  assert.deepEqual(await filesWith('~/moved'), [['moved/projects/b/y.jsonl', 'b']]);
  assert.deepEqual(await filesWith('moved'), [['moved/projects/b/y.jsonl', 'b']]);
  assert.deepEqual(await filesWith(''), [['.x/projects/a/x.jsonl', 'a']]);
});

test('a place with a name of its own has files of that name alone', async (t) => {
  const home = folderWith(t, { '.x/s/1/events.jsonl': '', '.x/s/1/other.jsonl': '' });
  const { files, looked } = await foundIn(home, [{ base: '.x', folder: 's', file: 'events.jsonl' }]);
  assert.deepEqual([files, looked], [[['.x/s/1/events.jsonl', null]], ['.x/s/**/events.jsonl']]);
});

test('a place with an ending of its own has files that end so, without our own results', async (t) => {
  const home = folderWith(t, { '.x/a.json': '', '.x/b.jsonl': '', '.x/c.compact.json': '' });
  const { files } = await foundIn(home, [{ base: '.x', folder: '', file: '*.json' }]);
  assert.deepEqual(files, [['.x/a.json', null]]);
});

test('a place that is not there is no failure, and two that are the same are one', async (t) => {
  const other = { ...PROJECTS, base: '.config/x' };
  const home = folderWith(t, { 'moved/projects/a/x.jsonl': '' });
  assert.deepEqual(await foundIn(home, [PROJECTS, other]), {
    files: [],
    looked: ['.x/projects/*', '.config/x/projects/*'],
    failures: [],
  });
  assert.equal((await foundIn(home, [PROJECTS, other], { X_HOME: 'moved' })).files.length, 1);
});

test('a place that is a file, or a link to itself, is a failure and the others are found', async (t) => {
  const home = folderWith(t, { '.x/projects/a/x.jsonl': '', '.y/projects': '' });
  symlinkSync('.z', join(home, '.z'));
  const places = [{ base: '.z', folder: 's/*' }, { base: '.y', folder: 'projects/*' }, PROJECTS];
  const { files, failures } = await foundIn(home, places);
  assert.deepEqual(files, [['.x/projects/a/x.jsonl', 'a']]);
  assert.deepEqual(
    failures.map((failure) => (failure.kind === 'not-a-file' ? failure.is : failure.kind)),
    ['a circle of links', 'a file, not a folder'],
  );
});
