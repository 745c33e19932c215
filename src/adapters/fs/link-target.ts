import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { errorCode } from './failure.ts';

/** As many as Linux follows. */
const MAX_LINKS = 40;

/**
 * Where a path leads when links are followed, to a file that need not be there. Where names are not told apart by case or normalization it is
 * the name that the file has, on macOS and Windows; on Linux (folders with casefold), or for no file, it is the name that was given. Rejects
 * with the system's error.
 */
export async function followLinks(path: string): Promise<string> {
  let current = path;
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    // The folder as it really is: `..` in a link's text counts from there.
    const folder = await realpath(dirname(current));
    current = join(folder, basename(current));
    const text = await readLink(current);
    if (text === null) return (await realName(current)) ?? current;
    current = isAbsolute(text) ? text : `${folder}/${text}`;
  }
  throw Object.assign(new Error(`too many links: ${path}`), { code: 'ELOOP', syscall: 'readlink' });
}

async function realName(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function readLink(path: string): Promise<string | null> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : null;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
