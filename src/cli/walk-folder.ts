import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { err, ok, type Result } from '../core/result.ts';
import type { FileFailure } from '../ports/files.ts';
import { toFileFailure } from './system-failure.ts';

/** The files of a folder and of the folders in it, and the folders that could not be looked into. */
export type Walk = { readonly paths: readonly string[]; readonly failures: readonly FileFailure[] };

/**
 * Depth first, sorted, hidden folders too. As ripgrep does it, links are not followed (they may lead around in a circle), and what is
 * no file (a pipe) is passed over whatever its name is.
 */
export async function walkFolder(folder: string, accepts: (name: string) => boolean): Promise<Walk> {
  const paths: string[] = [];
  const failures: FileFailure[] = [];
  const walk = async (current: string): Promise<void> => {
    const entries = await listFolder(current);
    if (!entries.ok) {
      failures.push(entries.error);
      return;
    }
    for (const entry of entries.value) {
      const path = join(current, entry.name);
      if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) await walk(path);
      else if (entry.isFile() && accepts(entry.name)) paths.push(path);
    }
  };
  await walk(folder);
  return { paths, failures };
}

const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** Sorted. The failure: no permission, or gone since its parent was read. */
export async function listFolder(folder: string): Promise<Result<readonly Dirent[], FileFailure>> {
  const { readdir } = await import('node:fs/promises');
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return ok(entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
  } catch (error) {
    return err(toFileFailure(error, { path: folder, what: 'read' }));
  }
}
