import { err, ok, type Result } from '../../core/result.ts';
import type { Archive } from '../../ports/archive.ts';
import type { AppDeps, ArchiveMode, WritingDeps } from '../contract/deps.ts';
import type { Failure } from '../contract/failure.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import { hashPrefix } from '../read/records.ts';

/** The archive as it is, for what only looks; null: there is none. */
export async function openUnsettled(deps: Pick<AppDeps, 'openArchive'>): Promise<Result<Archive | null, Failure>> {
  const archive = await deps.openArchive('existing');
  return archive.ok ? archive : err({ kind: 'archive', failure: archive.error });
}

/** The archive, with what a crash left in it settled (one that is read-only stays as it is, and is no place to create in); null: there is none. */
export async function openSettled(deps: AppDeps, mode: ArchiveMode): Promise<Result<Archive | null, Failure>> {
  const archive = await deps.openArchive(mode);
  if (!archive.ok) return err({ kind: 'archive', failure: archive.error });
  const isReadOnly = archive.value?.isReadOnly === true;
  if (isReadOnly && mode === 'create') {
    const reason = 'it or its folder is read-only, so nothing can be stored in it';
    return err({ kind: 'archive', failure: { kind: 'cannot-open', path: deps.archivePath, reason } });
  }
  if (archive.value !== null && !isReadOnly) await settlePrepared(archive.value, deps);
  return ok(archive.value);
}

type FileDeps = Pick<AppDeps, 'files' | 'runtime'>;

/**
 * Settles what a crash left `prepared`: applied where the output stands on disk as it was to be written (lines appended since do not
 * matter), discarded where the source stands as it was read and the output certainly has not got its name: its temporary file was still
 * there, or it was to stand in the source's place. Else (moved, on a disk that is not mounted) it is applied: rows too many harm nobody, rows too few
 * are an original that is gone. What a run is at work on is left to it.
 */
async function settlePrepared(archive: Archive, deps: FileDeps): Promise<void> {
  for (const { id, sourcePath, source, outputPath, output } of archive.listPrepared()) {
    const lock = outputPath === null ? null : await deps.files.lock(outputPath);
    const hasBegun = lock?.ok === true && lock.value.foundUnfinished;
    const isUnnamed = hasBegun || isInPlace(sourcePath, outputPath);
    try {
      // The run that was at work on it may have ended since the list was made.
      if (archive.loadCompaction(id)?.status !== 'prepared') continue;
      if (await isOutputThere(deps, { outputPath, output })) archive.markApplied(id);
      else if (lock?.ok === false && lock.error.kind === 'held') continue;
      else if (isUnnamed && (await beginsWith(deps, sourcePath, source))) archive.discard(id);
      else archive.markApplied(id);
    } finally {
      if (lock?.ok === true) lock.value.release();
    }
  }
}

/** Standard output is told of when its archive is applied, before its first byte. */
function isInPlace(sourcePath: string, outputPath: string | null): boolean {
  return outputPath === null || outputPath === sourcePath;
}

/** What a file was, or was to be: its size and the sha256 of its bytes. */
type Content = { readonly sha256: string; readonly sizeBytes: number };

/** Whether a compaction's output stands on disk as it was to be written; where a packed one cannot be unpacked for want of room it may. */
export async function isOutputThere(
  deps: FileDeps,
  { outputPath, output }: { readonly outputPath: string | null; readonly output: Content },
): Promise<boolean> {
  return outputPath !== null && (await isHeldBy(deps, outputPath, { ...output, isAll: false, inDoubt: true }));
}

/** Whether a file begins with this content. */
export async function beginsWith(deps: FileDeps, path: string, content: Content): Promise<boolean> {
  return isHeldBy(deps, path, { ...content, isAll: false, inDoubt: false });
}

/** Whether a file holds this content and nothing else. */
export async function holdsOnly(deps: FileDeps, path: string, content: Content): Promise<boolean> {
  return isHeldBy(deps, path, { ...content, isAll: true, inDoubt: false });
}

async function isHeldBy(
  { files, runtime }: FileDeps,
  path: string,
  { sha256, sizeBytes, isAll, inDoubt }: Content & { readonly isAll: boolean; readonly inDoubt: boolean },
): Promise<boolean> {
  const opened = await files.open(path);
  if (!opened.ok) return opened.error.kind === 'no-room' || opened.error.kind === 'unpacks-too-large' ? inDoubt : false;
  try {
    if (isAll && opened.value.sizeBytes !== sizeBytes) return false;
    return hashPrefix(runtime, opened.value, sizeBytes) === sha256;
  } finally {
    opened.value.close();
  }
}

/** Opens the archive, or creates it. */
export async function openForStoring(deps: WritingDeps): Promise<Result<Archive, Failure>> {
  const archive = await openSettled(deps, 'create');
  if (!archive.ok) return archive;
  if (archive.value !== null) return ok(archive.value);
  const reason = 'it could not be created';
  return err({ kind: 'archive', failure: { kind: 'cannot-open', path: deps.archivePath, reason } });
}

/**
 * Whether a missing archive could be created, asked before anything is summarized. None is made here: the summaries may come to nothing.
 * `isLenient` overlooks missing permissions and full disks, because a run that has nothing to store does not mind them.
 */
export async function checkArchivePlace(
  deps: WritingDeps,
  { output, summarizer }: CompactFileRequest,
  options: { readonly isLenient: boolean },
): Promise<Result<null, Failure>> {
  const storesNothing = output.kind === 'none' || (output.kind === 'preview' && summarizer.service === undefined);
  const failure = storesNothing ? null : await deps.findArchivePlaceProblem(options);
  return failure === null ? ok(null) : err({ kind: 'archive', failure });
}
