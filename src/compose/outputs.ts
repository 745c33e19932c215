import { mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import type { OutputTarget } from '../app/contract/requests.ts';
import { err, ok, type Result, systemCode } from '../core/result.ts';
import type { FileFailure } from '../ports/files.ts';
import { toFileFailure } from '../system/files.ts';
import { compactedPath, isTranscriptName } from './transcript-files.ts';

/** Where the results go, as the command line gives it. */
export type OutputChoice =
  | { readonly kind: 'default' }
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'in-place' }
  | { readonly kind: 'stdout' }
  /** Summaries are made and shown, but no transcript is written. */
  | { readonly kind: 'preview' };

export type OutputProblem =
  | { readonly kind: 'needs-folder'; readonly path: string; readonly exists: boolean }
  | { readonly kind: 'equals-input'; readonly output: string; readonly input: string }
  | { readonly kind: 'same-output'; readonly output: string; readonly inputs: readonly [string, string] }
  | { readonly kind: 'several-on-stdout' };

/** What an output is named after. */
export type InputPath = {
  /** The path to open, which is also the name in messages. */
  readonly path: string;
  /** The path relative to the folder in which it was found; an output folder repeats it. */
  readonly pathInFolder: string;
};

type Wanted = {
  readonly files: readonly InputPath[];
  /** The user may mean several inputs, even if there is only one. */
  readonly isSeveral: boolean;
  readonly choice: OutputChoice;
  /** The name of an output in a folder; by default that of a compacted file. */
  readonly rename?: (pathInFolder: string) => string;
  /** Two inputs may get the same output, because one of them may turn out to have none. */
  readonly mayCollide?: true;
};

/** The output of each input, in the same order. Looks at existing files; writes nothing. */
export function planOutputs(wanted: Wanted): Result<readonly OutputTarget[], OutputProblem> {
  const { files, isSeveral, choice } = wanted;
  if (choice.kind === 'in-place') return ok(files.map(() => ({ kind: 'in-place' })));
  if (choice.kind === 'preview') return ok(files.map(() => ({ kind: 'preview' })));
  if (choice.kind === 'stdout') {
    return isSeveral ? err({ kind: 'several-on-stdout' }) : ok(files.map(() => ({ kind: 'stdout' })));
  }
  const targets = nameTargets({ ...wanted, choice });
  if (!targets.ok) return targets;
  const overwritten = findOverwritten(files, targets.value);
  const problem = overwritten ?? (wanted.mayCollide === true ? null : findCollision(files, targets.value));
  return problem === null ? targets : err(problem);
}

/** Whether both are the same file, under any names and links; false if one of them does not exist. */
export function isSameFile(path: string, other: string): boolean {
  const [one, two] = [identify(path), identify(other)];
  return one !== null && one.key === two?.key;
}

/** Creates the folders for a target inside an output folder. */
export function makeFolderFor(target: OutputTarget): Result<void, FileFailure> {
  if (target.kind !== 'file') return ok(undefined);
  const folder = dirname(target.path);
  try {
    makeFolder(folder);
    return ok(undefined);
  } catch (error) {
    return err(toFileFailure(error, { path: folder, what: 'write', isFolder: true }));
  }
}

/** One folder after the other, from the top: Node's recursion never returns where folders cannot be created (/proc). */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return;
    if (code !== 'ENOENT' || dirname(folder) === folder || identify(dirname(folder)) !== null) throw error;
    makeFolder(dirname(folder));
    makeFolder(folder);
  }
}

type PathTarget = Extract<OutputTarget, { readonly path: string }>;

function nameTargets(
  wanted: Wanted & { readonly choice: Extract<OutputChoice, { readonly kind: 'default' | 'path' }> },
): Result<readonly PathTarget[], OutputProblem> {
  const { files, isSeveral, choice, rename = compactedPath } = wanted;
  if (choice.kind === 'default') return ok(files.map((file) => ({ kind: 'default', path: compactedPath(file.path) })));
  const existing = identify(choice.path);
  const isFolder = existing === null ? choice.path.endsWith('/') || choice.path.endsWith(sep) : existing.isFolder;
  if (!isSeveral && !isFolder) return ok(files.map(() => ({ kind: 'file', path: choice.path })));
  if (!isFolder && (existing !== null || isTranscriptName(choice.path)))
    return err({ kind: 'needs-folder', path: choice.path, exists: existing !== null });
  return ok(files.map((file) => ({ kind: 'file', path: join(choice.path, rename(file.pathInFolder)) })));
}

/** The first target that is one of the inputs, under any names and links; null: none is. */
function findOverwritten(files: readonly InputPath[], targets: readonly PathTarget[]): OutputProblem | null {
  const inputs = new Map<string, string>();
  for (const file of files) {
    const identity = identify(file.path);
    if (identity !== null) inputs.set(identity.key, file.path);
  }
  for (const { path } of targets) {
    const identity = identify(path);
    const input = identity === null ? undefined : inputs.get(identity.key);
    if (input !== undefined) return { kind: 'equals-input', output: path, input };
  }
  return null;
}

function findCollision(files: readonly InputPath[], targets: readonly PathTarget[]): OutputProblem | null {
  const taken = new Map<string, string>();
  for (const [index, { path }] of targets.entries()) {
    const place = resolve(path);
    const input = files[index]?.path ?? path;
    const other = taken.get(place);
    if (other !== undefined) return { kind: 'same-output', output: path, inputs: [other, input] };
    taken.set(place, input);
  }
  return null;
}

function identify(path: string): { readonly key: string; readonly isFolder: boolean } | null {
  try {
    const found = statSync(path, { bigint: true });
    return { key: `${found.dev}:${found.ino}`, isFolder: found.isDirectory() };
  } catch (error) {
    // It does not exist or cannot be read; in the second case writing will report why.
    if (systemCode(error) === null) throw error;
    return null;
  }
}
