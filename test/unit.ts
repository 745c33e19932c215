import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Runs tests straight from the sources: all of them, or those of the folders and files that are named.
 * npm run unit -- test/core test/app/verify.test.ts        npm run unit -- --watch test/core/plan
 */

/**
 * Loading the program, and compiling what is hot in it, takes longer than most test files do, so files share processes: those of the first of
 * these folders that they are in. A process takes up to 1 GB.
 */
const SHARING = ['test/adapters', 'test/app', 'test/cli', 'test'];
const FILES_A_PROCESS = 100;
/** They run before a release: npm run test:install */
const BEFORE_A_RELEASE = ['test/install/', 'test/bench/', 'test/packaging/'];
/** Files that change the process, or what is loaded into it, in one of these ways share processes with their like. */
const CHANGES_ALIKE = [/\brunIn\b/, /quick-waits/];
/** A file that does so in another way has one of its own; so has each engine that stays in memory. */
const CHANGES_PROCESS =
  /becomeOrdinaryUser|held-deadlines|pglite|process\.(?:chdir|umask|exitCode = |env(?:\[[^\]]+\]|\.\w+)? = )|(?:Object\.assign\(|delete )process\.env/;
/** No test waits forever: one that takes longer than this at a high load has failed, and so have tests that do not end at all. */
const MAX_TEST_MINUTES = 15;
const MAX_MINUTES = 90;

const argv = process.argv.slice(2);
const flags = argv.filter((argument) => argument.startsWith('-'));
const places = argv.filter((argument) => !argument.startsWith('-'));
const missing = places.filter((place) => statSync(place, { throwIfNoEntry: false }) === undefined);

if (missing.length > 0) {
  console.error(`there is no ${missing.join(', ')}: name folders or files below test`);
  process.exitCode = 2;
} else {
  const folder = mkdtempSync(join(tmpdir(), 'compact-unit-'));
  const named = places.length === 0 ? listTests('test').filter((file) => !isPutOff(file)) : places.flatMap(listTests);
  const files = flags.includes('--watch') ? named : group(named, folder);
  const options = ['--import', './test/support/seed.ts', '--test', '--test-concurrency=3'];
  const timeout = `--test-timeout=${MAX_TEST_MINUTES * 60_000}`;
  const tests = spawn(process.execPath, [...options, timeout, ...flags, ...files], {
    stdio: 'inherit',
    // A group of its own, so that nothing that a test has started outlives it.
    detached: true,
    // An absolute path: some tests start processes in other folders.
    env: { NODE_COMPILE_CACHE: resolve('node_modules/.cache/compile'), ...process.env },
  });
  const end = (signal: NodeJS.Signals): boolean => tests.pid !== undefined && process.kill(-tests.pid, signal);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end(signal));
  const overdue = setTimeout(() => {
    console.error(`the tests have not ended after ${MAX_MINUTES} minutes: they are killed`);
    end('SIGKILL');
  }, MAX_MINUTES * 60_000);
  tests.on('exit', (code) => {
    clearTimeout(overdue);
    rmSync(folder, { recursive: true });
    process.exitCode = code ?? 1;
  });
}

function listTests(place: string): readonly string[] {
  return statSync(place).isDirectory() ? globSync(join(place, '**/*.test.ts')).toSorted() : [place];
}

function isPutOff(file: string): boolean {
  return BEFORE_A_RELEASE.some((folder) => file.startsWith(folder));
}

/** The files to start: for files that share a process one in this folder, which imports them, and those that run alone. */
function group(files: readonly string[], folder: string): readonly string[] {
  const together = pathToFileURL('test/support/together.ts').href;
  const kinds = Map.groupBy(files, kindOf);
  const alone = kinds.get(null) ?? [];
  kinds.delete(null);
  const groups = [...kinds].flatMap(([kind, alike]) => {
    const count = Math.ceil(alike.length / FILES_A_PROCESS);
    return Array.from({ length: count }, (_, index) => {
      const path = join(folder, `${kind}-${index + 1}.test.mjs`);
      const own = alike.filter((_file, at) => at % count === index);
      writeFileSync(path, `import { runTogether } from '${together}';\nawait runTogether(${JSON.stringify(own)});\n`);
      return path;
    });
  });
  return [...groups, ...alone];
}

/** With which files one may share a process; null: with none. */
function kindOf(file: string): string | null {
  const text = readFileSync(file, 'utf8');
  const way = CHANGES_ALIKE.findIndex((pattern) => pattern.test(text));
  if (way >= 0) return `alike-${way}`;
  if (CHANGES_PROCESS.test(text)) return null;
  return SHARING.find((place) => file.startsWith(`${place}/`))?.replaceAll('/', '-') ?? null;
}
