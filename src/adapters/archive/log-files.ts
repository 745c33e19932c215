import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename } from 'node:path';
import { getuid } from 'node:process';

/** What SQLite keeps beside a database: it reads pages from them, and writes to them. */
const LOG_ENDINGS = ['-journal', '-wal', '-shm'];
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Why a log beside an archive must not be used; null: SQLite or this program made all that are there. A log that somebody planted could have a file
 * of the user overwritten (a hard link), never let go of this process (a named pipe), or put its pages in the place of the archive's.
 */
export function findForeignLog(path: string): string | null {
  const file = realpathSync(path);
  const archive = statSync(file);
  for (const ending of LOG_ENDINGS) {
    const stats = lstatSync(file + ending, { throwIfNoEntry: false });
    const fault = stats === undefined ? null : describeFault(stats, archive);
    if (fault !== null) return `${basename(file)}${ending} beside it ${fault}; if you did not put it there, remove it`;
  }
  return null;
}

function describeFault(log: Stats, archive: Stats): string | null {
  if (log.isSymbolicLink()) return 'is a symbolic link';
  if (!log.isFile()) return 'is not a regular file';
  if (log.nlink > 1) return 'is a file that has another name too';
  // Whoever may write to the archive needs no log to change it.
  const isShared = (archive.mode & WRITABLE_BY_OTHERS) !== 0;
  const isOwn = log.uid === getuid?.() || log.uid === archive.uid || log.uid === 0;
  return isShared || isOwn ? null : `belongs to another user (uid ${log.uid})`;
}
