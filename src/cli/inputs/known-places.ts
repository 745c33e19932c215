import { realpathSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import type { HostEnvironment } from '../../config/find.ts';
import { hasSessionId, isOtherAgent } from '../../core/paths.ts';
import type { Format, Place } from '../../ports/codec.ts';
import type { FileFailure } from '../../ports/files.ts';
import { orElse } from '../../system/files.ts';
import { dropRepeated } from './inputs.ts';
import { isCompacted, isTranscriptName, listFolder, walkFolder } from '../../compose/transcript-files.ts';

/** The transcripts in the known places whose session's id begins with `id`; of a session with several agents, the main one's. */
export async function findSessions(
  id: string,
  { formats, host }: { readonly formats: readonly Format[]; readonly host: HostEnvironment },
): Promise<readonly string[]> {
  const { files } = await findKnownFiles(placesOf(formats), host);
  const found = files.filter(({ path }) => hasSessionId(path, id));
  const main = found.filter(({ path }) => !isOtherAgent(path));
  return dropRepeated(main.length > 0 ? main : found).map(({ path }) => path);
}

export function placesOf(formats: readonly Format[]): readonly Place[] {
  return formats.flatMap(({ places = [] }) => places);
}

/** `project` is the name of the folder that `*` in the place matched. */
type KnownFile = { readonly path: string; readonly project: string | null };

/** Looks for transcripts where their producers keep them. A missing place is no failure. `looked`: the places, for people; they may be empty. */
export async function findKnownFiles(places: readonly Place[], host: HostEnvironment) {
  const looked = new Set<string>();
  const files: KnownFile[] = [];
  const failures: FileFailure[] = [];
  for (const place of places) {
    const root = findRoot(place, host);
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

/** An empty variable counts as not set; `~` is expanded for variables that were set without a shell. */
function findRoot({ variable, base }: Place, { environment, workingFolder, homeFolder }: HostEnvironment): string {
  const named = variable === undefined ? undefined : environment[variable];
  if (named === undefined || named === '') return join(homeFolder, base);
  return resolve(workingFolder, named.replace(/^~(?=\/|$)/, homeFolder));
}

/** Whether a file is where its producer keeps its transcripts. No link leads there from elsewhere. */
export function isInPlace(path: string, places: readonly Place[], host: HostEnvironment): boolean {
  return places.some((place) => {
    const parts = relative(
      orElse('/', () => realpathSync(findRoot(place, host))),
      orElse('..', () => realpathSync(path)),
    ).split(sep);
    const pattern = place.folder.split('/').filter((part) => part !== '');
    const isBelow = pattern.every((part, at) => part === parts[at] || (part === '*' && (parts[at] ?? '..') !== '..'));
    return isBelow && parts[0] !== '..' && parts.length > pattern.length && accepts(place, parts.at(-1) ?? '');
  });
}

function accepts({ file }: Place, name: string): boolean {
  if (file === undefined) return isTranscriptName(name) && !isCompacted(name);
  return file.startsWith('*') ? name.endsWith(file.slice(1)) && !isCompacted(name) : name === file;
}

async function findFolders(root: string, pattern: string) {
  let found: readonly KnownFile[] = [{ path: root, project: null }];
  const failures: FileFailure[] = [];
  for (const part of pattern.split('/')) {
    const next: KnownFile[] = [];
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

/** It does not exist, or it was removed after it was listed. */
function isThere(failure: FileFailure): boolean {
  return failure.kind !== 'not-found';
}
