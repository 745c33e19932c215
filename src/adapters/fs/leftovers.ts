import { hash, randomBytes } from 'node:crypto';
import {
  type BigIntStats,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  readdirSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { geteuid } from 'node:process';
import { errorCode, fileError, NO_FOLLOW, NO_WAIT, withOpenFile } from '../../system/files.ts';
import { detectCompression, MAGIC_BYTES } from './compression.ts';

/**
 * A file that a new one replaces, under its hidden name. It had `sizeBytes` and `mtimeNs` when it was moved aside. `isNamed`: the new file has
 * got the name since. `ours` tells the new file from those of other programs.
 */
export type OldFile = {
  readonly path: string;
  readonly isNamed: boolean;
  /** Its content is one JSON value, so nothing can be appended to it. */
  readonly isDocument: boolean;
  readonly sizeBytes: number;
  readonly mtimeNs: bigint;
  readonly inode: bigint;
  readonly ours: NewFile;
};

/** A new file right before it gets its name. `mark` is the hash of its first and last bytes. */
export type NewFile = {
  readonly inode: bigint;
  readonly sizeBytes: number;
  readonly mtimeNs: bigint;
  readonly mark: string;
};

/** A file whose bytes from `fromBytes` on belong at the end of the target. */
export type LateFile = { readonly path: string; readonly fromBytes: number; readonly inode: bigint };

/** What ended runs left. */
type Leftovers = {
  readonly temporaries: readonly string[];
  readonly olds: readonly OldFile[];
  /** Oldest first. */
  readonly lates: readonly LateFile[];
};

/** The hidden names beside a target, different for each target in a folder. */
export type HiddenNames = {
  readonly lock: string;
  readonly temporary: () => string;
  readonly old: (facts: Omit<OldFile, 'path'>) => OldFile;
  /** `turn` counts the late files of one swap from 0. */
  readonly late: (facts: Omit<LateFile, 'path'>, turn: number) => LateFile;
  readonly findLeftovers: () => Leftovers;
};

const OLD_FACTS =
  /^(moved|named)(-document)?-(\d{1,15})-(\d{1,20})-(\d{1,20})-(\d{1,20})-(\d{1,15})-(\d{1,20})-([0-9a-f]{16})(?:=.*)?\.old$/;
const LATE_FACTS = /^(\d{4})-(\d{1,15})-(\d{1,20})\.late$/;
/** The limit of common file systems. */
const MAX_NAME_BYTES = 255;

export function hiddenNamesOf(target: string): HiddenNames {
  const folder = dirname(target);
  const name = basename(target);
  const key = hash('sha256', name).slice(0, 12);
  const prefix = `.compact-${key}-`;
  return {
    lock: join(folder, `.compact-${key}.lock`),
    temporary: () => join(folder, `${prefix}${randomBytes(4).toString('hex')}.tmp`),
    old: (facts) => {
      const { isNamed, isDocument, sizeBytes, mtimeNs, inode, ours } = facts;
      const state = `${isNamed ? 'named' : 'moved'}${isDocument ? '-document' : ''}`;
      const rest = [sizeBytes, mtimeNs, inode, ours.inode, ours.sizeBytes, ours.mtimeNs, ours.mark].join('-');
      // The target's own name, so that whoever lists the folder knows which file is missing.
      const full = `${prefix}${state}-${rest}=${name}.old`;
      const fits = Buffer.byteLength(full) <= MAX_NAME_BYTES;
      return { ...facts, path: join(folder, fits ? full : `${prefix}${state}-${rest}.old`) };
    },
    late: (facts, turn) => {
      const number = String(turn).padStart(4, '0');
      return { ...facts, path: join(folder, `${prefix}${number}-${facts.fromBytes}-${facts.inode}.late`) };
    },
    findLeftovers: () => {
      const found = readdirSync(folder).filter((one) => one.startsWith(prefix));
      const ours = found.toSorted().map((one) => ({ path: join(folder, one), facts: one.slice(prefix.length) }));
      return {
        temporaries: ours.filter(({ path }) => path.endsWith('.tmp')).map(({ path }) => path),
        olds: ours.flatMap(({ path, facts }) => parseOld(path, facts) ?? []),
        lates: ours.flatMap(({ path, facts }) => {
          const [, , fromBytes, inode = ''] = LATE_FACTS.exec(facts) ?? [];
          return inode === '' ? [] : [{ path, fromBytes: Number(fromBytes), inode: BigInt(inode) }];
        }),
      };
    },
  };
}

function parseOld(path: string, facts: string): OldFile | null {
  const [, state, document, size = '', mtime = '', inode = '', newInode = '', newSize = '', newMtime = '', mark = ''] =
    OLD_FACTS.exec(facts) ?? [];
  if (state === undefined) return null;
  return {
    path,
    isNamed: state === 'named',
    isDocument: document !== undefined,
    sizeBytes: Number(size),
    mtimeNs: BigInt(mtime),
    inode: BigInt(inode),
    ours: { inode: BigInt(newInode), sizeBytes: Number(newSize), mtimeNs: BigInt(newMtime), mark },
  };
}

/** Thrown for something at one of our hidden names that this program did not create. */
export function foreignLeftover(path: string, is: string): Error {
  return fileError(`${path}: ${is}`, { kind: 'foreign-leftover', path, is });
}

/**
 * Reads what a killed run left, without following a link. Throws a `foreignLeftover` unless it is a regular file of this
 * user or of the owner of the file beside it; throws system errors.
 */
export function withLeftover<T>(path: string, beside: BigIntStats | undefined, work: (fd: number) => T): T {
  try {
    return withOpenFile(path, constants.O_RDONLY | NO_FOLLOW | NO_WAIT, (fd) => {
      const problem = describeForeign(fstatSync(fd, { bigint: true }), beside);
      if (problem !== null) throw foreignLeftover(path, problem);
      return work(fd);
    });
  } catch (error) {
    throw errorCode(error) === 'ELOOP' ? foreignLeftover(path, 'it is a symbolic link') : error;
  }
}

/** Why this program cannot have created the name; null: it may have. Windows has no owners. */
export function describeForeign(stats: BigIntStats, beside: BigIntStats | undefined): string | null {
  if (stats.isSymbolicLink()) return 'it is a symbolic link';
  if (!stats.isFile()) return 'it is not a regular file';
  const user = geteuid?.();
  if (user === undefined || [BigInt(user), 0n, beside?.uid].includes(stats.uid)) return null;
  return `it belongs to another user (${stats.uid})`;
}

const LF = 0x0a;
/** At most this much can be written to a file between its naming and this check. */
const MAX_RACE_BYTES = 1024 * 1024;

/**
 * Appends what came to a late file to another one, which may have bytes of it already from `since` on. Gives how many bytes of it are there
 * now; null: there is no such file. Throws system errors, or that the late file is not ours.
 */
export function appendLate(
  to: string,
  { late: { path, fromBytes, inode }, brought }: { readonly late: LateFile; readonly brought: number | null },
  since: number,
): number | null {
  const now = statSync(to, { bigint: true, throwIfNoEntry: false });
  return withLeftover(path, now, (fd) => {
    const { ino, size, nlink } = fstatSync(fd, { bigint: true });
    const from = fromBytes + (brought ?? 0);
    if (Number(size) <= from) return brought ?? 0;
    if (ino !== inode) throw foreignLeftover(path, 'it is not the file that was replaced');
    if (now === undefined) return null;
    if (nlink > 1n) throw foreignLeftover(path, 'it is a hard link to a file that has other names');
    const beginsLine = from === 0 || byteAt(fd, from - 1) === LF;
    const missed = readFrom(fd, from);
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
