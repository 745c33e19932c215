import { accessSync, constants, realpathSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { env } from 'node:process';
import { archiveError } from '../failure.ts';
import { type Query, readUsedBytes } from '../sql/query.ts';
import { SQLITE } from './dialect.ts';

/** A folder on a disk, and the bytes that are free there. */
type Disk = { readonly folder: string; readonly device: number; readonly freeBytes: number };

/**
 * Throws an `ArchiveError` ('no-space') if the file cannot be rewritten: SQLite copies what is left of it to the folder for temporary files,
 * and from there into its log, beside the file, before it overwrites the file.
 */
export async function checkRoom(
  query: Query,
  path: string,
  findDisk: (folder: string) => Disk = readDisk,
): Promise<void> {
  const bytes = await readUsedBytes({ query, dialect: SQLITE });
  const disks = [findDisk(findTempFolder()), findDisk(dirname(realpathSync(path)))];
  for (const { folder, device, freeBytes } of disks) {
    const neededBytes = bytes * disks.filter((disk) => disk.device === device).length;
    if (freeBytes < neededBytes)
      throw archiveError({ kind: 'no-space', path, needs: { folder, neededBytes, freeBytes } });
  }
}

function readDisk(folder: string): Disk {
  const { bavail, bsize } = statfsSync(folder);
  return { folder, device: statSync(folder).dev, freeBytes: bavail * bsize };
}

/** In the order of SQLite (https://sqlite.org/tempfiles.html). */
function findTempFolder(): string {
  const folders = [env['SQLITE_TMPDIR'], env['TMPDIR'], '/var/tmp', '/usr/tmp', '/tmp'];
  return folders.find((folder) => folder !== undefined && isUsable(folder)) ?? '.';
}

function isUsable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false; // SQLite takes the next one too
  }
}
