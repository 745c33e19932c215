import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Runs tests straight from the sources: all of them, or those of the folders and files that are named.
 * npm run unit -- test/core test/app/verify.test.ts        npm run unit -- --watch test/core/plan
 */

const argv = process.argv.slice(2);
const flags = argv.filter((argument) => argument.startsWith('-'));
const places = argv.filter((argument) => !argument.startsWith('-'));
const missing = places.filter((place) => statSync(place, { throwIfNoEntry: false }) === undefined);

if (missing.length > 0) {
  console.error(`there is no ${missing.join(', ')}: name folders or files below test`);
  process.exitCode = 2;
} else {
  const files = (places.length === 0 ? ['test'] : places).map((place) =>
    statSync(place).isDirectory() ? join(place, '**/*.test.ts') : place,
  );
  const options = ['--import', './test/support/seed.ts', '--test', '--test-concurrency=3', ...flags];
  const tests = spawn(process.execPath, [...options, ...files], {
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: 'node_modules/.cache/compile', ...process.env },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal));
  tests.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}
