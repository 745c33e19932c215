import { createHash } from 'node:crypto';
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { geteuid } from 'node:process';
import type { FileFailure } from '../../ports/files.ts';
import { errorCode } from './system.ts';

/**
 * A hard link to the file that a target was before it was replaced. Its first `fromBytes` bytes are in the new target,
 * which had `atBytes` bytes then. `inode` is that of the linked file.
 */
export type BackupLink = {
  readonly path: string;
  readonly fromBytes: number;
  readonly atBytes: number;
  readonly inode: bigint;
};

/** What ended runs left. */
type Leftovers = { readonly temporaries: readonly string[]; readonly backups: readonly BackupLink[] };

/** The hidden names beside a target, different for each target in a folder. */
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

/** Thrown for something at one of our hidden names that this program did not create. */
type ForeignLeftover = Error & { readonly foreignLeftover: Extract<FileFailure, { kind: 'foreign-leftover' }> };

export function foreignLeftover(path: string, is: string): ForeignLeftover {
  return Object.assign(new Error(`${path}: ${is}`), {
    foreignLeftover: { kind: 'foreign-leftover', path, is } as const,
  });
}

/** The failure carried by a `ForeignLeftover`; null: another error. */
export function leftoverFailureOf(error: unknown): FileFailure | null {
  return error instanceof Error && 'foreignLeftover' in error ? (error as ForeignLeftover).foreignLeftover : null;
}

/**
 * Opens what a killed run left for reading, without following a link. Throws a `ForeignLeftover` unless it is a regular
 * file of this user or of the owner of the file beside it; throws system errors.
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
    // A named pipe would wait for a writer forever.
    return openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (errorCode(error) === 'ELOOP') throw foreignLeftover(path, 'it is a symbolic link');
    throw error;
  }
}

/** Stats the name itself, not what a link leads to. */
export function statName(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

/** Why this program cannot have created the name; null: it may have. Windows has no owners. */
export function describeForeign(stats: BigIntStats, beside: BigIntStats | undefined): string | null {
  if (stats.isSymbolicLink()) return 'it is a symbolic link';
  if (!stats.isFile()) return 'it is not a regular file';
  const user = geteuid?.();
  if (user === undefined || [BigInt(user), 0n, beside?.uid].includes(stats.uid)) return null;
  return `it belongs to another user (${stats.uid})`;
}
