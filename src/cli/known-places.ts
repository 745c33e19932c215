import { join, resolve } from 'node:path';
import type { Surroundings } from '../config/find.ts';
import type { Place } from '../ports/codec.ts';
import type { FileFailure } from '../ports/files.ts';
import { isCompacted, isTranscriptName } from './transcript-name.ts';
import { listFolder, walkFolder } from './walk-folder.ts';

/** What stands in the places of the producers. */
export type KnownFiles = {
  /** `project` is the name of the folder that `*` stands for. */
  readonly files: readonly { readonly path: string; readonly project: string | null }[];
  /** The places, for people; there may be nothing in them. */
  readonly looked: readonly string[];
  readonly failures: readonly FileFailure[];
};

/** Looks for transcripts where their producers keep them. A place that is not there is no failure. */
export async function findKnownFiles(places: readonly Place[], surroundings: Surroundings): Promise<KnownFiles> {
  const looked = new Set<string>();
  const files: { path: string; project: string | null }[] = [];
  const failures: FileFailure[] = [];
  for (const place of places) {
    const root = findRoot(place, surroundings);
    const name = join(root, place.folder, ...(place.file === undefined ? [] : ['**', place.file]));
    if (looked.has(name)) continue;
    looked.add(name);
    const folders = await findFolders(root, place.folder);
    failures.push(...folders.failures);
    for (const { path, project } of folders.found) {
      const walk = await walkFolder(path, (file) => accepts(place, file));
      for (const one of walk.paths) files.push({ path: one, project });
      failures.push(...walk.failures.filter(isThere));
    }
  }
  return { files, looked: [...looked], failures };
}

/** An empty variable counts as not set; `~` is for those who set it where no shell reads it. */
function findRoot({ variable, base }: Place, { environment, workingFolder, homeFolder }: Surroundings): string {
  const named = variable === undefined ? undefined : environment[variable];
  if (named === undefined || named === '') return join(homeFolder, base);
  return resolve(workingFolder, named.replace(/^~(?=\/|$)/, homeFolder));
}

function accepts({ file }: Place, name: string): boolean {
  if (file === undefined) return isTranscriptName(name) && !isCompacted(name);
  return file.startsWith('*') ? name.endsWith(file.slice(1)) && !isCompacted(name) : name === file;
}

type Folders = {
  readonly found: readonly { readonly path: string; readonly project: string | null }[];
  readonly failures: readonly FileFailure[];
};

async function findFolders(root: string, pattern: string): Promise<Folders> {
  let found: Folders['found'] = [{ path: root, project: null }];
  const failures: FileFailure[] = [];
  for (const part of pattern.split('/')) {
    const next: { path: string; project: string | null }[] = [];
    for (const { path, project } of found) {
      if (part !== '*') {
        next.push({ path: join(path, part), project });
        continue;
      }
      const entries = await listFolder(path);
      if (!entries.ok) failures.push(entries.error);
      else {
        const folders = entries.value.filter((entry) => entry.isDirectory());
        next.push(...folders.map(({ name }) => ({ path: join(path, name), project: name })));
      }
    }
    found = next;
  }
  return { found, failures: failures.filter(isThere) };
}

/** Not there at all, or gone since it was seen. */
function isThere(failure: FileFailure): boolean {
  return failure.kind !== 'not-found';
}
