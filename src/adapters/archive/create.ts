import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import process from 'node:process';
import Database from 'better-sqlite3';
import { lazily } from '../../core/lazy.ts';
import { migrate } from './schema.ts';
import { systemCode } from '../../core/result.ts';

/**
 * Creates an empty archive (0600). The file gets its name only when it is complete, so no half-made archive is ever
 * found. If another process creates it first, that one is kept. Returns why it cannot be created, or null; throws
 * system errors.
 */
export function createArchiveFile(path: string, link: typeof linkSync = linkSync): string | null {
  const target = followLinks(path);
  const stale = ['-wal', '-journal'].map((ending) => target + ending).find((log) => existsSync(log));
  // SQLite would replay this log into the new archive. If the archive exists by now, the log belongs to it.
  if (stale !== undefined && !existsSync(target)) {
    return `${basename(stale)} beside it is the log of an archive that is gone: move it away, or put that archive back`;
  }
  removeUnfinished(target);
  const temporary = `${target}.${process.pid}-${randomUUID()}.new`;
  try {
    const descriptor = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(descriptor, emptyArchive());
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    linkUnlessExists(temporary, { target, link });
  } finally {
    rmSync(temporary, { force: true });
  }
  syncFolder(dirname(target));
  return null;
}

/** Removes what killed processes left of archives that they were creating here. */
function removeUnfinished(target: string): void {
  const start = `${basename(target)}.`;
  for (const name of listNames(dirname(target))) {
    const rest = name.startsWith(start) ? name.slice(start.length) : '';
    const processId = /^(\d+)-[\da-f-]{36}\.new$/.exec(rest)?.[1];
    const path = join(dirname(target), name);
    // A process of another container looks dead, so what is fresh stays.
    if (processId !== undefined && !isAlive(Number(processId)) && isOld(path)) rmSync(path, { force: true });
  }
}

/** To write an empty archive takes milliseconds. */
const MAX_CREATION_MS = 10_000;

function isOld(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > MAX_CREATION_MS;
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return []; // it may be written to all the same
  }
}

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    return systemCode(error) !== 'ESRCH';
  }
}

const emptyArchive = lazily((): Uint8Array => {
  const db = new Database(':memory:');
  try {
    migrate(db);
    return db.serialize();
  } finally {
    db.close();
  }
});

/** Never replaces an existing file. */
function linkUnlessExists(
  temporary: string,
  { target, link }: { readonly target: string; readonly link: typeof linkSync },
): void {
  try {
    link(temporary, target);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST') return;
    // For file systems without hard links: copying is not atomic, but does not replace anything either.
    if (code === null || !NO_LINKS.includes(code)) throw error;
    copyUnlessExists(temporary, target);
  }
}

const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

function copyUnlessExists(temporary: string, target: string): void {
  try {
    copyFileSync(temporary, target, constants.COPYFILE_EXCL);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

/** The limit of Linux. */
const MAX_LINKS = 40;

/** Follows the links of a path to a file that may not exist. */
function followLinks(path: string): string {
  let current = path;
  for (let links = 0; links < MAX_LINKS; links += 1) {
    // The real folder, because `..` in a link counts from there.
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
    if (code === 'EINVAL' || code === 'ENOENT' || code === 'UNKNOWN') return null; // not a link, or nothing there
    throw error;
  }
}

/** Syncs the new name to disk. Windows cannot sync folders. */
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
