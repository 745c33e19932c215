import { lstatSync, realpathSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { basename, dirname, relative, sep } from 'node:path';
import { findMovedAside, folderOfGlob } from '../../core/paths.ts';
import type { FileFailure } from '../../ports/files.ts';
import type { InputPath } from '../../compose/outputs.ts';
import { isCompacted, isTranscriptName, walkFolder } from '../../compose/transcript-files.ts';
import { systemCode } from '../../core/result.ts';
import { listNames, orElse } from '../../system/files.ts';

/** A transcript that the operands name. */
export type InputFile = InputPath & {
  /** The path relative to its operand: to the folder, or to what precedes a glob's first wildcard. The name alone if it was named itself. */
  readonly pathInOperand: string;
  /** The command line itself names it: it was not found in a folder, by a glob or in a list. */
  readonly isNamed: boolean;
  /** It was found as a file and nobody named it: a link that takes its place before it is opened is not followed. */
  readonly refusesLinks: boolean;
};

export type InputProblem =
  | { readonly kind: 'no-match'; readonly pattern: string }
  | { readonly kind: 'file'; readonly failure: FileFailure };

export type InputRules = {
  /** Whether folders and globs skip files that this program wrote. */
  readonly skipsCompacted: boolean;
  /** Names of files and folders from a list, added after the operands. They are never patterns. */
  readonly names?: readonly string[];
  /** Aborts the search through a long list. */
  readonly signal?: AbortSignal;
};

type Found = {
  readonly kind: 'file' | 'folder' | 'glob';
  readonly files: readonly InputFile[];
  readonly problems: readonly InputProblem[];
};

const PATTERN = /[*?[\]{}]/;
/** An interruption is noticed after so many names of a list. */
const PAUSE_NAMES = 1000;

/**
 * The operands other than `-` as files. A name that exists is never a pattern. A pattern without any match is an error, like a missing
 * file (a shell passes it on unexpanded); a folder without transcripts is not.
 */
export async function findInputs(operands: readonly string[], rules: InputRules) {
  const found: { readonly operand: string; readonly result: Found }[] = [];
  for (const operand of operands) {
    const isPattern = PATTERN.test(operand) && kindOf(operand) === 'missing';
    found.push({ operand, result: await (isPattern ? matchPattern(operand, rules) : findNamed(operand, rules)) });
  }
  for (const [at, name] of (rules.names ?? []).entries()) {
    found.push({ operand: name, result: await findListed(name, rules) });
    if (at % PAUSE_NAMES < PAUSE_NAMES - 1) continue;
    await setImmediate();
    rules.signal?.throwIfAborted();
  }
  return {
    /** In the order of the operands, sorted within each, every file once. */
    files: dropRepeated(found.flatMap(({ result }) => result.files)),
    /** A folder was named, so the number of files may change from run to run. */
    hasFolder: found.some(({ result }) => result.kind === 'folder'),
    /** Folders and globs that hold no transcript: nothing to do there, but no error. */
    empty: found.flatMap(({ operand, result }) =>
      result.kind !== 'file' && result.files.length + result.problems.length === 0 ? [operand] : [],
    ),
    problems: found.flatMap(({ result }) => result.problems),
  };
}

/** Whether an operand matches nothing, neither as a name nor as a pattern. */
export async function findNothing(operand: string): Promise<'missing' | 'no-match' | null> {
  if (kindOf(operand) !== 'missing') return null;
  if (!PATTERN.test(operand)) return 'missing';
  const { glob } = await import('node:fs/promises');
  for await (const path of glob(operand)) {
    // A matching folder does not count: a pattern selects files.
    if (kindOf(path) !== 'folder') return null;
  }
  return 'no-match';
}

async function findNamed(operand: string, rules: InputRules): Promise<Found> {
  const kind = kindOf(operand);
  if (kind === 'folder') return { kind, ...(await searchFolder(operand, rules)) };
  if (kind === 'missing')
    return { kind: 'file', files: [], problems: [{ kind: 'file', failure: { kind: 'not-found', path: operand } }] };
  if (kind === 'dangling') return { kind: 'file', files: [], problems: [toDangling(operand)] };
  const name = basename(operand);
  const file = { path: operand, pathInFolder: name, pathInOperand: name, isNamed: true, refusesLinks: false };
  return { kind: 'file', files: [file], problems: [] };
}

/** A list may name whatever another program found: only a name that does not exist is an error. */
async function findListed(name: string, rules: InputRules): Promise<Found> {
  const found = await findNamed(name, rules);
  const files = found.files.map((file) => ({ ...file, isNamed: false, refusesLinks: !isLink(file.path) }));
  return { ...found, files };
}

function kindOf(path: string): 'file' | 'folder' | 'dangling' | 'missing' {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file';
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' && isLink(path)) return 'dangling';
    if (code === 'ENOENT' && isMovedAside(path)) return 'file';
    // A pattern may be longer than a name can be. Any other error (no permission) is reported when the file is opened.
    if (code === 'ENOENT' || code === 'ENOTDIR' || (code === 'ENAMETOOLONG' && PATTERN.test(path))) return 'missing';
    return 'file';
  }
}

/** A killed run left the name without its file; whoever opens it brings the file back first. */
function isMovedAside(path: string): boolean {
  return findMovedAside(listNames(dirname(path))).includes(basename(path));
}

function isLink(path: string): boolean {
  // What is wrong is reported when the file is opened.
  return orElse(false, () => lstatSync(path).isSymbolicLink());
}

function toDangling(path: string): InputProblem {
  return { kind: 'file', failure: { kind: 'not-a-file', path, is: 'a link to nothing' } };
}

async function searchFolder(folder: string, rules: InputRules): Promise<Omit<Found, 'kind'>> {
  const accepts = (name: string): boolean => isTranscriptName(name) && !(rules.skipsCompacted && isCompacted(name));
  const { paths, failures } = await walkFolder(folder, accepts);
  return {
    files: paths.map((path) => {
      const pathInFolder = relative(folder, path);
      return { path, pathInFolder, pathInOperand: pathInFolder, isNamed: false, refusesLinks: true };
    }),
    problems: failures.map((failure) => ({ kind: 'file', failure })),
  };
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
  const root = folderOfGlob(pattern, sep === '\\');
  const files = paths
    .filter((path) => !(rules.skipsCompacted && isCompacted(path)))
    .toSorted()
    .map((path): InputFile => ({
      path,
      pathInFolder: basename(path),
      pathInOperand: relative(root, path),
      isNamed: false,
      refusesLinks: !isLink(path),
    }));
  return { kind: 'glob', files, problems };
}

/** The first name of a file is kept; a link and its target are one file. */
export function dropRepeated<T extends { readonly path: string }>(files: readonly T[]): readonly T[] {
  const seen = new Map<string, T>();
  for (const file of files) {
    // If it cannot be read, it is compared by name; opening it will report why.
    const place = orElse(file.path, () => realpathSync.native(file.path));
    if (!seen.has(place)) seen.set(place, file);
  }
  return [...seen.values()];
}
