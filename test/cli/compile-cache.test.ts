import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { folderWith } from '../support/folders.ts';

// Needs `dist`: `npm test` builds first.
const root = fileURLToPath(new URL('../..', import.meta.url));

type Environment = Readonly<Record<string, string>>;

function ran(program: string, environment: Environment, ...flags: readonly string[]): string {
  return runNode([...flags, program, '--help'], environment);
}

function runNode(args: readonly string[], environment: Environment): string {
  const env = { PATH: process.env['PATH'], ...environment };
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  return stdout + stderr;
}

const OWNED = 'code of somebody else has run';
/** At the top of a module, where V8 compiles everything at once. */
const EVIL = `process.stdout.write('${OWNED}'); process.exit(0);`;

/** An entry of Node's compile cache begins with five 32-bit numbers: magic, size of the source, size of the code, and crc32 of each. */
const SOURCE_SIZE_AT = 4;
const SOURCE_CRC_AT = 12;

type Poisoned = {
  /** A copy of the program, as it was built. */
  readonly program: string;
  /** A compile cache that has other code for one of its modules, as if it were compiled from it. */
  readonly cache: string;
};

const folder = mkdtempSync(join(tmpdir(), 'compact-test-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const { program, cache } = poison();

/** What an attacker does who can write to the folder of the cache, and to nothing else. */
function poison(): Poisoned {
  for (const name of ['bin', 'dist', 'package.json']) cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const [program, module, cache] = [
    join(folder, 'bin/compact.js'),
    join(folder, 'dist/cli/main.js'),
    join(folder, 'made'),
  ];
  const source = readFileSync(module);
  // V8 compares nothing but the number of characters.
  const evil = EVIL.padEnd(source.toString().length);
  writeFileSync(module, evil);
  ran(program, { NODE_COMPILE_CACHE: cache });
  const entry = entryOf(cache, evil);
  assert.ok(entry !== undefined, 'the compile cache has another form now');
  const bytes = readFileSync(entry);
  bytes.writeUInt32LE(source.length, SOURCE_SIZE_AT);
  bytes.writeUInt32LE(crc32(source), SOURCE_CRC_AT);
  writeFileSync(entry, bytes);
  writeFileSync(module, source);
  assert.equal(ran(program, { NODE_COMPILE_CACHE: cache }), OWNED, 'the attack works where such a cache is used');
  return { program, cache };
}

function entryOf(cache: string, source: string | Buffer): string | undefined {
  const paths = readdirSync(cache, { recursive: true, encoding: 'utf8' }).map((name) => join(cache, name));
  return paths.find(
    (path) => lstatSync(path).isFile() && readFileSync(path).readUInt32LE(SOURCE_CRC_AT) === crc32(source),
  );
}

/** A home whose cache folder is the poisoned one. */
function homeWith(t: TestContext, cache: string): { readonly home: string; readonly folder: string } {
  const home = folderWith(t, {});
  const folder = join(home, '.cache/compact');
  mkdirSync(join(home, '.cache'), { mode: 0o700 });
  cpSync(cache, folder, { recursive: true });
  chmodSync(folder, 0o700);
  return { home, folder };
}

test('compiled code that lies in the shared temp folder is not run', (t) => {
  const TMPDIR = folderWith(t, {});
  cpSync(cache, join(TMPDIR, 'node-compile-cache'), { recursive: true });
  const home = folderWith(t, {});
  for (const HOME of [home, '/nowhere']) assert.match(ran(program, { HOME, TMPDIR }), /^Usage: compact /);
  assert.deepEqual(readdirSync(TMPDIR), ['node-compile-cache']);
});

suite('the cache folder of the user', () => {
  test('is made for the user alone, filled and used', (t) => {
    const home = folderWith(t, {});
    assert.match(ran(program, { HOME: home }), /^Usage: compact /);
    const folder = join(home, '.cache/compact');
    assert.deepEqual([lstatSync(folder).mode & 0o777, readdirSync(folder).length], [0o700, 1]);
    assert.equal(ran(program, { HOME: homeWith(t, cache).home }), OWNED, 'what lies in it is used');
  });

  test('has the code of functions that nobody calls while a module is loaded', (t) => {
    const HOME = folderWith(t, {});
    const log = join(HOME, 'v8.log');
    const compilesFunctions = (): boolean => {
      ran(program, { HOME }, '--log-function-events', `--logfile=${log}`, '--no-logfile-per-isolate');
      return /^function,interpreter,.*,parseArguments$/m.test(readFileSync(log, 'utf8'));
    };
    assert.deepEqual([compilesFunctions(), compilesFunctions()], [true, false]);
  });

  test('has the code of the processes that work on single files', (t) => {
    const line = `${JSON.stringify({ role: 'user', content: 'a'.repeat(600_000) })}\n`;
    const HOME = folderWith(t, Object.fromEntries([1, 2, 3, 4].map((name) => [`in/${name}.jsonl`, line])));
    runNode([program, 'verify', '-j', '2', join(HOME, 'in')], { HOME });
    // Only these processes load it.
    const verifying = readdirSync(join(folder, 'dist/chunks')).find((name) => name.startsWith('verify-file-'));
    assert.ok(verifying !== undefined);
    const code = entryOf(join(HOME, '.cache/compact'), readFileSync(join(folder, 'dist/chunks', verifying)));
    assert.notEqual(code, undefined);
  });

  test('follows $XDG_CACHE_HOME, if that is a whole path', (t) => {
    const folder = folderWith(t, { 'home/': '' });
    const [HOME, elsewhere] = [join(folder, 'home'), join(folder, 'caches')];
    ran(program, { HOME, XDG_CACHE_HOME: elsewhere });
    assert.deepEqual([existsSync(join(elsewhere, 'compact')), readdirSync(HOME)], [true, []]);
    ran(program, { HOME, XDG_CACHE_HOME: 'caches' });
    assert.equal(existsSync(join(HOME, '.cache/compact')), true);
  });

  test('is not needed where the environment says otherwise', (t) => {
    const folder = folderWith(t, { 'home/': '' });
    const HOME = join(folder, 'home');
    ran(program, { HOME, NODE_COMPILE_CACHE: join(folder, 'named') });
    ran(program, { HOME, NODE_DISABLE_COMPILE_CACHE: '1' });
    assert.deepEqual([readdirSync(HOME), existsSync(join(folder, 'named'))], [[], true]);
  });

  for (const mode of [0o770, 0o702, 0o1777, 0o755]) {
    test(`is not used with the mode ${mode.toString(8)}`, (t) => {
      const { home, folder } = homeWith(t, cache);
      chmodSync(folder, mode);
      assert.match(ran(program, { HOME: home }), /^Usage: compact /);
    });
  }

  test('is not used in a folder that others can write to', (t) => {
    const { home } = homeWith(t, cache);
    for (const mode of [0o770, 0o1777]) {
      chmodSync(join(home, '.cache'), mode);
      assert.match(ran(program, { HOME: home }), /^Usage: compact /);
    }
  });

  test('is not used where it is a link, or no folder', (t) => {
    const { home, folder } = homeWith(t, cache);
    renameSync(folder, join(home, 'planted'));
    symlinkSync(join(home, 'planted'), folder);
    assert.match(ran(program, { HOME: home }), /^Usage: compact /);
    renameSync(folder, join(home, 'link'));
    writeFileSync(folder, '');
    assert.match(ran(program, { HOME: home }), /^Usage: compact /);
  });

  test('is not used where it is another user’s, or lies in a home of another user’s', (t) => {
    const { home, folder } = homeWith(t, cache);
    // Whoever runs the test: the process believes to be another one.
    const other = ['--import', `data:text/javascript,${encodeURIComponent('process.geteuid = () => 4242;')}`];
    assert.match(ran(program, { HOME: home }, ...other), /^Usage: compact /);
    const empty = folderWith(t, {});
    assert.match(ran(program, { HOME: empty }, ...other), /^Usage: compact /);
    assert.deepEqual(readdirSync(empty), [], 'nothing is made in the home of another user');
    if (process.geteuid?.() !== 0) return;
    chownSync(folder, 65_534, 65_534);
    assert.match(ran(program, { HOME: home }), /^Usage: compact /);
  });
});
