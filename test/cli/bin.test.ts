import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { folderWith } from '../support/folders.ts';

// Needs `dist`: `npm test` builds first.
const program = fileURLToPath(new URL('../../bin/compact.js', import.meta.url));

function ran(...argv: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...argv], {
    encoding: 'utf8',
    input: '',
    env: { PATH: process.env['PATH'] },
  });
  return { status, stdout, stderr };
}

test('the version is that of the package, alone and among other flags', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  for (const argv of [['--version'], ['-V'], ['-V', '-q']]) {
    assert.deepEqual(ran(...argv), { status: 0, stdout: `${version}\n`, stderr: '' });
  }
});

test('a wrong flag is one line on stderr and exit code 2', () => {
  assert.deepEqual(ran('--jsno', 'x'), {
    status: 2,
    stdout: '',
    stderr: "compact: unknown option '--jsno': did you mean --json? Try 'npx compact --help'.\n",
  });
});

test('scoring a small file loads no package', (t) => {
  const folder = folderWith(t, { 'f.jsonl': '{"role":"user","content":"hello"}\n' });
  const report = `import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => (url.includes('/node_modules/') && console.error(url), next(url, context)) });`;
  const watching = ['--import', `data:text/javascript,${encodeURIComponent(report)}`];
  const { status, stderr } = spawnSync(process.execPath, [...watching, program, 'score', join(folder, 'f.jsonl')], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: folder },
    cwd: folder,
  });
  assert.deepEqual([status, stderr], [0, '']);
});

test('commands load few of the sources: one codec, and of the archive only what they use', (t) => {
  const folder = folderWith(t, { 'f.jsonl': '{"role":"user","content":"Hello there."}\n'.repeat(60) });
  const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
  const count = `import { registerHooks } from 'node:module';
    let count = 0;
    registerHooks({ load: (url, context, next) => (url.includes('/src/') && (count += 1), next(url, context)) });
    process.on('exit', () => console.error('sources', count));
    await (await import(${JSON.stringify(main)})).main();`;
  const loaded = (...argv: readonly string[]): number => {
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', count, '--', 'compact', ...argv], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: folder },
      cwd: folder,
    });
    return Number(/sources (\d+)/.exec(stderr)?.[1]);
  };
  const counts = [loaded('score', 'f.jsonl'), loaded('f.jsonl', '-o', 'out.jsonl'), loaded('restore', 'out.jsonl')];
  const bars = [118, 210, 150];
  assert.deepEqual(
    counts.map((number, at) => number > 50 && number <= (bars[at] ?? 0)),
    [true, true, true],
    counts.join(),
  );
});

test('a reader that goes away is no error', async () => {
  const child = spawn(process.execPath, [program, 'schema', 'compact'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += String(chunk);
  });
  const [status] = await once(child, 'close');
  assert.deepEqual([status, errors], [0, '']);
});

test('without a build it says what to do, in a command that can be pasted', (t) => {
  const folder = folderWith(t, {
    "it's a clone/bin/": '',
    "it's a clone/package.json": '{"type":"module","version":"0"}',
  });
  const clone = join(folder, "it's a clone");
  copyFileSync(program, join(clone, 'bin/compact.js'));
  const told = () => spawnSync(process.execPath, [join(clone, 'bin/compact.js'), 'x'], { encoding: 'utf8' });
  const start = `compact: not built yet. Run: cd '${clone.replace("'", "'\\''")}' && `;
  assert.deepEqual([told().status, told().stderr], [1, `${start}npm ci\n`]);
  mkdirSync(join(clone, 'node_modules'));
  assert.deepEqual([told().status, told().stderr], [1, `${start}npm run build\n`]);
});

test('an old Node is told which one is needed, before anything is loaded', (t) => {
  const source = readFileSync(program, 'utf8');
  const folder = folderWith(t, {
    'package.json': '{"type":"module"}',
    'bin/compact.js': source.replaceAll('process.versions.node', "'20.11.1'"),
  });
  const told = (...argv: readonly string[]) =>
    spawnSync(process.execPath, [join(folder, 'bin/compact.js'), ...argv], { encoding: 'utf8' });
  const { status, stdout, stderr } = told('--version');
  assert.deepEqual([status, stdout], [69, '']);
  const start = `compact: needs Node 22.18 or newer, and this is Node 20.11.1 (${process.execPath}). `;
  assert.equal(stderr, `${start}Install a newer one: https://nodejs.org.\n`);
  // A clone has the Node that it needs.
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  const pinned = join(folder, 'node_modules/.bin/node');
  symlinkSync(process.execPath, pinned);
  const withPinned = told('-i', 'my file.jsonl');
  const command = `${pinned} ${join(folder, 'bin/compact.js')} -i 'my file.jsonl'`;
  assert.deepEqual([withPinned.status, withPinned.stderr], [69, `${start}Run: ${command}\n`]);
});

test('the program is written so that an old Node can parse it', () => {
  const source = readFileSync(program, 'utf8');
  assert.doesNotMatch(source, /^\s*(import\s+[\w{*]|export\s)|\bawait\b|\?\.|\?\?|=>|\bconst\b|\blet\b/m);
});

test('in a folder that is gone, what is named there is not found, and what is named from the root is dealt with', (t) => {
  const folder = folderWith(t, { 'gone/': '', 'f.jsonl': '{"role":"user","content":"hello"}\n' });
  const script = 'cd "$1/gone" && rmdir "$1/gone" && exec "$2" "$3" score --json "$4"';
  const scored = (name: string) =>
    spawnSync('sh', ['-c', script, 'sh', folder, process.execPath, program, name], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: folder },
    });
  const missing = scored('x.jsonl');
  assert.deepEqual([missing.status, missing.stderr], [1, 'x.jsonl: no such file or folder. Check the path.\n']);
  mkdirSync(join(folder, 'gone'));
  const whole = scored(join(folder, 'f.jsonl'));
  assert.deepEqual([whole.status, whole.stderr], [0, '']);
});
