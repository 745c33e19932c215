import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  globSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { parse } from 'yaml';
import { folderWith } from '../support/folders.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { type Installed, proveIntegrations, proveMainJob, proveWork } from './prove.ts';

/** Proves what `npm run release` has made in the folder `release`. Needs the registry of npm. */

const root = join(import.meta.dirname, '../..');
const release = join(root, 'release');
const { version, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const lowestNode = String(engines.node).replace('>=', '');

const find = (pattern: string): string => {
  const [found, ...others] = globSync(pattern, { cwd: release });
  assert.ok(found !== undefined && others.length === 0, `there is not exactly one ${pattern} in ${release}`);
  return join(release, found);
};

const INSTALL_MS = 300_000;

/** npm's own script, for whatever Node shall run it. */
const NPM = process.env['npm_execpath'] ?? '';
assert.ok(NPM !== '', 'run this with npm: npm run release');

function sizeOf(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.reduce((sum, one) => sum + (one.isFile() ? statSync(join(one.parentPath, one.name)).size : 0), 0);
}

/** The shortest of some runs, which other programs disturbed least. */
function shortestMs(command: string, argv: readonly string[], environments: readonly NodeJS.ProcessEnv[]): number {
  const times = environments.map((env) => {
    const beginMs = performance.now();
    assert.equal(spawnSync(command, argv, { env }).status, 0);
    return performance.now() - beginMs;
  });
  return Math.min(...times);
}

/** A folder for PATH that has Node and nothing else: no compiler, no shell. */
function pathWithNode(t: TestContext, node: string): string {
  const path = folderWith(t, {});
  symlinkSync(node, join(path, 'node'));
  return path;
}

function installTarball(t: TestContext, node: string): Installed & { readonly prefix: string } {
  const home = folderWith(t, { 'prefix/': '' });
  const prefix = join(home, 'prefix');
  const PATH = pathWithNode(t, node);
  // npm keeps the settings of whoever runs this, which say how it gets to its registry: the global ones too, for which it would look
  // below the prefix.
  const isKept = (name: string): boolean => !name.startsWith('npm_') || name === 'npm_config_globalconfig';
  const kept = Object.entries(process.env).filter(([name]) => isKept(name));
  const env = { ...Object.fromEntries(kept), PATH };
  for (const argv of [
    ['install', '-g', '--no-audit', '--no-fund', find('*.tgz')],
    ['ls', '-g', '--all'],
  ])
    execFileSync(node, [NPM, ...argv, '--prefix', prefix], { env, stdio: 'pipe', timeout: INSTALL_MS });
  return { command: join(prefix, 'bin/compact'), environment: { PATH, HOME: home }, prefix };
}

async function proveTarball(t: TestContext, node: string): Promise<void> {
  const installed = installTarball(t, node);
  const sizeBytes = sizeOf(installed.prefix);
  t.diagnostic(
    `installed: ${Math.round(sizeBytes / 1e5) / 10} MB on ${execFileSync(node, ['--version'], { encoding: 'utf8' })}`,
  );
  assert.ok(sizeBytes <= 60_000_000);
  await proveMainJob(t, installed);
  await proveIntegrations(t, installed);
  const manual = execFileSync('man', ['-l', join(installed.prefix, 'share/man/man1/compact.1')], { encoding: 'utf8' });
  assert.match(manual, /compact/);

  const fresh = (): NodeJS.ProcessEnv => ({ ...installed.environment, XDG_CACHE_HOME: folderWith(t, {}) });
  const first = shortestMs(installed.command, ['--help'], Array.from({ length: 5 }, fresh));
  const warm = shortestMs(
    installed.command,
    ['--help'],
    Array.from({ length: 5 }, () => installed.environment),
  );
  t.diagnostic(`first run ${Math.round(first)} ms, warm ${Math.round(warm)} ms`);
  assert.ok(first <= 3 * warm);
}

test('the package is small', () => assert.ok(statSync(find('*.tgz')).size <= 3_000_000));

test('the package, installed without a compiler, works with this Node', (t) => proveTarball(t, process.execPath));

test(`the package, installed without a compiler, works with Node ${lowestNode}`, async (t) => {
  const folder = folderWith(t, { 'package.json': '{ "allowScripts": { "node": true } }' });
  execFileSync(process.execPath, [NPM, 'install', '--no-audit', '--no-fund', `node@${lowestNode}`], {
    cwd: folder,
    timeout: INSTALL_MS,
  });
  await proveTarball(t, join(folder, 'node_modules/node/bin/node'));
});

/** The variables of the image, its folders at other places. */
function imageEnvironment(folder: string): readonly string[] {
  const [, line = ''] =
    /^ENV PATH=\S+ (.+)$/m.exec(readFileSync(join(root, 'packaging/docker/Dockerfile'), 'utf8')) ?? [];
  return line.replaceAll(/=\/(\w+)/g, `=${folder}/$1`).split(' ');
}

test('the package works as the image runs it: for user 65532, on a read-only disk', (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can make the disk read-only');
  const { command, environment, prefix } = installTarball(t, process.execPath);
  const folder = folderWith(t, { 'work/': '', 'archive/compact/': '' });
  const session = join(folder, 'work/session.jsonl');
  copyFileSync(join(root, 'fixtures/transcripts/claude-code/session.jsonl'), session);
  const before = statSync(session).size;
  execFileSync('chown', ['-R', '65532:65532', folder]);
  for (const path of [folder, dirname(prefix), environment['PATH'] ?? '']) chmodSync(path, 0o755);
  const script = `set -e; cd "$1"; shift; mount --make-rprivate /
    for one in work archive; do mount --bind $one $one; done
    mount -o remount,ro,bind /; cd work; ! touch /tmp/writable 2> /dev/null
    exec setpriv --reuid 65532 --regid 65532 --clear-groups env -i "$@"`;
  const program = [`PATH=${environment['PATH']}`, ...imageEnvironment(folder), command, '-i', '-j', '2', '.'];
  const ended = spawnSync('unshare', ['-m', 'sh', '-c', script, 'sh', folder, ...program], { encoding: 'utf8' });
  assert.equal(ended.status, 0, ended.stderr);
  assert.ok(statSync(session).size < before / 2, ended.stderr);
  return assert.ok(statSync(join(folder, 'archive/compact/archive.db')).size > 0);
});

const isWindows = process.platform === 'win32';
/** What a proof uses that Windows does not have. */
const posix = { skip: isWindows && 'it uses a shell, sockets of the file system or modes of files' };

/** The one file, in a world without Node: it may have the standard name, or that of its release. */
function oneFile(): Installed {
  const name = `compact-${version}-${process.platform}-${process.arch}${isWindows ? '.exe' : ''}`;
  const { SystemRoot } = process.env;
  return { command: find(name), environment: { PATH: '', HOME: '', ...(SystemRoot !== undefined && { SystemRoot }) } };
}

test('one file without Node does the main job, with an empty PATH and no home', (t) => proveMainJob(t, oneFile()));
test('one file without Node works in agents and shells', posix, (t) => proveIntegrations(t, oneFile()));
test('one file without Node shares a queue in Postgres', posix, (t) => proveWork(t, oneFile()));

test('one file without Node does what the cron job of Kubernetes says', posix, async (t) => {
  const cron = parse(readFileSync(join(root, 'packaging/kubernetes/cronjob.yaml'), 'utf8'));
  const [script]: readonly string[] = cron.spec.jobTemplate.spec.template.spec.containers[0].args;
  const folder = folderWith(t, { 'logs/': '', 'bin/': '' });
  const session = join(folder, 'logs/session.jsonl');
  copyFileSync(join(root, 'fixtures/transcripts/claude-code/session.jsonl'), session);
  const before = statSync(session).size;
  symlinkSync(oneFile().command, join(folder, 'bin/compact'));
  const server = startPostgres();
  t.after(server.remove);
  const line = (script ?? '').replaceAll('/work', join(folder, 'logs')).replace('--if-over 100k', '--if-over 1k');
  const env = { PATH: join(folder, 'bin'), HOME: '', ARCHIVE: server.url };
  const { status, stderr } = spawnSync('/bin/sh', ['-c', line], { env, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.ok(statSync(session).size < before, stderr);
});

test('one file without Node says its version as fast as Node starts', (t) => {
  const { command, environment } = oneFile();
  const runs = Array.from({ length: 15 }, () => environment);
  const own = shortestMs(command, ['--version'], runs);
  const node = shortestMs(process.execPath, ['-e', '0'], runs);
  t.diagnostic(`--version ${Math.round(own)} ms, node -e 0 ${Math.round(node)} ms`);
  assert.ok(own <= 2 * node);
  assert.equal(execFileSync(command, ['--version'], { env: environment, encoding: 'utf8' }), `${version}\n`);
});

test(
  'one file without Node prints the licenses of what is inside, also where nobody reads them to the end',
  posix,
  () => {
    const { command, environment } = oneFile();
    const run = (line: string) => spawnSync('/bin/sh', ['-c', line, command], { env: environment, encoding: 'utf8' });
    assert.match(run('"$0" --licenses').stdout, /^MIT License[^]*Node\.js v\d[^]*better-sqlite3[^]*openai/);
    assert.equal(run('"$0" --licenses | read -r line').stderr, '');
  },
);

/** A cache that nobody has used, and a run that opens an archive. */
function withCache(t: TestContext) {
  const folder = folderWith(t, { 'cache/': '', 'chat.jsonl': '{"role":"user","content":"Hello"}\n' });
  const { command, environment } = oneFile();
  const cache = join(folder, 'cache/compact');
  const argv = ['capture', '--archive', join(folder, 'archive.db'), join(folder, 'chat.jsonl')];
  const env = { ...environment, XDG_CACHE_HOME: join(folder, 'cache') };
  const natives = (): readonly string[] => globSync('native-*/*', { cwd: cache }).map((path) => join(cache, path));
  return { command, argv, env, natives, run: () => spawnSync(command, argv, { env, encoding: 'utf8' }) };
}

test('a native part that somebody changed is not loaded', (t) => {
  const { run, natives } = withCache(t);
  assert.equal(run().status, 0);
  const part = natives().find((path) => path.endsWith('.node')) ?? '';
  writeFileSync(part, Buffer.concat([readFileSync(part), Buffer.from('!')]));
  const { status, stdout, stderr } = run();
  assert.deepEqual([status, stdout], [1, '']);
  assert.equal(
    stderr,
    `compact: ${part} is not as this program unpacked it, so it is not loaded. Remove ${dirname(part)}, and it is unpacked again.\n`,
  );
});

test('native parts are not loaded from a folder that others can write to', posix, (t) => {
  const { run, natives } = withCache(t);
  assert.equal(run().status, 0);
  const folder = dirname(natives()[0] ?? '');
  chmodSync(folder, 0o777);
  assert.match(run().stderr, /is not a folder that only you can write to, so it is not loaded\. Remove /);
});

test('a kill at any moment of the first unpacking of native parts harms nothing', async (t) => {
  const ROUNDS = 40;
  const whole = withCache(t);
  const wholeMs = shortestMs(whole.command, whole.argv, [whole.env]);
  let unfinished = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { command, argv, env, natives, run } = withCache(t);
    const child = spawn(command, argv, { env, stdio: 'ignore' });
    setTimeout(() => child.kill('SIGKILL'), (wholeMs * round) / ROUNDS);
    await once(child, 'close');
    if (natives().length !== 2) unfinished += 1;
    assert.equal(run().status, 0, `round ${round}`);
  }
  t.diagnostic(`${unfinished} of ${ROUNDS} were killed before they had unpacked`);
});

test('all files are in the list of checksums, and the bill names what is inside', () => {
  const lines = readFileSync(find('SHA256SUMS'), 'utf8').trim().split('\n');
  const listed = lines.map((line) => line.split('  ')[1] ?? '');
  assert.deepEqual(
    listed.toSorted(),
    readdirSync(release)
      .filter((name) => name !== 'SHA256SUMS')
      .toSorted(),
  );
  for (const line of lines) {
    const [sum, name = ''] = line.split('  ');
    assert.equal(
      createHash('sha256')
        .update(readFileSync(join(release, name)))
        .digest('hex'),
      sum,
      name,
    );
  }
  const bill = JSON.parse(readFileSync(find('*.cdx.json'), 'utf8'));
  assert.deepEqual([bill.bomFormat, bill.metadata.component.version], ['CycloneDX', version]);
  assert.ok(bill.components.length > 30);
  assert.match(readFileSync(find('NOTES.md'), 'utf8'), /^## /m);
});
