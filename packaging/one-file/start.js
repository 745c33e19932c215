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

if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  process.stdout.on('error', (error) => {
    if (error.code !== 'EPIPE') throw error;
  });
  process.stdout.write(`${version}\n`);
} else if (args.length === 1 && args[0] === '--licenses') {
  process.stdout.write(getAsset('licenses.txt', 'utf8'));
} else {
  loadProgram().start(args);
}
