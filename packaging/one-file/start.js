// The main script of the one file, which takes the place of bin/compact.js. It is small: Node reads all of a main script, and the
// version shall not wait for the program. That is an asset, with the code that V8 compiled from it.
import { getAsset, getRawAsset } from 'node:sea';
import { version } from '../../package.json';

const args = process.argv.slice(2);

/** The program contains all its packages, so only modules of Node are left; some packages look whether others are there. */
function requireBuiltin(name) {
  const found = process.getBuiltinModule(name);
  if (found === undefined) throw Object.assign(new Error(`there is no module ${name}`), { code: 'MODULE_NOT_FOUND' });
  return found;
}

function loadProgram() {
  const { Script } = process.getBuiltinModule('node:vm');
  const source = Buffer.from(getRawAsset('program.js')).ucs2Slice();
  const script = new Script(source, { filename: 'compact', cachedData: Buffer.from(getRawAsset('program.cache')) });
  const module = { exports: {} };
  script.runInThisContext()(requireBuiltin, module, module.exports);
  return module.exports;
}

function print(text) {
  process.stdout.on('error', (error) => {
    // The reader is gone: nobody is left to tell.
    if (error.code !== 'EPIPE') throw error;
  });
  process.stdout.write(text);
}

const asked = args.length === 1 ? args[0] : null;
if (asked === '--version' || asked === '-V') print(`${version}\n`);
else if (asked === '--licenses') print(getAsset('licenses.txt', 'utf8'));
else loadProgram().start(args);
