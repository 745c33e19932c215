// Runs as npm's `prepare`: builds `dist` with the tools in node_modules. Never through npx, which during a global install asks
// the registry for a package with the name of the command, and that package is somebody else's. The published package contains
// this file, because npm runs `prepare` wherever it installs in the package's own folder.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const bundler = fileURLToPath(new URL('../node_modules/rolldown', import.meta.url));
const { npm_execpath: npm, npm_config_global: isGlobal, npm_command: command } = process.env;

/** Runs a script with this Node; ends this process if the script fails. */
function runNode(argv, env = process.env) {
  const { status } = spawnSync(process.execPath, argv, { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** The environment without what makes npm install globally. */
function localEnvironment() {
  const globalKeys = new Set([
    'npm_config_global',
    'npm_config_location',
    'npm_config_prefix',
    'npm_config_local_prefix',
  ]);
  return Object.fromEntries(Object.entries(process.env).filter(([key]) => !globalKeys.has(key)));
}

function prepareClone() {
  if (existsSync(bundler)) {
    runNode([`${root}bin/build-schemas.ts`]);
    runNode([`${root}bin/build.js`]);
  } else if (isGlobal === 'true' && npm !== undefined && !existsSync(`${root}node_modules`)) {
    // `npm install -g .` in a fresh clone links the folder and installs nothing in it. `npm ci` runs this script again, which builds.
    runNode([npm, 'ci'], localEnvironment());
  } else if (command === 'pack' || command === 'publish') {
    process.stderr.write(`compact cannot be packed: ${bundler} is missing. Run \`npm ci\` first.\n`);
    process.exit(1);
  } else if (!existsSync(`${root}dist`)) {
    process.stderr.write('compact is not built: its bundler is a development dependency. Run `npm ci`.\n');
  }
}

// An unpacked package has no sources, and brings its build along.
if (existsSync(`${root}tsconfig.json`)) prepareClone();
