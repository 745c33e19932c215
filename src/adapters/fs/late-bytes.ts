import { constants, fstatSync, fsyncSync, ftruncateSync, readSync, statSync, writeSync } from 'node:fs';
import { NO_FOLLOW, withOpenFile } from '../../system/files.ts';
import { detectCompression, MAGIC_BYTES } from './compression.ts';
import { foreignLeftover, type LateFile, withLeftover } from './leftovers.ts';

const LF = 0x0a;
/** At most this much can be written to a file between its naming and this check. */
const MAX_RACE_BYTES = 1024 * 1024;

type Bringing = {
  readonly brought: number | null;
  /** From where on the target may have bytes of the late file already. */
  readonly since: number;
};

/**
 * Appends what came to a late file to another one. Gives how many bytes of it are there now; null: there is no such file. Throws system
 * errors, or that the late file is not ours.
 */
export function appendLate(
  to: string,
  { path, fromBytes, inode }: LateFile,
  { brought, since }: Bringing,
): number | null {
  const now = statSync(to, { bigint: true, throwIfNoEntry: false });
  return withLeftover(path, now, (late) => {
    const { ino, size, nlink } = fstatSync(late, { bigint: true });
    const from = fromBytes + (brought ?? 0);
    if (Number(size) <= from) return brought ?? 0;
    if (ino !== inode) throw foreignLeftover(path, 'it is not the file that was replaced');
    if (now === undefined) return null;
    if (nlink > 1n) throw foreignLeftover(path, 'it is a hard link to a file that has other names');
    const beginsLine = from === 0 || byteAt(late, from - 1) === LF;
    const missed = readFrom(late, from);
    appendMissing(to, { missed, beginsLine, since: brought === null ? since : null });
    return from - fromBytes + missed.length;
  });
}

type Missed = { readonly missed: Buffer; readonly beginsLine: boolean; readonly since: number | null };

/** `since` null: none of it is there yet. */
function appendMissing(to: string, { missed, beginsLine, since }: Missed): void {
  withOpenFile(to, constants.O_RDWR | constants.O_APPEND | NO_FOLLOW, (fd) => {
    const { size } = fstatSync(fd);
    const from = since === 0 ? Math.max(0, size - missed.length - MAX_RACE_BYTES) : (since ?? size);
    const missing = since === null ? missed : missingFrom(missed, readFrom(fd, Math.min(from, size)));
    const isLine = missing.length === missed.length ? beginsLine : missed[missed.length - missing.length - 1] === LF;
    // Compressed data has no lines.
    const needsLineEnd = !isCompressed(fd) && isLine && size > 0 && byteAt(fd, size - 1) !== LF;
    if (missing.length > 0) appendOrUndo(fd, needsLineEnd ? Buffer.concat([Buffer.of(LF), missing]) : missing, size);
    fsyncSync(fd);
  });
}

/** The part of the missed bytes that is not yet there. If this cannot be decided, whole lines are duplicated rather than lost. */
export function missingFrom(missed: Buffer, there: Buffer): Buffer {
  for (let at = there.indexOf(missed); at !== -1; at = there.indexOf(missed, at + 1))
    if (at === 0 || there[at - 1] === LF) return missed.subarray(missed.length);
  // The beginning of the missed bytes may be the end of what is there.
  for (let common = Math.min(missed.length, there.length); common > 0; common -= 1) {
    const at = there.length - common;
    const beginsLine = at === 0 || there[at - 1] === LF;
    if (beginsLine && there.subarray(at).equals(missed.subarray(0, common))) return missed.subarray(common);
  }
  return missed;
}

/** If it fails, half a line would corrupt what a program writes next, so the file is cut again, unless something was written after it. */
function appendOrUndo(fd: number, bytes: Buffer, size: number): void {
  let done = 0;
  try {
    while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done);
  } catch (error) {
    if (fstatSync(fd).size === size + done) ftruncateSync(fd, size);
    throw error;
  }
}

/** Bytes that tell a document from a fragment. */
const HEAD_BYTES = 64;

/** Whether a file is a document of its own, or one that a program has begun to write; false: a piece that a program appended. */
export function isWhole(path: string): boolean {
  return withOpenFile(path, constants.O_RDONLY | NO_FOLLOW, (fd) => {
    const head = readFrom(fd, 0, HEAD_BYTES);
    return head.length === 0 || isCompressed(fd) || /^\s*[{[]/.test(head.toString('latin1'));
  });
}

/** Reads to the current end, or at most so many bytes. */
export function readFrom(fd: number, from: number, maxBytes = Infinity): Buffer {
  const bytes = Buffer.alloc(Math.max(0, Math.min(fstatSync(fd).size - from, maxBytes)));
  let got = 0;
  while (got < bytes.length) {
    const count = readSync(fd, bytes, got, bytes.length - got, from + got);
    if (count === 0) break;
    got += count;
  }
  return bytes.subarray(0, got);
}

function isCompressed(fd: number): boolean {
  return detectCompression(readFrom(fd, 0, MAGIC_BYTES)) !== 'none';
}

function byteAt(fd: number, position: number): number | undefined {
  const byte = Buffer.alloc(1);
  return readSync(fd, byte, 0, 1, position) === 1 ? byte[0] : undefined;
}
