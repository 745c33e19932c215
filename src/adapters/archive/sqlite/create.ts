import { constants, copyFileSync, existsSync, fsyncSync, linkSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import Database from 'better-sqlite3';
import { lazily } from '../../../core/lazy.ts';
import { migrate } from './schema.ts';
import { unfinishedName } from './unfinished.ts';
import { systemCode } from '../../../core/result.ts';
import { followLinks, syncFolder, tryTo, withOpenFile } from '../../../system/files.ts';

/**
 * Creates an empty archive (0600). The file gets its name only when it is complete, so no half-made archive is ever
 * found. If another process creates it first, that one is kept. Returns why it cannot be created, or null; throws
 * system errors.
 */
export function createArchiveFile(path: string, link: typeof linkSync = linkSync): string | null {
  const target = followLinks(path);
  const stale = ['-wal', '-journal'].map((ending) => target + ending).find((log) => existsSync(log));
  // SQLite would replay this log into the new archive. If the archive exists by now, the log belongs to it.
  if (stale !== undefined && !existsSync(target))
    return `${basename(stale)} beside it is the log of an archive that is gone: move it away, or put that archive back`;
  const temporary = unfinishedName(target);
  try {
    const fill = (descriptor: number): void => {
      writeFileSync(descriptor, emptyArchive());
      fsyncSync(descriptor);
    };
    withOpenFile(temporary, 'wx', fill, 0o600);
    linkUnlessExists(temporary, { target, link });
  } finally {
    rmSync(temporary, { force: true });
  }
  syncFolder(dirname(target));
  return null;
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

/** Gives a complete file its name. False: there is a file of that name, which stays. */
export function linkUnlessExists(
  temporary: string,
  { target, link = linkSync }: { readonly target: string; readonly link?: typeof linkSync },
): boolean {
  try {
    link(temporary, target);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'EEXIST') return false;
    // For file systems without hard links: copying is not atomic, but does not replace anything either.
    if (code === null || !NO_LINKS.includes(code)) throw error;
    return tryTo(() => copyFileSync(temporary, target, constants.COPYFILE_EXCL), ['EEXIST']);
  }
}

const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];
