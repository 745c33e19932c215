import assert from 'node:assert/strict';
import { chmodSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { programName as nameOf } from '../../src/cli/program-name.ts';
import { folderWith } from '../support/folders.ts';

const clone = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const entry = join(clone, 'bin/compact.js');
const node = process.execPath;

function programName(
  environment: NodeJS.ProcessEnv,
  nodePath: string,
  { calledAs = entry, folder = '/' } = {},
): string {
  return nameOf({ environment, nodePath, calledAs, folder });
}

test('a link to this program that the shell finds is called by its name', (t) => {
  const folder = folderWith(t, { 'bin/': '' });
  symlinkSync(entry, join(folder, 'bin/compact'));
  assert.equal(programName({ PATH: `/nowhere${delimiter}${join(folder, 'bin')}` }, node), 'compact');
});

test("a package manager's script that starts this program is called by its name", (t) => {
  const script = '#!/bin/sh\nexec node "$basedir/global/5/node_modules/compact-transcript/bin/compact.js" "$@"\n';
  const folder = folderWith(t, { compact: script });
  chmodSync(join(folder, 'compact'), 0o755);
  assert.equal(programName({ PATH: folder }, node), 'compact');
});

test("where `compact` is somebody else's program, the package's own name is taken", (t) => {
  const folder = folderWith(t, { 'system/compact': '\x7fELF', 'bin/': '' });
  symlinkSync(entry, join(folder, 'bin/compact'));
  symlinkSync(entry, join(folder, 'bin/compact-transcript'));
  const PATH = [join(folder, 'system'), join(folder, 'bin')].join(delimiter);
  assert.equal(programName({ PATH }, node), 'compact-transcript');
});

test("where Windows' own compact.exe comes first, the package's own name is taken, as npm's script has it", (t) => {
  const script = String.raw`"%_prog%" "%dp0%\node_modules\compact-transcript\bin\compact.js" %*`;
  const folder = folderWith(t, {
    'System32/compact.exe': 'MZ',
    'npm/compact': '#!/bin/sh\n',
    'npm/compact.cmd': script,
    'npm/compact-transcript.cmd': script,
  });
  const PATH = [join(folder, 'System32'), join(folder, 'npm')].join(delimiter);
  const PATHEXT = '.COM;.EXE;.BAT;.CMD';
  assert.equal(programName({ PATH, PATHEXT }, node), 'compact-transcript');
  assert.equal(programName({ PATH: join(folder, 'npm'), PATHEXT }, node), 'compact');
});

test('a program that the shell does not find is called by its path', (t) => {
  const folder = folderWith(t, { 'with space/': '' });
  symlinkSync(node, join(folder, 'with space/node'));
  assert.equal(programName({}, '/opt/my node/bin/node'), `'/opt/my node/bin/node' ${entry}`);
  assert.equal(programName({ PATH: join(folder, 'with space') }, node), `node ${entry}`);
});

test('npx is named inside a clone and nowhere else', (t) => {
  const folder = folderWith(t, { 'node_modules/.bin/': '' });
  const byNpx = { npm_command: 'exec', npm_config_local_prefix: clone };
  assert.equal(programName(byNpx, node), 'npx compact');
  // What npm adds to PATH for one command is gone when the next one is typed.
  symlinkSync(entry, join(folder, 'node_modules/.bin/compact'));
  const PATH = join(folder, 'node_modules/.bin');
  assert.equal(programName({ ...byNpx, PATH }, node), 'npx compact');
  for (const npm_config_local_prefix of [folder, '']) {
    assert.equal(programName({ ...byNpx, PATH, npm_config_local_prefix }, node), `${node} ${entry}`);
  }
});

test('in a folder of a clone it is called with npx, even if it was started otherwise', () => {
  assert.equal(programName({}, node, { folder: join(clone, 'docs') }), 'npx compact');
  assert.equal(programName({}, node, { folder: `${clone}-2` }), `${node} ${entry}`);
});

test('a link that was called by its path is called so again', (t) => {
  const folder = folderWith(t, { 'my bin/': '' });
  const link = join(folder, 'my bin/compact');
  symlinkSync(entry, link);
  assert.equal(programName({}, node, { calledAs: link }), `'${link}'`);
  assert.equal(programName({}, node, { calledAs: join(folder, 'other') }), `${node} ${entry}`);
});
