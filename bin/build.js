// Builds `dist`: one bundle of the sources with a chunk for what is imported lazily, and the type declarations of the library.
// `tsc -b` checks the types and the layers, and writes every declaration into dist/.types, which is not published.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { eagerFunctions } from './eager-functions.js';
import { licenseOf, packagesIn } from './licenses.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const TYPES = '.types';

// What is started or imported by its path. A file of a worker thread or a child process belongs here too.
const ENTRIES = {
  index: 'src/index.ts',
  'cli/main': 'src/cli/main.ts',
  'cli/worker': 'src/cli/pool/worker.ts',
};

// Packages of which we need a small part. Installed, they would weigh more than all others together; the bundle carries that part, and
// their licenses. So they are development dependencies, and `npm run sbom` names them.
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const isInstalled = (id) =>
  id.startsWith('node:') || Object.keys(dependencies).some((name) => id === name || id.startsWith(`${name}/`));

/** Compiles the declarations; ends this process where the types are wrong. */
async function checkTypes() {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const compiling = spawn(process.execPath, [compiler, '-b'], { cwd: root, stdio: 'inherit' });
  const [status] = await once(compiling, 'exit');
  if (status !== 0) process.exit(status ?? 1);
}

/** Removes the build before this one, but for the compiler's notes, which make the next one fast. */
function clean() {
  for (const name of readdirSync(dist)) if (name !== TYPES) rmSync(join(dist, name), { recursive: true });
}

/** Copies a declaration file and those that it imports. The others are nobody's business outside. */
function copyTypes(path, copied = new Set()) {
  if (copied.has(path)) return;
  copied.add(path);
  cpSync(join(dist, TYPES, path), join(dist, path));
  const text = readFileSync(join(dist, path), 'utf8');
  for (const [, imported] of text.matchAll(/(?:\bfrom |\bimport\()["'](\.[^"']+)\.ts["']/g)) {
    copyTypes(join(dirname(path), `${imported}.d.ts`), copied);
  }
}

// Modules of Node that take it 2 to 10 ms to load. Most runs call none of their functions, so they are loaded at the first call.
const SLOW = ['child_process', 'crypto', 'fs/promises', 'stream', 'stream/promises', 'timers/promises', 'tty'];

// To import `node:fs`, Node evaluates all of its exports, and loads streams and more for them. This gets only what is used.
const builtins = {
  name: 'builtins',
  renderChunk: (code) =>
    code.replace(
      /^import (?:([\w$]+)|\* as ([\w$]+))?(?:, )?(?:\{(.*)\})? from "node:([\w/]+)";$/gm,
      (_, main, all, names, module) => {
        // A package may have a variable named `process`.
        const loaded = `globalThis.process.getBuiltinModule("node:${module}")`;
        const parts = names === undefined ? [] : names.split(',').map((name) => name.trim().split(' as '));
        // Classes are extended and constants are read, so only functions can wait.
        if (SLOW.includes(module) && parts.every(([name]) => /^[a-z]/.test(name) && name !== 'constants')) {
          const object = main ?? all;
          const lazyObject = `const ${object} = new Proxy({}, { get: (_, name) => ${loaded}[name] });`;
          const functions = parts.map(
            ([name, as = name]) => `let ${as} = (...args) => (${as} = ${loaded}.${name})(...args);`,
          );
          return [...(object === undefined ? [] : [lazyObject]), ...functions].join(' ');
        }
        const targets = [main ?? all, names === undefined ? undefined : `{${names.replaceAll(' as ', ': ')}}`];
        return targets
          .filter((target) => target !== undefined)
          .map((target) => `const ${target} = ${loaded};`)
          .join(' ');
      },
    ),
};

// One character above U+00FF makes V8 keep a whole file in two bytes a character, and slower to read and to hash for the compile cache.
const ascii = {
  name: 'ascii',
  generateBundle: (_, files) => {
    for (const file of Object.values(files)) {
      const escape = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
      if (file.type === 'chunk') file.code = file.code.replace(/[^\0-\x7f]/g, escape);
    }
  },
};

const common = { cwd: root, platform: 'node' };
const bundling = rolldown({
  ...common,
  input: ENTRIES,
  external: isInstalled,
  // A module that one command imports lazily and another at once gets a chunk of its own, which is what we want.
  checks: { ineffectiveDynamicImport: false },
});
const [bundle] = await Promise.all([bundling, checkTypes()]);
clean();
const outputs = await bundle.write({
  dir: dist,
  entryFileNames: '[name].js',
  // Beside dist/cli, as far from the package's folder: that is where `import.meta.url` of a module is now.
  chunkFileNames: 'chunks/[name]-[hash].js',
  comments: { legal: true, annotation: false, jsdoc: false },
  plugins: [builtins, eagerFunctions, ascii],
  // What most commands load is one file: each file costs Node the time to find it.
  codeSplitting: {
    groups: [
      // What every command loads, then what those load that read transcripts, that plan, that summarize, and what formats share.
      { name: 'line', test: /src\/cli\/(?:line|program-name|commands\/table|inputs\/shard|terminal\/(?:exit|term))/ },
      {
        name: 'line',
        test: /src\/(?:config\/(?:nearest|quantity|setting\.|summarization)|core\/(?:lazy|policy|result|tokens)|messages\/text|system\/files)/,
        minShareCount: 2,
      },
      {
        name: 'reading',
        test: /src\/(?:cli\/(?:session|inputs|runs\/outcomes|terminal|pool\/work-|render\/(?:compact|config|theme|table))|messages|compose\/(?!outputs|prices)|config\/(?:find|load|origins|resolve|settings)|adapters\/(?:archive\/sqlite\/(?:file|turns)|transcript\/(?:detect|foreign|formats|json|registry)|fs\/(?:file-store|compr|source)|runtime|producer)|app\/(?:contract|read\/(?:index|lineage|open-tr|records)|write\/settle)|core\/(?:[a-z-]+\.ts|standing-rules|plan|extract\/(?:character|sentence))|system)/,
        minShareCount: 2,
      },
      { name: 'formats', test: /src\/adapters\/transcript/, minShareCount: 3 },
      {
        name: 'archive',
        test: /src\/adapters\/archive\/(?:sqlite\/(?!later|turns)|read\/lines|store\/(?!audit|capture)|archive)/,
        minShareCount: 2,
      },
      { name: 'planning', test: /src\/app\/(?:compact\/plan\.ts|read\/prepare)/, minShareCount: 2 },
      {
        name: 'writing',
        test: /src\/(?:adapters\/(?:fs\/(?:file-lock|leftovers|new-file|open-elsewhere|swap)|model\/extractive)|app\/compact\/compact-file)/,
        minShareCount: 2,
      },
      {
        name: 'writing',
        test: /src\/app\/(?:compact\/(?:leave|report|compose|store)|read|summarize|write)/,
        minShareCount: 3,
      },
      {
        name: 'summaries',
        test: /src\/core\/(?:handover|extract\/(?!summary-lines)|retention\/(?!quotations)|search)/,
        minShareCount: 2,
      },
      { name: 'common', test: /src/, minShareCount: 8 },
    ],
  },
});
await bundle.close();

// Clients wait for their hooks: this is one file, without what the command line needs.
const hooks = await rolldown({ ...common, input: 'src/cli/hook.ts', external: isInstalled });
const hookOutputs = await hooks.write({
  file: join(dist, 'cli/hook.js'),
  comments: { legal: true, annotation: false, jsdoc: false },
  plugins: [builtins, ascii],
});
await hooks.close();
for (const name of packagesIn([...outputs.output, ...hookOutputs.output])) {
  const file = join(dist, `licenses/${name}.txt`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, licenseOf(name));
}
copyTypes('index.d.ts');
