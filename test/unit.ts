import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Runs tests straight from the sources: all of them, or those of the folders and files that are named.
 * npm run unit -- test/core test/app/verify.test.ts        npm run unit -- --watch test/core/plan
 */

/** Loading the program takes longer than most test files do, so files of these folders share a process. */
const SHARING = [
  'test/adapters',
  'test/app',
  'test/cli/commands',
  'test/cli/mcp',
  'test/cli/render',
  'test/config',
  'test/core',
];
const FILES_A_PROCESS = 12;
/** They run before a release: npm run test:install */
const BEFORE_A_RELEASE = ['test/install/', 'test/bench/'];
/** A file that changes the process itself has one of its own. */
const CHANGES_PROCESS =
  /becomeOrdinaryUser|runIn|process\.(?:chdir|umask|exitCode =|env(?:\[[^\]]+\]|\.\w+)? =)|(?:Object\.assign\(|delete )process\.env/;

const argv = process.argv.slice(2);
const flags = argv.filter((argument) => argument.startsWith('-'));
const places = argv.filter((argument) => !argument.startsWith('-'));
const missing = places.filter((place) => statSync(place, { throwIfNoEntry: false }) === undefined);

if (missing.length > 0) {
  console.error(`there is no ${missing.join(', ')}: name folders or files below test`);
  process.exitCode = 2;
} else {
  const folder = mkdtempSync(join(tmpdir(), 'compact-unit-'));
  const files = places.length === 0 ? groupAll(folder) : places.flatMap(listTests);
  const options = ['--import', './test/support/seed.ts', '--test', '--test-concurrency=3', ...flags];
  const tests = spawn(process.execPath, [...options, ...files], {
    stdio: 'inherit',
    // An absolute path: some tests start processes in other folders.
    env: { NODE_COMPILE_CACHE: resolve('node_modules/.cache/compile'), ...process.env },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal));
  tests.on('exit', (code) => {
    rmSync(folder, { recursive: true });
    process.exitCode = code ?? 1;
  });
}

function listTests(place: string): readonly string[] {
  return statSync(place).isDirectory() ? globSync(join(place, '**/*.test.ts')).toSorted() : [place];
}

/** The test files to start: one for each group, which imports the group's files, and those that run alone. */
function groupAll(folder: string): readonly string[] {
  const isSharing = (file: string): boolean => !CHANGES_PROCESS.test(readFileSync(file, 'utf8'));
  const together = pathToFileURL('test/support/together.ts').href;
  const groups = SHARING.flatMap((place) => {
    const files = listTests(place).filter(isSharing);
    const count = Math.ceil(files.length / FILES_A_PROCESS);
    return Array.from({ length: count }, (_, group) => {
      const path = join(folder, `${place.replaceAll('/', '-')}-${group + 1}.test.mjs`);
      const own = files.filter((_, at) => at % count === group);
      writeFileSync(path, `import { runTogether } from '${together}';\nrunTogether(${JSON.stringify(own)});\n`);
      return { path, own };
    });
  });
  const grouped = new Set(groups.flatMap(({ own }) => own));
  const isPutOff = (file: string): boolean => BEFORE_A_RELEASE.some((folder) => file.startsWith(folder));
  const rest = listTests('test').filter((file) => !grouped.has(file) && !isPutOff(file));
  return [...groups.map(({ path }) => path), ...rest];
}
