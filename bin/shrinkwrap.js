// Runs as npm's `prepack` and `postpack`: a package carries npm-shrinkwrap.json, so that an installation gets the very versions that
// were tested. It is derived from package-lock.json and exists only while npm packs, because npm would prefer it to package-lock.json.
// Usage: node bin/shrinkwrap.js make|remove
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

const shrinkwrap = new URL('../npm-shrinkwrap.json', import.meta.url);

/** The lock file without development dependencies. Every package keeps its exact version and its integrity hash. */
function runtimeLock() {
  const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
  const { '': root, ...others } = lock.packages;
  const { devDependencies: _, ...runtimeRoot } = root;
  const runtime = Object.entries(others).filter(([, entry]) => entry.dev !== true);
  return { ...lock, packages: { '': runtimeRoot, ...Object.fromEntries(runtime) } };
}

if (process.argv[2] === 'make') writeFileSync(shrinkwrap, `${JSON.stringify(runtimeLock(), null, 2)}\n`);
else if (process.argv[2] === 'remove') rmSync(shrinkwrap, { force: true });
else {
  process.stderr.write('usage: node bin/shrinkwrap.js make|remove\n');
  process.exitCode = 2;
}
