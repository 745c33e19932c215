#!/usr/bin/env node
// Old versions of Node must be able to parse this file: no static imports, no new syntax.
var REQUIRED = [22, 18];
// Exit code of a service that is not available (sysexits.h); 1 and 2 mean other things here.
var WRONG_NODE = 69;

function isNodeTooOld() {
  var found = process.versions.node.split('.').map(Number);
  return found[0] < REQUIRED[0] || (found[0] === REQUIRED[0] && found[1] < REQUIRED[1]);
}

function fail(exitCode, message) {
  process.stderr.write('compact: ' + message + '\n');
  process.exitCode = exitCode;
}

function printVersion() {
  var fs = process.getBuiltinModule('node:fs');
  var manifest = JSON.parse(fs.readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  process.stdout.on('error', function (error) {
    // The reader is gone: nobody is left to tell.
    if (error.code !== 'EPIPE') throw error;
  });
  process.stdout.write(manifest.version + '\n');
}

// Node looks for the file, its real path and its package.json behind every import: a quarter of the time in which a command
// starts. What an import in dist means is known: the file that it says.
function shortenResolution(dist) {
  process.getBuiltinModule('node:module').registerHooks({
    resolve: function (specifier, context, nextResolve) {
      var parent = context.parentURL;
      if (!/^\.{1,2}\/.*\.js$/.test(specifier) || parent === undefined || !parent.startsWith(dist)) {
        return nextResolve(specifier, context);
      }
      return { url: new URL(specifier, parent).href, format: 'module', shortCircuit: true };
    },
  });
}

function start() {
  var main = new URL('../dist/cli/main.js', import.meta.url);
  if (!process.getBuiltinModule('node:fs').existsSync(main)) {
    fail(1, 'not built: ' + main.pathname + ' is missing. Run `npm run build` in the folder above.');
    return;
  }
  process.getBuiltinModule('node:module').enableCompileCache();
  shortenResolution(new URL('../dist/', import.meta.url).href);
  // A rejection ends the process with its stack and exit code 1, as a bug should.
  void import(main.href).then(function (program) {
    return program.main();
  });
}

if (isNodeTooOld()) {
  fail(
    WRONG_NODE,
    'needs Node ' +
      REQUIRED.join('.') +
      ' or newer, and this is Node ' +
      process.versions.node +
      ' (' +
      process.execPath +
      '). Install a newer one (https://nodejs.org), or run it with `npx --package=node@24 --package=compact-transcript compact`.',
  );
} else if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-V')) {
  printVersion();
} else {
  start();
}
