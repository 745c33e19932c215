import { lstatSync, realpathSync, statSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { join, relative } from 'node:path';
import { err, ok } from '../core/result.ts';
import type { Result } from '../core/result.ts';
import type { FileFailure } from '../ports/files.ts';
import { systemCode, toFileFailure } from './system-failure.ts';
import { isCompacted, isTranscriptName } from './transcript-name.ts';

/** A transcript that the operands name. */
export type InputFile = {
  /** As it is opened and as messages call it. */
  readonly path: string;
  /** Below the folder that it was found in: what an output folder repeats of its path. */
  readonly pathInFolder: string;
  /** Named itself, not found in a folder or by a glob. */
  readonly isNamed: boolean;
};

export type InputProblem =
  | { readonly kind: 'missing'; readonly operand: string }
  | { readonly kind: 'no-match'; readonly pattern: string }
  | { readonly kind: 'file'; readonly failure: FileFailure };

export type InputSet = {
  /** In the order of the operands, sorted within one, each file once. */
  readonly files: readonly InputFile[];
  /** A folder was named: there may be any number of files, whatever their number is now. */
  readonly hasFolder: boolean;
  /** Folders and globs that hold no transcript: nothing to do there, and not an error. */
  readonly empty: readonly string[];
  readonly problems: readonly InputProblem[];
};

/** `skipsCompacted`: whether folders and globs leave out what this program wrote. */
export type InputRules = { readonly skipsCompacted: boolean };

type Found = {
  readonly kind: 'file' | 'folder' | 'glob';
  readonly files: readonly InputFile[];
  readonly problems: readonly InputProblem[];
};

const PATTERN = /[*?[\]{}]/;

/**
 * Operands other than `-` as files. What exists is never a pattern. A pattern that matches nothing at all is an error, as a
 * missing file is (a shell hands it over unexpanded); a folder without transcripts is not.
 */
export async function findInputs(operands: readonly string[], rules: InputRules): Promise<InputSet> {
  const found: { readonly operand: string; readonly result: Found }[] = [];
  for (const operand of operands) found.push({ operand, result: await findOperand(operand, rules) });
  return {
    files: dropRepeated(found.flatMap(({ result }) => result.files)),
    hasFolder: found.some(({ result }) => result.kind === 'folder'),
    empty: found.flatMap(({ operand, result }) =>
      result.kind !== 'file' && result.files.length + result.problems.length === 0 ? [operand] : [],
    ),
    problems: found.flatMap(({ result }) => result.problems),
  };
}

async function findOperand(operand: string, rules: InputRules): Promise<Found> {
  const kind = kindOf(operand);
  if (kind === 'folder') return { kind, ...(await walkFolder(operand, rules)) };
  if (kind === 'missing' && PATTERN.test(operand)) return matchPattern(operand, rules);
  if (kind === 'missing') return { kind: 'file', files: [], problems: [{ kind: 'missing', operand }] };
  if (kind === 'dangling') return { kind: 'file', files: [], problems: [toDangling(operand)] };
  const file = { path: operand, pathInFolder: lastPart(operand), isNamed: true };
  return { kind: 'file', files: [file], problems: [] };
}

function kindOf(path: string): 'file' | 'folder' | 'dangling' | 'missing' {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file';
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' && isLink(path)) return 'dangling';
    // A pattern may be longer than a name can be. Anything else (no permission) shows when the file is opened.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return 'missing';
    return 'file';
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

function toDangling(path: string): InputProblem {
  return { kind: 'file', failure: { kind: 'not-a-file', path, is: 'a link to nothing' } };
}

/**
 * Depth first, sorted, hidden folders too. As ripgrep does it, links are not followed (they may lead around in a circle), and what is
 * no file (a pipe) is passed over whatever its name is.
 */
async function walkFolder(folder: string, rules: InputRules): Promise<Omit<Found, 'kind'>> {
  const files: InputFile[] = [];
  const problems: InputProblem[] = [];
  const walk = async (current: string): Promise<void> => {
    const entries = await listFolder(current);
    if (!entries.ok) {
      problems.push({ kind: 'file', failure: entries.error });
      return;
    }
    for (const entry of entries.value.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(current, entry.name);
      if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) await walk(path);
      else if (entry.isFile() && isTranscriptName(entry.name) && !(rules.skipsCompacted && isCompacted(entry.name))) {
        files.push({ path, pathInFolder: relative(folder, path), isNamed: false });
      }
    }
  };
  await walk(folder);
  return { files, problems };
}

const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** The failure: no permission, or gone since its parent was read. */
async function listFolder(folder: string): Promise<Result<readonly Dirent[], FileFailure>> {
  const { readdir } = await import('node:fs/promises');
  try {
    return ok(await readdir(folder, { withFileTypes: true }));
  } catch (error) {
    return err(toFileFailure(error, { path: folder, what: 'read' }));
  }
}

async function matchPattern(pattern: string, rules: InputRules): Promise<Found> {
  const { glob } = await import('node:fs/promises');
  const paths: string[] = [];
  const dangling: string[] = [];
  for await (const path of glob(pattern)) {
    const kind = kindOf(path);
    if (kind === 'file') paths.push(path);
    if (kind === 'dangling') dangling.push(path);
  }
  const problems = dangling.toSorted().map(toDangling);
  if (paths.length + problems.length === 0)
    return { kind: 'glob', files: [], problems: [{ kind: 'no-match', pattern }] };
  const files = paths
    .filter((path) => !(rules.skipsCompacted && isCompacted(path)))
    .toSorted()
    .map((path): InputFile => ({ path, pathInFolder: lastPart(path), isNamed: false }));
  return { kind: 'glob', files, problems };
}

/** The first naming of a file stands, under whatever name; a link and its target are one file. */
function dropRepeated(files: readonly InputFile[]): readonly InputFile[] {
  const seen = new Map<string, InputFile>();
  for (const file of files) {
    const place = identify(file.path);
    if (!seen.has(place)) seen.set(place, file);
  }
  return [...seen.values()];
}

function identify(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // It cannot be looked at, so it is told from others by its name; opening it will say why.
    return path;
  }
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
