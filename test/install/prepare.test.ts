import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { folderWith } from '../support/folders.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A program that only notes how it was called. */
const NOTING = '#!/bin/sh\necho "$0 $*" >> "$NOTES"\n';

/** The files that `prepare` looks for. */
const FILES = ['bin', 'package.json', 'tsconfig.json'];
/** What a build needs besides; the types, which the compiler of the test does not write. */
const SOURCES = ['src', '.tsconfig.base.json', 'package-lock.json', 'dist/.types'];

/**
 * Here npm is a fake. Only `npm run test:install` proves that real npm installs the dependencies and calls `prepare`, and that the installed
 * program runs: from a clone, a tarball, and through npx.
 */

/** A copy of the project, and programs on PATH that note whoever asks them for a package. */
function cloneFor(context: TestContext, names: readonly string[] = FILES) {
  const folder = folderWith(context, { 'path/npx': NOTING, 'path/tsc': NOTING, 'npm.js': writingNpm, 'clone/': '' });
  for (const name of ['npx', 'tsc']) chmodSync(join(folder, 'path', name), 0o755);
  const clone = join(folder, 'clone');
  for (const name of names) cpSync(join(root, name), join(clone, name), { recursive: true, preserveTimestamps: true });
  const prepare = (environment: Readonly<Record<string, string>>) =>
    spawnSync(process.execPath, [join(clone, 'bin/prepare.js')], {
      cwd: clone,
      encoding: 'utf8',
      env: {
        PATH: [join(folder, 'path'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
        NOTES: join(folder, 'notes'),
        npm_execpath: join(folder, 'npm.js'),
        ...environment,
      },
    });
  const notes = () => (existsSync(join(folder, 'notes')) ? readFileSync(join(folder, 'notes'), 'utf8') : '');
  return { clone, prepare, notes };
}

/** In the place of npm: notes its arguments, and whether it would install globally. */
const writingNpm = `require('node:fs').appendFileSync(process.env.NOTES, ['npm', ...process.argv.slice(2),
  process.env.npm_config_global ?? 'local', process.env.npm_config_prefix ?? 'no prefix'].join(' '))`;

const globally = { npm_config_global: 'true', npm_config_prefix: '/usr/local', npm_command: 'install' };

test('a global install from a clone builds with the tools of the clone, and fetches none', (t) => {
  const { clone, prepare, notes } = cloneFor(t, [...FILES, ...SOURCES]);
  // All its packages but the compiler, which would take ten seconds to find the same types again.
  const compiler = join(clone, 'node_modules/typescript/bin');
  mkdirSync(compiler, { recursive: true });
  writeFileSync(join(compiler, 'tsc'), "require('node:fs').appendFileSync(process.env.NOTES, __filename)");
  for (const name of readdirSync(join(root, 'node_modules')).filter((one) => one !== 'typescript'))
    symlinkSync(join(root, 'node_modules', name), join(clone, 'node_modules', name));
  const { status, stderr } = prepare(globally);
  assert.deepEqual([status, stderr, notes()], [0, '', join(compiler, 'tsc')]);
  assert.ok(existsSync(join(clone, 'dist/cli/main.js')));
});

test('a global install from a fresh clone installs what it needs in the clone', (t) => {
  const { prepare, notes } = cloneFor(t);
  assert.deepEqual([prepare(globally).status, notes()], [0, 'npm ci local no prefix']);
});

test('nothing is packed without a build', (t) => {
  const { prepare, notes } = cloneFor(t);
  const { status, stderr } = prepare({ npm_command: 'pack' });
  assert.deepEqual([status, notes()], [1, '']);
  assert.match(stderr, /^compact cannot be packed: .*rolldown is missing\. Run `npm ci` first\.\n$/);
});

test('an install without development dependencies uses the existing build', (t) => {
  const { clone, prepare } = cloneFor(t);
  const bare = prepare({ npm_command: 'ci' });
  assert.deepEqual([bare.status, bare.stderr.startsWith('compact is not built: ')], [0, true]);
  cpSync(join(root, 'bin'), join(clone, 'dist'), { recursive: true });
  const built = prepare({ npm_command: 'ci' });
  assert.deepEqual([built.status, built.stderr], [0, '']);
});

test('in an unpacked package, which has no sources, nothing is built', (t) => {
  const { clone, prepare, notes } = cloneFor(t);
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  rmSync(join(clone, 'tsconfig.json'));
  const { status, stderr } = prepare({ npm_command: 'install' });
  assert.deepEqual([status, stderr, notes(), existsSync(join(clone, 'dist'))], [0, '', '', false]);
});

test('the manifest runs no script through npx', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.doesNotMatch(JSON.stringify(scripts), /\bnpx\b|npm exec/);
});
