import { createHash } from 'node:crypto';
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { geteuid } from 'node:process';
import type { FileFailure } from '../../ports/files.ts';
import { errorCode } from './system.ts';

/**
 * The file that a target was before it was replaced, under another name: up to `fromBytes` its content is in the target, which had `atBytes` then.
 * `inode` is that file's.
 */
export type BackupLink = {
  readonly path: string;
  readonly fromBytes: number;
  readonly atBytes: number;
  readonly inode: bigint;
};

/** What runs that have ended left. */
type Leftovers = { readonly temporaries: readonly string[]; readonly backups: readonly BackupLink[] };

/** The hidden names beside a target; two targets of one folder have different ones. */
export type HiddenNames = {
  readonly lock: string;
  readonly temporary: () => string;
  readonly old: (facts: Omit<BackupLink, 'path'>) => BackupLink;
  readonly findLeftovers: () => Leftovers;
};

const BACKUP_FACTS = /^(\d{1,15})-(\d{1,15})-(\d{1,20})\.old$/;

export function hiddenNamesOf(target: string): HiddenNames {
  const folder = dirname(target);
  const key = createHash('sha256').update(basename(target)).digest('hex').slice(0, 12);
  const prefix = `.compact-${key}-`;
  return {
    lock: join(folder, `.compact-${key}.lock`),
    temporary: () => join(folder, `${prefix}${crypto.randomUUID().slice(0, 8)}.tmp`),
    old: (facts) => ({
      path: join(folder, `${prefix}${facts.fromBytes}-${facts.atBytes}-${facts.inode}.old`),
      ...facts,
    }),
    findLeftovers: () => {
      const ours = readdirSync(folder).filter((name) => name.startsWith(prefix));
      return {
        temporaries: ours.filter((name) => name.endsWith('.tmp')).map((name) => join(folder, name)),
        backups: ours.flatMap((name) => {
          const [, fromBytes, atBytes, inode = ''] = BACKUP_FACTS.exec(name.slice(prefix.length)) ?? [];
          return inode === ''
            ? []
            : [
                {
                  path: join(folder, name),
                  fromBytes: Number(fromBytes),
                  atBytes: Number(atBytes),
                  inode: BigInt(inode),
                },
              ];
        }),
      };
    },
  };
}

/** Thrown where something stands at a hidden name of ours that this program did not leave there. */
type ForeignLeftover = Error & { readonly foreignLeftover: Extract<FileFailure, { kind: 'foreign-leftover' }> };

export function foreignLeftover(path: string, is: string): ForeignLeftover {
  return Object.assign(new Error(`${path}: ${is}`), {
    foreignLeftover: { kind: 'foreign-leftover', path, is } as const,
  });
}

/** The failure that such an error carries; null: it is another error. */
export function carriedLeftover(error: unknown): FileFailure | null {
  return error instanceof Error && 'foreignLeftover' in error ? (error as ForeignLeftover).foreignLeftover : null;
}

/**
 * Opens what a killed run left, for reading, without following a link. Throws a `ForeignLeftover` for what is no regular file of this user's or of
 * the owner of the file beside it, and the system's errors.
 */
export function openLeftover(path: string, beside: BigIntStats | undefined): number {
  const fd = tryOpen(path);
  try {
    const problem = describeForeign(fstatSync(fd, { bigint: true }), beside);
    if (problem === null) return fd;
    throw foreignLeftover(path, problem);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function tryOpen(path: string): number {
  try {
    // A named pipe would wait for a writer, for ever.
    return openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (errorCode(error) === 'ELOOP') throw foreignLeftover(path, 'it is a symbolic link');
    throw error;
  }
}

/** The facts of a name itself, not of what it may lead to. */
export function lookAtName(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

/** Why a name is not one that this program made; null: it may be. Windows has no owners. */
export function describeForeign(stats: BigIntStats, beside: BigIntStats | undefined): string | null {
  if (stats.isSymbolicLink()) return 'it is a symbolic link';
  if (!stats.isFile()) return 'it is not a regular file';
  const user = geteuid?.();
  if (user === undefined || [BigInt(user), 0n, beside?.uid].includes(stats.uid)) return null;
  return `it belongs to another user (${stats.uid})`;
}
