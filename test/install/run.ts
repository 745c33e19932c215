import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Installs the program as a user does, into folders of its own, and uses it there. Needs the network, so it is not a part of `npm test`:
 * npm run test:install
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const workshop = mkdtempSync(join(tmpdir(), 'compact-install-'));
process.on('exit', () => rmSync(workshop, { recursive: true, force: true }));

/** PATH of the user's shell: without what npm adds while it runs this. */
const shellPath = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !/node_modules\/\.bin|node-gyp-bin/.test(folder));

/** The environment of a shell in which `first` stands at the head of PATH; npm's own variables are gone. */
function environment(...first: readonly string[]): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
  return {
    ...Object.fromEntries(kept),
    PATH: [...first, dirname(process.execPath), ...shellPath].join(delimiter),
    XDG_DATA_HOME: join(workshop, 'data'),
    XDG_CONFIG_HOME: join(workshop, 'config'),
  };
}

function npm(folder: string, ...argv: readonly string[]): string {
  console.log(`  npm ${argv.join(' ')}`);
  return execFileSync('npm', argv, {
    cwd: folder,
    env: environment(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The files of the working tree, as a clone would have them. */
function cloneTo(name: string): string {
  const clone = join(workshop, name);
  const listed = execFileSync('git', ['ls-files', '-coz', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
  for (const path of listed.split('\0').filter((one) => one !== '')) cpSync(join(root, path), join(clone, path));
  return clone;
}

/** Compacts a session with a command line of the shell, and pastes the command that is printed for getting it back. */
function use(command: string, place: { readonly cwd: string; readonly path: readonly string[] }): void {
  const folder = mkdtempSync(join(workshop, 'use-'));
  const session = join(folder, 'my session.jsonl');
  const fixture = join(root, 'fixtures/transcripts/claude-code/session.jsonl');
  cpSync(fixture, session);
  const shell = (line: string) =>
    spawnSync('sh', ['-c', line], { cwd: place.cwd, env: environment(...place.path), encoding: 'utf8' });
  const compacted = shell(`${command} '${session}'`);
  assert.equal(compacted.status, 0, compacted.stderr);
  const printed = /^ {2}restore +(.*)$/m.exec(compacted.stderr)?.[1] ?? '';
  const restored = shell(printed);
  assert.equal(restored.status, 0, `${printed}\n${restored.stderr}`);
  assert.deepEqual(readFileSync(join(folder, 'my session.restored.jsonl')), readFileSync(fixture));
  console.log(`  ok: ${printed}`);
}

console.log(`npm ${npm(root, '--version').trim()}; from a clone after npm ci:`);
const clone = cloneTo('clone');
npm(clone, 'ci');
const linked = join(workshop, 'linked');
npm(clone, 'install', '-g', '.', '--prefix', linked);
use('compact', { cwd: workshop, path: [join(linked, 'bin')] });

console.log('npx in the clone:');
use('npx compact', { cwd: clone, path: [] });

// That the tarball itself can be installed is proved by `npm run release`.
const tarball = join(clone, npm(clone, 'pack', '--silent').trim().split('\n').at(-1) ?? '');

console.log('an unpacked tarball:');
const unpacked = join(workshop, 'unpacked');
mkdirSync(unpacked);
execFileSync('tar', ['-xzf', tarball, '-C', unpacked]);
npm(join(unpacked, 'package'), 'install');
use('node ./package/bin/compact.js', { cwd: unpacked, path: [] });

console.log('a tarball in a project:');
const project = join(workshop, 'project');
mkdirSync(project);
npm(project, 'init', '-y');
npm(project, 'install', tarball);
use('./node_modules/.bin/compact', { cwd: project, path: [] });

console.log('from a clone without npm ci:');
const fresh = cloneTo('fresh');
const early = join(workshop, 'early');
npm(fresh, 'install', '-g', '.', '--prefix', early);
const first = spawnSync(join(early, 'bin/compact'), ['--formats'], { env: environment(), encoding: 'utf8' });
if (first.status === 0) use('compact', { cwd: workshop, path: [join(early, 'bin')] });
else {
  // Newer versions of npm run no script of a global install that they were not told to trust.
  assert.equal(first.stderr, `compact: not built yet. Run: cd ${fresh} && npm ci\n`);
  npm(fresh, 'ci');
  use('compact', { cwd: workshop, path: [join(early, 'bin')] });
}
console.log('all installs work');
