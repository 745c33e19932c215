// Builds the program as one file that needs no Node: node packaging/one-file/build.js FOLDER
// It is the Node that runs this, with the bundle as its main script and the native parts as assets.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'postject';
import { rolldown } from 'rolldown';
import { licenseOf, packagesIn } from '../../bin/licenses.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));
const { platform, arch } = process;
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const suffix = { darwin: 'dylib', win32: 'dll' }[platform] ?? 'so';
const system = platform === 'win32' ? 'windows' : platform;

const parts = {
  'better_sqlite3.node': join(root, `node_modules/better-sqlite3/prebuilds/${platform}-${arch}.node`),
  [`vec0.${suffix}`]: join(root, `node_modules/sqlite-vec-${system}-${arch}/vec0.${suffix}`),
};
const hash = createHash('sha256');
for (const path of Object.values(parts)) hash.update(readFileSync(path));
const native = { names: Object.keys(parts), hash: hash.digest('hex').slice(0, 16) };

/** Replaces what looks for files beside a module: here there are none. */
const inOneFile = {
  name: 'in-one-file',
  resolveId(id, importer = '') {
    if (id === 'sqlite-vec') return join(here, 'sqlite-vec.js');
    if (id === './binding' && /better-sqlite3[\\/]lib[\\/]index\.js$/.test(importer)) return join(here, 'binding.js');
    return null;
  },
  transform(code, id) {
    if (id.includes('node_modules')) return null;
    return code
      .replace(/readFileSync\(new URL\('([^']+)', import\.meta\.url\), 'utf8'\)/g, (_, path) =>
        JSON.stringify(readFileSync(resolve(id, '..', path), 'utf8')),
      )
      .replace(/ *const require = createRequire\(import\.meta\.url\);\n/g, '')
      .replaceAll('createRequire(import.meta.url)', 'require')
      .replaceAll('import.meta.url', 'ONE_FILE_URL');
  },
  renderChunk: (code) => code.replace(/\bimport\(("node:[^"]+")\)/g, 'Promise.resolve(require($1))'),
};

/** One script of CommonJS with all that the entry imports, but for the modules of Node. */
async function bundle(entry) {
  const bundling = await rolldown({
    cwd: root,
    platform: 'node',
    input: join(here, entry),
    external: /^node:/,
    // What a package has for bundlers: its other form may look for its files while it runs.
    resolve: { mainFields: ['module', 'main'] },
    plugins: [inOneFile],
    transform: { define: { NATIVE_PARTS: JSON.stringify(native) } },
    checks: { ineffectiveDynamicImport: false },
  });
  const { output } = await bundling.generate({
    format: 'cjs',
    codeSplitting: false,
    comments: { annotation: false, jsdoc: false },
  });
  await bundling.close();
  return output[0];
}

/** Of this program, Node and the packages. npm's package of Node has no license file. */
function licensesOf(program) {
  const own = readFileSync(join(root, 'LICENSE'), 'utf8');
  const node = `Node.js ${process.version} and what it contains: https://github.com/nodejs/node/blob/${process.version}/LICENSE\n`;
  const packages = ['sqlite-vec', ...packagesIn([program])].map((name) => `${name}\n\n${licenseOf(name)}`);
  return [own, node, ...packages].join(`\n${'-'.repeat(80)}\n\n`);
}

/** Compiles in another process: what V8 caches depends on nothing that has happened in this one. */
function compile(program, cache) {
  const script = `const { Script } = require('vm'), fs = require('fs');
    const source = fs.readFileSync(${JSON.stringify(program)}, 'utf16le');
    fs.writeFileSync(${JSON.stringify(cache)}, new Script(source, { filename: 'compact' }).createCachedData());`;
  execFileSync(process.execPath, ['--eval', script]);
}

async function build(output) {
  const folder = mkdtempSync(join(tmpdir(), 'compact-one-file-'));
  const at = (name) => join(folder, name);
  const start = await bundle('start.js');
  const program = await bundle('program.js');
  writeFileSync(at('start.js'), start.code);
  // As if the package were a folder below the program: nothing is read there, but processes get paths below it.
  const place =
    "const ONE_FILE_URL = require('node:url').pathToFileURL(process.execPath + '/dist/chunks/main.js').href;";
  writeFileSync(at('program.js'), `(function (require, module, exports) {${place}${program.code}\n})`, 'utf16le');
  compile(at('program.js'), at('program.cache'));
  writeFileSync(at('licenses.txt'), licensesOf(program));
  const config = {
    main: at('start.js'),
    output: at('blob'),
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    assets: {
      ...Object.fromEntries(['program.js', 'program.cache', 'licenses.txt'].map((name) => [name, at(name)])),
      ...Object.fromEntries(['pi.js', 'opencode.js'].map((name) => [name, join(root, 'bin/clients', name)])),
      ...parts,
    },
  };
  writeFileSync(at('sea.json'), JSON.stringify(config));
  execFileSync(process.execPath, ['--experimental-sea-config', at('sea.json')], { stdio: 'pipe' });
  copyFileSync(process.execPath, output);
  chmodSync(output, 0o755);
  const isMac = platform === 'darwin';
  // Symbols for debuggers are a seventh of Node. The signature of another program would be refused.
  if (isMac) execFileSync('codesign', ['--remove-signature', output]);
  if (platform !== 'win32') execFileSync('strip', isMac ? ['-x', output] : [output]);
  await inject(output, 'NODE_SEA_BLOB', readFileSync(at('blob')), {
    sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
    ...(isMac && { machoSegmentName: 'NODE_SEA' }),
  });
  if (isMac) execFileSync('codesign', ['--sign', '-', output]);
  rmSync(folder, { recursive: true });
}

const folder = resolve(process.argv[2] ?? 'release');
mkdirSync(folder, { recursive: true });
const output = join(folder, `compact-${version}-${platform}-${arch}${platform === 'win32' ? '.exe' : ''}`);
await build(output);
process.stdout.write(`${output}\n`);
