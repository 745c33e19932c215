import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { kill, pid } from 'node:process';
import type { FileWriter, OpenSign } from '../../ports/files.ts';
import { readOutsideFile } from './outside-file.ts';
import { errorCode } from './system.ts';

const MAX_SIGN_BYTES = 64 * 1024;

/** The running program that left one of these signs of having a transcript open; null: none is to be seen. */
export function findSessionUser(path: string, signs: readonly OpenSign[]): FileWriter | null {
  for (const sign of signs) {
    for (const from of sign.folders) {
      const folder = join(dirname(resolve(path)), from);
      for (const name of listFolder(folder)) {
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
  try {
    const sign: unknown = JSON.parse(Buffer.from(read.value).toString());
    const id: unknown = typeof sign === 'object' && sign !== null ? Reflect.get(sign, sessionKey) : undefined;
    return resolve(path)
      .split(/[\\/]/)
      .some((part) => part.replace(/\.jsonl$/, '') === id);
  } catch {
    return false; // half written
  }
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
  try {
    // The name in brackets may contain anything; the time is the 20th value after it.
    const values = readFileSync(`/proc/${processId}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    const bootSeconds = Number(/^btime (\d+)/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]);
    const beganSeconds = bootSeconds + Number(values[19]) / TICKS_PER_SECOND;
    return beganSeconds > statSync(sign).mtimeMs / 1000 + SLACK_SECONDS;
  } catch (error) {
    if (errorCode(error) === null) throw error;
    return false;
  }
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === null) throw error;
    return [];
  }
}
