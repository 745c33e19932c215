import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { systemCode } from './file.ts';
import { migrate } from './migrations.ts';

/**
 * Makes an archive with nothing in it (0600), whole before it has its name: whoever finds a file there finds an archive, or something that is none
 * of ours. Where another process makes one at the same time, that one stays. Gives why it cannot be made, or null; throws the system's error.
 */
export function createArchiveFile(path: string): string | null {
  const target = followLinks(path);
  const stale = ['-wal', '-journal'].map((ending) => target + ending).find((log) => existsSync(log));
  // SQLite would write what the log holds into the new archive. Where there is an archive by now, the log is its own.
  if (stale !== undefined && !existsSync(target)) {
    return `${basename(stale)} beside it is the log of an archive that is gone: move it away, or put that archive back`;
  }
  const temporary = `${target}.${randomUUID()}.new`;
  try {
    const descriptor = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(descriptor, emptyArchive());
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    giveName(temporary, target);
  } finally {
    rmSync(temporary, { force: true });
  }
  syncFolder(dirname(target));
  return null;
}

function emptyArchive(): Uint8Array {
  const db = new Database(':memory:');
  try {
    migrate(db);
    return db.serialize();
  } finally {
    db.close();
  }
}

/** A name that is taken stays with what has it. */
function giveName(temporary: string, target: string): void {
  try {
    linkSync(temporary, target);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST') return;
    // A file system without hard links: a copy is not made at once, but takes no name from anybody either.
    if (code === null || !NO_LINKS.includes(code)) throw error;
    copyUnlessTaken(temporary, target);
  }
}

const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

function copyUnlessTaken(temporary: string, target: string): void {
  try {
    copyFileSync(temporary, target, constants.COPYFILE_EXCL);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

/** As many as Linux follows. */
const MAX_LINKS = 40;

/** Where a path leads whose last name may be a link to a file that is not there yet. */
function followLinks(path: string): string {
  let current = path;
  for (let links = 0; links < MAX_LINKS; links += 1) {
    // The folder as it really is: `..` in a link's text counts from there.
    const folder = realpathSync(dirname(current));
    const text = readLink(join(folder, basename(current)));
    if (text === null) return join(folder, basename(current));
    current = resolve(folder, text);
  }
  throw Object.assign(new Error(`too many links: ${path}`), { code: 'ELOOP', syscall: 'readlink' });
}

function readLink(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EINVAL' || code === 'ENOENT' || code === 'UNKNOWN') return null; // no link, or nothing at all
    throw error;
  }
}

/** The name is on disk before anything relies on it; where folders cannot be synced (Windows) there is nothing to be done. */
function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, 'r');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (systemCode(error) === null) throw error;
  }
}
