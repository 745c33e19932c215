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

// Whoever can write to the compile cache decides which code runs. So it must be in a folder that only the user can write to; Node's
// default is in the shared temp folder. Null: do not enable a cache, because the environment configures one or there is no safe folder.
function findCacheFolder() {
  var env = process.env;
  if (env.NODE_COMPILE_CACHE || env.NODE_DISABLE_COMPILE_CACHE) return null;
  var path = process.getBuiltinModule('node:path');
  var fs = process.getBuiltinModule('node:fs');
  try {
    var given = env.XDG_CACHE_HOME;
    var isGiven = given !== undefined && path.isAbsolute(given);
    var base = isGiven ? given : path.join(process.getBuiltinModule('node:os').homedir(), '.cache');
    var folder = path.join(base, 'compact');
    if (!fs.existsSync(base) && isOwn(fs.statSync(path.dirname(base)), 0)) fs.mkdirSync(base, { mode: 0o700 });
    if (!isOwn(fs.statSync(base), 0o022)) return null;
    if (!fs.existsSync(folder)) fs.mkdirSync(folder, { mode: 0o700 });
    // lstat, so that a link is refused.
    return isOwn(fs.lstatSync(folder), 0o077) ? folder : null;
  } catch (error) {
    if (error.code === undefined) throw error;
    return null;
  }
}

// Whether this is a folder of the user's without the forbidden mode bits. Windows has neither; user profiles are private there.
function isOwn(stats, forbidden) {
  if (!stats.isDirectory()) return false;
  return process.geteuid === undefined || (stats.uid === process.geteuid() && (stats.mode & forbidden) === 0);
}

function tellHowToBuild() {
  var exists = process.getBuiltinModule('node:fs').existsSync;
  var step = exists(new URL('../node_modules', import.meta.url)) ? 'npm run build' : 'npm ci';
  fail(1, 'not built yet. Run: cd ' + shellWord(pathOf('..')) + ' && ' + step);
}

/** A path of this package, which begins in `bin`. */
function pathOf(path) {
  return decodeURIComponent(new URL(path, import.meta.url).pathname).replace(/\/$/, '');
}

function shellWord(text) {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'";
}

function tellWhichNode() {
  var found = 'needs Node ' + REQUIRED.join('.') + ' or newer, and this is Node ' + process.versions.node;
  // A clone brings the Node that it needs along.
  var pinned = pathOf('../node_modules/.bin/node');
  process.exitCode = WRONG_NODE;
  void import('fs').then(function (fs) {
    var command = [pinned, pathOf('compact.js')].concat(process.argv.slice(2)).map(shellWord).join(' ');
    var cure = fs.existsSync(pinned) ? 'Run: ' + command : 'Install a newer one: https://nodejs.org.';
    return fail(WRONG_NODE, found + ' (' + process.execPath + '). ' + cure);
  });
}

function start() {
  var main = new URL('../dist/cli/main.js', import.meta.url);
  if (!process.getBuiltinModule('node:fs').existsSync(main)) {
    tellHowToBuild();
    return;
  }
  var cache = findCacheFolder();
  if (cache !== null) process.getBuiltinModule('node:module').enableCompileCache(cache);
  // A rejection ends the process with its stack and exit code 1, as a bug should.
  // Other programs wait for their hooks, so these start without the command line.
  var args = process.argv.slice(2);
  var isHook = args.length === 3 && args[0] === 'hook' && args[1][0] !== '-' && args[2][0] !== '-';
  void import(isHook ? new URL('hook.js', main).href : main.href).then(function (program) {
    return isHook ? program.main(args[1], args[2]) : program.main();
  });
}

if (isNodeTooOld()) {
  tellWhichNode();
} else if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-V')) {
  printVersion();
} else {
  start();
}
