import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { kill, pid } from 'node:process';
import type { FileStamp, FileWriter, OpenSign } from '../../ports/files.ts';
import { errorCode, listNames, orElse } from '../../system/files.ts';
import { readOutsideFile } from '../../system/outside-file.ts';
import { parseJson } from '../../core/result.ts';

type Place = Pick<FileStamp, 'inode' | 'device'>;

/** The search stops here, because a machine may have very many open files. It takes milliseconds, unless the machine is busy. */
const MAX_MS = 5000;

/** The access mode in a descriptor's flags (fcntl.h); 0 is read-only. */
const ACCESS_MODE = 0o3;
const WITHOUT_FILE = /^(?!\/)|^\/(?:dev|proc|sys)\/|^\/memfd:/;

/**
 * Finds another process that has a file open for writing. Linux only, and only processes of the same user (for root:
 * all) and of the same container: others may not be inspected. Null: there is none; unknown: the time was over first.
 */
export function findWriter(place: Place, maxMs = MAX_MS): FileWriter | 'unknown' | null {
  const deadline = performance.now() + maxMs;
  for (const name of listNames('/proc')) {
    const processId = Number(name);
    if (!Number.isInteger(processId) || processId === pid) continue;
    if (performance.now() > deadline) return 'unknown';
    const folder = `/proc/${name}`;
    const isWriter = listNames(`${folder}/fd`).some((fd) => isWriting(folder, fd, place));
    if (isWriter) return { processId, name: readText(`${folder}/comm`).trim() };
  }
  return null;
}

function isWriting(folder: string, fd: string, place: Place): boolean {
  const link = `${folder}/fd/${fd}`;
  // Checked first, because it does not touch the target's file system, which may be unreachable.
  const leadsTo = orElse('', () => readlinkSync(link));
  if (leadsTo === '' || WITHOUT_FILE.test(leadsTo) || !leadsToPlace(link, place)) return false;
  const info = readText(`${folder}/fdinfo/${fd}`);
  const flags = /^flags:\s*([0-7]+)/m.exec(info)?.[1] ?? '0';
  if ((Number.parseInt(flags, 8) & ACCESS_MODE) === 0) return false;
  // The process may have closed the descriptor and opened another file under the same number since the first check.
  const openInode = /^ino:\s*(\d+)/m.exec(info)?.[1];
  return openInode === undefined ? leadsToPlace(link, place) : BigInt(openInode) === place.inode;
}

function leadsToPlace(link: string, { inode, device }: Place): boolean {
  const stats = orElse(null, () => statSync(link, { bigint: true }));
  return stats !== null && stats.ino === inode && stats.dev === device;
}

/** Empty: the process has ended, or may not be inspected. */
function readText(path: string): string {
  return orElse('', () => readFileSync(path, 'utf8'));
}

const MAX_SIGN_BYTES = 64 * 1024;

/** The running program that left one of these signs of having a transcript open; null: none is to be seen. */
export function findSessionUser(path: string, signs: readonly OpenSign[]): FileWriter | null {
  for (const sign of signs) {
    for (const from of sign.folders) {
      const folder = join(dirname(resolve(path)), from);
      for (const name of listNames(folder)) {
        const processId = Number(sign.file.exec(name)?.[1] ?? 0);
        const file = join(folder, name);
        if (processId <= 0 || processId === pid || !namesSession(file, path, sign)) continue;
        if (isAlive(processId) && !isReused(processId, file)) return { processId, name: sign.program };
      }
    }
  }
  return null;
}

/** Whether the session whose id is in the sign is part of the transcript's path: the name of the file, or of a folder with its subagents. */
function namesSession(file: string, path: string, { sessionKey }: OpenSign): boolean {
  if (sessionKey === undefined) return true;
  const read = readOutsideFile(file, { followsLinks: false, maxBytes: MAX_SIGN_BYTES });
  if (!read.ok) return false;
  // Undefined if it is only half written.
  const id: unknown = Object(parseJson(Buffer.from(read.value.bytes).toString()))[sessionKey];
  return resolve(path)
    .split(/[\\/]/)
    .some((part) => part.replace(/\.jsonl$/, '') === id);
}

/** A process of another user counts too: it may not be signalled. */
function isAlive(processId: number): boolean {
  try {
    return kill(processId, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Linux counts the times of processes in these. */
const TICKS_PER_SECOND = 100;
const SLACK_SECONDS = 10;

/** Whether the process began after the sign was made, so that it only has the number of the one that made it. Only Linux tells. */
function isReused(processId: number, sign: string): boolean {
  // The name in brackets may contain anything; the time is the 20th value after it.
  const began = readText(`/proc/${processId}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ')[19];
  const boot = /^btime (\d+)/m.exec(readText('/proc/stat'))?.[1];
  const madeMs = orElse(null, () => statSync(sign).mtimeMs);
  if (began === undefined || boot === undefined || madeMs === null) return false;
  return Number(boot) + Number(began) / TICKS_PER_SECOND > madeMs / 1000 + SLACK_SECONDS;
}
