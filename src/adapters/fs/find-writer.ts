import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { pid } from 'node:process';
import type { FileStamp, FileWriter } from '../../ports/files.ts';
import { errorCode } from './system.ts';

/** The search stops here, because a machine may have very many open files. It takes milliseconds, unless the machine is busy. */
const MAX_MS = 5000;

/** The access mode in a descriptor's flags (fcntl.h); 0 is read-only. */
const ACCESS_MODE = 0o3;
const WITHOUT_FILE = /^(?!\/)|^\/(?:dev|proc|sys)\/|^\/memfd:/;

/**
 * Finds another process that has a file open for writing. Linux only, and only processes of the same user (for root:
 * all) and of the same container. Null: none was found in time.
 */
export function findWriter({ inode, device }: Pick<FileStamp, 'inode' | 'device'>, maxMs = MAX_MS): FileWriter | null {
  const deadline = performance.now() + maxMs;
  for (const name of listFolder('/proc')) {
    const processId = Number(name);
    if (!Number.isInteger(processId) || processId === pid) continue;
    if (performance.now() > deadline) return null;
    const folder = `/proc/${name}`;
    const isWriter = listFolder(`${folder}/fd`).some((fd) => isWriting(folder, fd, { inode, device }));
    if (isWriter) return { processId, name: (readIfThere(() => readFileSync(`${folder}/comm`, 'utf8')) ?? '').trim() };
  }
  return null;
}

function isWriting(folder: string, fd: string, stamp: Pick<FileStamp, 'inode' | 'device'>): boolean {
  const link = `${folder}/fd/${fd}`;
  // Checked first, because it does not touch the target's file system, which may be unreachable.
  const leadsTo = readIfThere(() => readlinkSync(link));
  if (leadsTo === null || WITHOUT_FILE.test(leadsTo)) return false;
  if (!isSameFile(link, stamp)) return false;
  const info = readIfThere(() => readFileSync(`${folder}/fdinfo/${fd}`, 'utf8')) ?? '';
  const flags = /^flags:\s*([0-7]+)/m.exec(info)?.[1] ?? '0';
  if ((Number.parseInt(flags, 8) & ACCESS_MODE) === 0) return false;
  // The process may have closed the descriptor and opened another file under the same number since the first check.
  const openInode = /^ino:\s*(\d+)/m.exec(info)?.[1];
  return openInode === undefined ? isSameFile(link, stamp) : BigInt(openInode) === stamp.inode;
}

function isSameFile(link: string, { inode, device }: Pick<FileStamp, 'inode' | 'device'>): boolean {
  const stats = readIfThere(() => statSync(link, { bigint: true }));
  return stats !== null && stats.ino === inode && stats.dev === device;
}

function listFolder(path: string): readonly string[] {
  return readIfThere(() => readdirSync(path)) ?? [];
}

/** null: the process has ended, or may not be inspected. */
function readIfThere<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (errorCode(error) === null) throw error;
    return null;
  }
}
