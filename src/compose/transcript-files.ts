import { type Dirent, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findMovedAside } from '../core/paths.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { FileFailure } from '../ports/files.ts';
import { orElse, toFileFailure } from '../system/files.ts';

/**
 * The files below a folder, and the folders that could not be read. Depth first, sorted, including hidden folders. Like ripgrep, it does not
 * follow links (they may form a circle), and it skips whatever is not a file (a pipe), whatever its name is.
 */
export async function walkFolder(folder: string, accepts: (name: string) => boolean) {
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
    // Whoever opens such a file brings it back first.
    const moved = findMovedAside(entries.value.map(({ name }) => name)).filter(accepts);
    paths.push(...moved.map((name) => join(current, name)));
  };
  await walk(folder);
  return { paths, failures };
}

const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** Sorted. It fails without permission, or if the folder was removed after its parent was read. */
export async function listFolder(folder: string): Promise<Result<readonly Dirent[], FileFailure>> {
  const { readdir } = await import('node:fs/promises');
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return ok(entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
  } catch (error) {
    return err(toFileFailure(error, { path: folder, what: 'read', isFolder: true }));
  }
}

// The extensions of a transcript; that of a compressed one comes after them.
const ENDING = /(?:\.(?:jsonl|ndjson|json|eval))?(?:\.(?:zst|gz))?$/i;
const COMPACTED = /\.compact(?:\.(?:jsonl|ndjson|json|eval))?(?:\.(?:zst|gz))?$/i;
const TRANSCRIPT = /\.jsonl(?:\.(?:zst|gz))?$/i;

/** Whether a file found in a folder counts as a transcript. */
export function isTranscriptName(path: string): boolean {
  return TRANSCRIPT.test(path);
}

/** Whether a name looks like an output of this program. */
export function isCompacted(path: string): boolean {
  return COMPACTED.test(path);
}

/** `dir/x.jsonl` → `dir/x.compact.jsonl`; a name without a known extension gets `.compact.jsonl`. */
export function compactedPath(path: string): string {
  const name = basename(path);
  const ending = ENDING.exec(name)?.[0] ?? '';
  const stem = name.slice(0, name.length - ending.length);
  // A name that consists of an extension (`.jsonl`) is a hidden file.
  const renamed = stem === '' ? `${name}.compact.jsonl` : `${stem}.compact${ending === '' ? '.jsonl' : ending}`;
  return folderPart(path) + renamed;
}

/** `x.compact.jsonl` → `x.restored.jsonl`. */
export function restoredPath(path: string): string {
  const name = basename(path);
  const ending = ENDING.exec(name)?.[0] ?? '';
  const stem = name.slice(0, name.length - ending.length).replace(/\.compact$/i, '');
  return `${folderPart(path)}${stem}.restored${ending === '' ? '.jsonl' : ending}`;
}

/** `x.compact.jsonl` → `x.jsonl`; a file that was compacted in place keeps its name. */
export function originalPath(path: string): string {
  const name = basename(path);
  return folderPart(path) + name.replace(/\.compact(?=(?:\.(?:jsonl|ndjson|json|eval))?(?:\.(?:zst|gz))?$)/i, '');
}

/** The folder with its slash, as the user wrote it: `x` gets no `./`, `./x` keeps it. */
function folderPart(path: string): string {
  return path.slice(0, path.length - basename(path).length);
}

/** A compressed transcript unpacks to several times its size. */
const UNPACKED_RATIO = 8;

/** About how many bytes a transcript has, unpacked; 0 if it cannot be looked at, for which opening it gives the reason. */
export function estimateBytes(path: string): number {
  return orElse(0, () => {
    const { size } = statSync(path);
    return /\.(?:gz|zst|eval)$/i.test(path) ? size * UNPACKED_RATIO : size;
  });
}
