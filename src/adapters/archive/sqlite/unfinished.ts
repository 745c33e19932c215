import { randomUUID } from 'node:crypto';
import { lstatSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { systemCode } from '../../../core/result.ts';
import { listNames } from '../../../system/files.ts';

/**
 * What a file or a folder is called until it is complete. Removes what killed processes left of the same one, or with `ofAll` of any in its
 * folder: the next backup has another name.
 */
export function unfinishedName(target: string, { ofAll = false } = {}): string {
  const folder = dirname(target);
  for (const name of listNames(folder)) {
    const [, file, processId] = UNFINISHED.exec(name) ?? [];
    const isWanted = file !== undefined && (ofAll || file === basename(target));
    // A process of another container looks dead, so what is fresh stays.
    if (isWanted && !isAlive(Number(processId)) && isOldAndOurs(join(folder, name)))
      rmSync(join(folder, name), { force: true, recursive: true });
  }
  return `${target}.${process.pid}-${randomUUID()}.new`;
}

/** And the log that SQLite writes beside it. */
const UNFINISHED = /^(.+)\.(\d+)-[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.new(?:-journal|-wal|-shm)?$/;
/** A large copy is read back when it is written, and does not change meanwhile. */
const MAX_UNCHANGED_MS = 3_600_000;

/** What is in a folder of somebody else can change while it is removed. */
function isOldAndOurs(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.uid !== (process.getuid?.() ?? stats.uid)) return false;
  return Date.now() - stats.mtimeMs > MAX_UNCHANGED_MS;
}

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    return systemCode(error) !== 'ESRCH';
  }
}
