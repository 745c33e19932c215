import { basename, dirname, join, resolve } from 'node:path';
import type { HostEnvironment } from '../config/find.ts';
import type { Place } from '../ports/codec.ts';
import type { FileFailure } from '../ports/files.ts';
import type { ExitCode } from './exit-codes.ts';
import { gatherInputs } from './gather.ts';
import { dropRepeated } from './inputs.ts';
import { renderFailure } from './render/failure.ts';
import type { Session } from './session.ts';
import { isCompacted, isTranscriptName, listFolder, walkFolder } from './transcript-files.ts';

/** A file that may be a transcript. */
export type ScannedFile = {
  readonly path: string;
  readonly name: string;
  readonly isNamed: boolean;
  /** The name of the folder that holds the file: the fallback if the records name no project. */
  readonly project: string | null;
};

export type Scanned = {
  readonly files: readonly ScannedFile[];
  /** The places that were searched, for people. */
  readonly looked: readonly string[];
  /** The number of places that could not be read; each was reported. */
  readonly failedCount: number;
};

/** Searches the operands, or without any the places of the formats. A number is an exit code: the command is over. */
export async function findScanned(
  session: Session,
  { operands, format }: { readonly operands: readonly string[]; readonly format: string | null },
): Promise<Scanned | ExitCode> {
  if (operands.length > 0) {
    const gathered = await gatherInputs(session, operands, { skipsCompacted: true });
    if (typeof gathered === 'number') return gathered;
    const files = gathered.inputs.map(({ path, name, isNamed }) => ({ path, name, isNamed, project: folderOf(path) }));
    return { files, looked: operands, failedCount: gathered.failures.length };
  }
  const { useCases, terminal, reporter } = session;
  const places = useCases
    .listFormats()
    .flatMap((one) => (format === null || one.name === format ? (one.places ?? []) : []));
  const known = await findKnownFiles(places, terminal.host);
  for (const failure of known.failures) reporter.error(renderFailure({ kind: 'file', failure }));
  const files = dropRepeated(known.files).map(({ path, project }) => ({ path, name: path, isNamed: false, project }));
  return { files, looked: known.looked, failedCount: known.failures.length };
}

function folderOf(path: string): string {
  return basename(dirname(resolve(path)));
}

/** What is in the places where producers keep transcripts. */
type KnownFiles = {
  /** `project` is the name of the folder that `*` matched. */
  readonly files: readonly { readonly path: string; readonly project: string | null }[];
  /** The places, for people; they may be empty. */
  readonly looked: readonly string[];
  readonly failures: readonly FileFailure[];
};

/** Looks for transcripts where their producers keep them. A missing place is no failure. */
export async function findKnownFiles(places: readonly Place[], host: HostEnvironment): Promise<KnownFiles> {
  const looked = new Set<string>();
  const files: { path: string; project: string | null }[] = [];
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

/** It does not exist, or it was removed after it was listed. */
function isThere(failure: FileFailure): boolean {
  return failure.kind !== 'not-found';
}
