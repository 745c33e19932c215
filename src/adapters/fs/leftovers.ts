import { hash } from 'node:crypto';
import { type BigIntStats, constants, fstatSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { geteuid } from 'node:process';
import { errorCode, fileError, NO_FOLLOW, NO_WAIT, withOpenFile } from '../../system/files.ts';

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
    temporary: () => join(folder, `${prefix}${crypto.randomUUID().slice(0, 8)}.tmp`),
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
