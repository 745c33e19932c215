import { ok, type Result } from '../../core/result.ts';
import type {
  Archive,
  ArchiveFailure,
  RunMark,
  StoredCompaction,
  StoredRun,
  StoredRunFile,
} from '../../ports/archive.ts';
import type { FileStamp, FileStore } from '../../ports/files.ts';
import type { AppDeps, WritingDeps } from '../contract/deps.ts';
import { attempt, type Failure, must, mustFile, stop } from '../contract/failure.ts';
import type { TranscriptInput } from '../contract/requests.ts';
import type { UndoneFile } from '../contract/reports.ts';
import { withFileLock } from '../write/deliver.ts';
import { beginsWith, holdsOnly, openSettled, refuseReadOnly } from '../write/settle.ts';
import { removeKept } from '../write/write-output.ts';
import { restoreFile } from './restore-file.ts';

/** `archive` null: there is none. */
export type StoredRuns = { readonly archive: string | null; readonly runs: readonly StoredRun[] };

export type UndoFileRequest = {
  readonly file: StoredRunFile;
  /** The file that the run wrote. */
  readonly input: TranscriptInput;
  /** none: a dry run. */
  readonly output: { readonly kind: 'in-place' } | { readonly kind: 'none' };
};

export async function listRuns(deps: AppDeps): Promise<Result<StoredRuns, Failure>> {
  return attempt({ file: deps.archivePath }, async (): Promise<Result<StoredRuns, Failure>> => {
    const archive = await openSettled(deps, 'existing');
    if (archive === null) return ok({ archive: null, runs: [] });
    return ok({ archive: deps.archivePath, runs: await archive.runs.list() });
  });
}

/**
 * The run that `undo` takes by default: the first one of this user on this machine that is not over and has a file to undo. Passed over, but not over, is a file that went
 * to standard output, or beside its original and is gone while nothing happened to the original.
 */
export async function findRunToUndo(
  { files, run: own }: Pick<WritingDeps, 'files' | 'run'>,
  newestFirst: readonly StoredRun[],
): Promise<StoredRun | null> {
  for (const run of newestFirst) {
    if (run.undoneAt !== null || ownerOf(run) !== ownerOf(own)) continue;
    for (const file of run.files) if (file.undoneAt === null && (await hasWork(files, file))) return run;
  }
  return null;
}

/** A run that was imported or merged may be somebody else's. */
function ownerOf({ token }: RunMark): string | undefined {
  return token.split('-')[0];
}

async function hasWork(files: FileStore, { sourcePath, outputPath }: StoredRunFile): Promise<boolean> {
  if (outputPath === null) return false;
  if (sourcePath === outputPath || !(await isGone(files, outputPath))) return true;
  if (!(await isGone(files, sourcePath))) return false;
  // A temporary folder is gone for good; a folder that is gone together with the original's may be on a disk that is not mounted.
  return !(await isGone(files, folderOf(outputPath))) || (await isGone(files, folderOf(sourcePath)));
}

async function isGone(files: FileStore, path: string): Promise<boolean> {
  const found = await files.stamp(path);
  return !found.ok && found.error.kind === 'not-found';
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}

/** Records that nothing of a run is left to undo, except what never can be. */
export async function endUndo(deps: AppDeps, runId: number): Promise<Result<null, Failure>> {
  return attempt({ file: deps.archivePath }, async () => {
    const archive = await openWritable(deps);
    await archive.runs.markUndone(runId, deps.runtime.now());
    return ok(null);
  });
}

/**
 * Undoes what a run did to one file, if the file is still as the run left it, or only grew. It looks at the file rather than at records, so it
 * may be killed anywhere and run again.
 */
export async function undoFile(deps: WritingDeps, request: UndoFileRequest): Promise<Result<UndoneFile, Failure>> {
  return attempt({ file: request.input.name, progress: deps.progress }, async () => {
    const { file } = request;
    const isDryRun = request.output.kind === 'none';
    const archive = isDryRun ? await openExisting(deps) : await openWritable(deps);
    const compaction = await archive.loadCompaction(file.compactionId);
    if (compaction === null)
      return stop({ kind: 'not-in-archive', file: request.input.name, archive: deps.archivePath });
    const undone = await undo(deps, request, compaction);
    if (!isDryRun) await archive.runs.markFileUndone(file.id, deps.runtime.now());
    return ok(undone);
  });
}

async function openExisting(deps: AppDeps): Promise<Archive> {
  const archive = await openSettled(deps, 'existing');
  const failure: ArchiveFailure = { kind: 'cannot-open', path: deps.archivePath, reason: 'it is gone' };
  return archive ?? stop({ kind: 'archive', failure });
}

/** What was undone must be recorded, or it would be tried again. */
async function openWritable(deps: AppDeps): Promise<Archive> {
  const archive = await openExisting(deps);
  refuseReadOnly(archive);
  return archive;
}

async function undo(deps: WritingDeps, request: UndoFileRequest, compaction: StoredCompaction): Promise<UndoneFile> {
  const { sourcePath, outputPath } = request.file;
  if (outputPath === null) return { result: 'unchanged', reason: 'standard-output' };
  if (request.output.kind === 'in-place') mustFile(await deps.files.clearLeftovers(outputPath));
  if (await isGone(deps.files, outputPath)) {
    if (await isGone(deps.files, folderOf(outputPath))) cannotUndo(request, 'no-folder');
    if (sourcePath === outputPath || (await isGone(deps.files, sourcePath))) cannotUndo(request, 'gone');
    return { result: 'unchanged', reason: 'gone' };
  }
  if (sourcePath !== outputPath) return removeOutput(deps, request, compaction);
  if (await beginsWith(deps, outputPath, compaction.source)) return { result: 'unchanged', reason: 'as-before' };
  const { input, output } = request;
  const restored = await restoreFile(deps, { input, output, all: false, compactionId: compaction.id });
  const kind = restored.ok ? null : restored.error.kind;
  if (!restored.ok && restored.error.kind === 'altered') cannotUndo(request, 'edited', restored.error.problem);
  // The archive has the compaction, so the file no longer has its summary.
  if (kind === 'not-compacted' || kind === 'not-in-archive') cannotUndo(request, 'edited');
  const { bytes, appendedBytes } = must(restored);
  return { result: 'restored', bytes, appendedBytes };
}

/** Removes a file that a run wrote beside its source, byte for byte as it was written, while its original is still there. */
async function removeOutput(deps: WritingDeps, request: UndoFileRequest, { source, output }: StoredCompaction) {
  const { path } = request.input;
  const removed: UndoneFile = { result: 'removed', bytes: output.sizeBytes };
  const check = async (): Promise<FileStamp> => {
    const stamp = mustFile(await deps.files.stamp(path));
    if (!(await holdsOnly(deps, path, output))) cannotUndo(request, 'other-output');
    if (!(await beginsWith(deps, request.file.sourcePath, source))) cannotUndo(request, 'only-copy');
    const writer = await deps.files.findWriter(stamp);
    return writer === null ? stamp : stop({ kind: 'in-use', file: request.input.name, user: writer });
  };
  if (request.output.kind === 'none') {
    await check();
    return removed;
  }
  return withFileLock(deps, path, async (lock) => {
    const isKept = (at: string): Promise<boolean> => holdsOnly(deps, at, output);
    const target = { lock, path, file: request.input.name, stamp: await check() };
    const isRemoved = await removeKept(deps, { ...target, isDocument: true, isKept });
    return isRemoved ? removed : cannotUndo(request, 'other-output');
  });
}

function cannotUndo(
  { input, file }: UndoFileRequest,
  why: Extract<Failure, { kind: 'cannot-undo' }>['why'],
  problem?: string,
): never {
  const failure = { kind: 'cannot-undo', file: input.name, why, original: file.sourcePath } as const;
  return stop(problem === undefined ? failure : { ...failure, problem });
}
