// In place of better-sqlite3's own lib/binding.js, which requires a file beside it.
import { unpack } from './native.js';

let addon;

export function getBinding() {
  addon ??= load();
  return addon;
}

function load() {
  try {
    const module = { exports: {} };
    process.dlopen(module, unpack('better_sqlite3.node'));
    return module.exports;
  } catch (error) {
    // Nothing works without it, and no caller expects that.
    process.stderr.write(`compact: ${error.message}\n`);
    return process.exit(1);
  }
}
