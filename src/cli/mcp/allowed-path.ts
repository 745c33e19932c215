import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { err, ok, type Result, systemCode } from '../../core/result.ts';
import type { FileFailure } from '../../ports/files.ts';
import { renderFailure } from '../../messages/failure.ts';
import { safeText } from '../../messages/text.ts';
import { toFileFailure } from '../../system/files.ts';

/** A folder that the server may work in: as the user named it, and its real path. */
export type AllowedFolder = { readonly named: string; readonly real: string };

/** An error of `resolveFolder` is a usage error. */
export function resolveFolder(folder: string, workingFolder: string): Result<AllowedFolder, FileFailure> {
  const named = resolve(workingFolder, folder);
  try {
    const real = realpathSync.native(named);
    if (!statSync(real).isDirectory()) return err({ kind: 'not-a-file', path: folder, is: 'a file, not a folder' });
    return ok({ named, real });
  } catch (error) {
    return err(toFileFailure(error, { path: folder, what: 'read', isFolder: true }));
  }
}

/**
 * Resolves a path to a file inside one of the folders, whatever links and `..` it contains. A relative path is looked up in
 * each of them. The error says what is wrong; for a path outside it does not reveal whether the file exists.
 */
export function resolveAllowed(path: string, folders: readonly AllowedFolder[]): Result<string, string> {
  if (path === '' || path.includes('\0')) return err('The path is empty or contains a NUL. Name a transcript.');
  const candidates = isAbsolute(path) ? [resolve(path)] : folders.map(({ named }) => resolve(named, path));
  let missing: FileFailure | null = null;
  for (const candidate of candidates) {
    const real = realPath(candidate);
    if (real.ok && !isInside(real.value, folders)) continue;
    if (real.ok) return checkFile(real.value, path);
    if (isNamedInside(candidate, folders)) missing ??= { ...real.error, path };
  }
  return err(missing === null ? outside(path, folders) : renderFailure({ kind: 'file', failure: missing }));
}

/** An open file inside the folders: while it is open, no other file has the same device and inode numbers. */
export type AllowedFile = {
  readonly path: string;
  readonly identity: { readonly device: bigint; readonly inode: bigint };
  readonly close: () => void;
};

/**
 * Resolves a path once, opens it, and checks where the descriptor leads, so that swapping folders or links meanwhile gives no access to
 * anything outside. Whoever reads the file later compares its identity.
 */
export function openAllowed(path: string, folders: readonly AllowedFolder[]): Result<AllowedFile, string> {
  const resolved = resolveAllowed(path, folders);
  if (!resolved.ok) return resolved;
  const real = resolved.value;
  let descriptor: number;
  try {
    descriptor = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (systemCode(error) === 'ELOOP') return err(outside(path, folders));
    return err(
      renderFailure({ kind: 'file', failure: { ...toFileFailure(error, { path: real, what: 'read' }), path } }),
    );
  }
  const close = (): void => closeSync(descriptor);
  const { dev: device, ino: inode } = fstatSync(descriptor, { bigint: true });
  const identity = { device, inode };
  if (fstatSync(descriptor).isFile() && leadsInside(descriptor, { real, identity, folders })) {
    return ok({ path: real, identity, close });
  }
  close();
  return err(outside(path, folders));
}

/** Without /proc (macOS, Windows), the path must lead to the same file a second time. */
function leadsInside(
  descriptor: number,
  {
    real,
    identity,
    folders,
  }: Pick<AllowedFile, 'identity'> & {
    readonly real: string;
    readonly folders: readonly AllowedFolder[];
  },
): boolean {
  const link = `/proc/self/fd/${descriptor}`;
  if (existsSync('/proc/self/fd')) return isInside(readlinkSync(link), folders);
  const again = realPath(real);
  if (!again.ok || !isInside(again.value, folders)) return false;
  const found = lstatSync(again.value, { bigint: true, throwIfNoEntry: false });
  return found !== undefined && found.dev === identity.device && found.ino === identity.inode;
}

/** Whether writing there stays inside the folders: an existing output may be a link that leads out of them. */
export function leadsOutside(output: string, folders: readonly AllowedFolder[]): boolean {
  if (lstatSync(output, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return false;
  const real = realPath(output);
  return !real.ok || !isInside(real.value, folders);
}

function realPath(path: string): Result<string, FileFailure> {
  try {
    return ok(realpathSync.native(path));
  } catch (error) {
    return err(toFileFailure(error, { path, what: 'read' }));
  }
}

/** A pipe or a device is never opened: that could wait forever. */
function checkFile(real: string, path: string): Result<string, string> {
  const found = statSync(real, { throwIfNoEntry: false });
  if (found?.isFile() === true) return ok(real);
  const is = found?.isDirectory() === true ? 'a folder' : 'neither a file nor a folder';
  const failure: FileFailure = found === undefined ? { kind: 'not-found', path } : { kind: 'not-a-file', path, is };
  return err(renderFailure({ kind: 'file', failure }));
}

/** Whether nothing is where a path leads, which is said only of a path inside the folders. */
export function isMissingInside(path: string, folders: readonly AllowedFolder[]): boolean {
  const real = realPath(path);
  return !real.ok && real.error.kind === 'not-found' && isNamedInside(path, folders);
}

function isInside(real: string, folders: readonly AllowedFolder[]): boolean {
  return folders.some((folder) => isBelow(real, folder.real));
}

function isNamedInside(path: string, folders: readonly AllowedFolder[]): boolean {
  return folders.some(({ named, real }) => isBelow(path, named) || isBelow(path, real));
}

/** Also true for the folder itself: the caller then reports that it is not a file. */
function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function outside(path: string, folders: readonly AllowedFolder[]): string {
  const names = folders.map(({ named }) => safeText(named)).join(', ');
  return `${safeText(path)}: outside the allowed folders (${names}). Name a transcript inside them.`;
}
