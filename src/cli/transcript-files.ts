import type { Dirent } from 'node:fs';
import { basename, join } from 'node:path';
import { err, ok, type Result } from '../core/result.ts';
import type { FileFailure } from '../ports/files.ts';
import { toFileFailure } from './system-failure.ts';

/** The files of a folder and of the folders in it, and the folders that could not be looked into. */
type Walk = { readonly paths: readonly string[]; readonly failures: readonly FileFailure[] };

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

// What a transcript's name may end in; a compressed one's ending follows the other.
const ENDING = /(?:\.(?:jsonl|ndjson|json))?(?:\.(?:zst|gz))?$/i;
const COMPACTED = /\.compact(?:\.(?:jsonl|ndjson|json))?(?:\.(?:zst|gz))?$/i;
const TRANSCRIPT = /\.jsonl(?:\.(?:zst|gz))?$/i;

/** Whether a file of a folder is taken for a transcript without being named. */
export function isTranscriptName(path: string): boolean {
  return TRANSCRIPT.test(path);
}

/** Whether a name is one that this program gives its results. */
export function isCompacted(path: string): boolean {
  return COMPACTED.test(path);
}

/** `dir/x.jsonl` → `dir/x.compact.jsonl`; a name without a known ending gets `.compact.jsonl`. */
export function compactedPath(path: string): string {
  const name = basename(path);
  const ending = ENDING.exec(name)?.[0] ?? '';
  const stem = ending === '' ? name : name.slice(0, -ending.length);
  // A name that is an ending and nothing else (`.jsonl`) is a hidden file's.
  const renamed = stem === '' ? `${name}.compact.jsonl` : `${stem}.compact${ending === '' ? '.jsonl' : ending}`;
  return folderPart(path) + renamed;
}

/** `x.compact.jsonl` → `x.restored.jsonl`. */
export function restoredPath(path: string): string {
  const name = basename(path);
  const ending = ENDING.exec(name)?.[0] ?? '';
  const stem = (ending === '' ? name : name.slice(0, -ending.length)).replace(/\.compact$/i, '');
  return `${folderPart(path)}${stem}.restored${ending === '' ? '.jsonl' : ending}`;
}

/** With its slash, as the user wrote it: `x` stays without `./`, `./x` stays with it. */
function folderPart(path: string): string {
  return path.slice(0, path.length - basename(path).length);
}
