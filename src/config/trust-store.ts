import { hash } from 'node:crypto';
import { constants, fstatSync, lstatSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { err, ok, type Result, parseJson } from '../core/result.ts';
import { errorCode, makeFolder, NO_FOLLOW, NO_WAIT, orElse, replaceFile, withOpenFile } from '../system/files.ts';
import { describeOwner, type HostEnvironment, stateFolder } from './find.ts';

const recordSchema = z.strictObject({ path: z.string(), sha256: z.string(), trustedAt: z.iso.datetime() });

/** A trusted file: its path, and the hash of the content that the user saw. */
export type TrustRecord = z.infer<typeof recordSchema>;

/**
 * The files that the user has trusted, in `$XDG_STATE_HOME/compact/trusted`. Each has its own record file, so that
 * concurrent commands do not overwrite each other. An error says why the folder cannot be used, without a full stop.
 */
export function createTrustStore(host: HostEnvironment) {
  const folder = join(stateFolder(host), 'trusted');
  const fileOf = (path: string): string => join(folder, `${hashConfig(Buffer.from(path))}.json`);
  const attempt = <T>(work: () => T): Result<T, string> => {
    try {
      const problem = findProblem([dirname(folder), folder], host);
      return problem === null ? ok(work()) : err(problem);
    } catch (error) {
      const code = errorCode(error);
      if (code === null) throw error;
      return err(`${folder}: the system says ${code}`);
    }
  };
  return {
    folder,
    find: (path: string): Result<TrustRecord | null, string> => attempt(() => readRecord(fileOf(path), host)),
    record: (record: TrustRecord): Result<void, string> => {
      const made = attempt(() => makeFolder(folder));
      return made.ok ? attempt(() => replaceFile(fileOf(record.path), `${JSON.stringify(record)}\n`)) : made;
    },
    /** False: it was not trusted. */
    revoke: (path: string): Result<boolean, string> =>
      attempt(() => {
        const known = lstatSync(fileOf(path), { throwIfNoEntry: false }) !== undefined;
        if (known) rmSync(fileOf(path));
        return known;
      }),
    /** By path. */
    list: (): Result<readonly TrustRecord[], string> =>
      attempt(() =>
        orElse([], () => readdirSync(folder), ['ENOENT'])
          .filter((name) => name.endsWith('.json'))
          .flatMap((name) => readRecord(join(folder, name), host) ?? [])
          .toSorted((a, b) => (a.path < b.path ? -1 : 1)),
      ),
  };
}

/** The path under which a file is recorded: links in its folder are resolved, its own name is not. */
export function trustedPath(path: string): string {
  const whole = resolve(path);
  return orElse(whole, () => join(realpathSync(dirname(whole)), basename(whole)));
}

export function hashConfig(bytes: Uint8Array): string {
  return hash('sha256', bytes);
}

const WRITABLE_BY_OTHERS = 0o022;

/**
 * Why the records in these folders cannot be trusted; null: only the user can write there, or they do not exist yet.
 */
function findProblem(folders: readonly string[], host: HostEnvironment): string | null {
  for (const folder of folders) {
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats === undefined) return null;
    if (!stats.isDirectory()) return `${folder} is not a folder`;
    const owner = describeOwner('it', stats, host);
    if (owner !== null) return `${folder} is not trusted: ${owner}`;
    if (host.userId !== null && (stats.mode & WRITABLE_BY_OTHERS) !== 0) {
      return `${folder} is not trusted: others can write to it (chmod go-w)`;
    }
  }
  return null;
}

/** Null: there is no record, or another user could have written it. */
function readRecord(file: string, host: HostEnvironment): TrustRecord | null {
  const text = readOwn(file, host);
  // A damaged record trusts nothing.
  const parsed = recordSchema.safeParse(text === null ? null : parseJson(text));
  return parsed.success ? parsed.data : null;
}

function readOwn(file: string, host: HostEnvironment): string | null {
  const read = (descriptor: number): string | null => {
    const stats = fstatSync(descriptor);
    const isOwn = stats.isFile() && describeOwner('it', stats, host) === null;
    const isClosed = host.userId === null || (stats.mode & WRITABLE_BY_OTHERS) === 0;
    return isOwn && isClosed ? readFileSync(descriptor, 'utf8') : null;
  };
  return orElse(null, () => withOpenFile(file, constants.O_RDONLY | NO_FOLLOW | NO_WAIT, read), ['ENOENT', 'ELOOP']);
}
