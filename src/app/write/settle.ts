import { isArchiveUrl } from '../../core/paths.ts';
import type { Archive, ArchiveFailure } from '../../ports/archive.ts';
import type { AppDeps, ArchiveMode, WritingDeps } from '../contract/deps.ts';
import { carriedFailure, stop } from '../contract/failure.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import { hashPrefix } from '../read/records.ts';

/** The archive as it is, for reading only; null: there is none. */
export async function openUnsettled({ openArchive }: Pick<AppDeps, 'openArchive'>, mode: ArchiveMode = 'existing') {
  const archive = await openArchive(mode);
  return archive.ok ? archive.value : stop({ kind: 'archive', failure: archive.error });
}

/** The same where there must be one. */
export async function openExisting(deps: Pick<AppDeps, 'openArchive' | 'archivePath'>): Promise<Archive> {
  const missing = { kind: 'cannot-open', path: deps.archivePath, reason: 'there is none yet' } as const;
  return (await openUnsettled(deps)) ?? stop({ kind: 'archive', failure: missing });
}

/**
 * The archive after settling what a crash left in it; null: there is none. A read-only archive is left as it is, and opening it with `create`
 * fails.
 */
export async function openSettled(deps: AppDeps, mode: ArchiveMode): Promise<Archive | null> {
  const archive = await openUnsettled(deps, mode);
  if (archive === null) return null;
  if (mode === 'create') refuseReadOnly(archive);
  if (!archive.isReadOnly) {
    await finishErasures(archive, deps);
    await settlePrepared(archive, deps);
  }
  return archive;
}

/** Ends the use case if nothing in the archive can be changed. */
export function refuseReadOnly(archive: Archive | null): void {
  if (archive?.isReadOnly !== true) return;
  const { path } = archive;
  const why = isArchiveUrl(path) ? 'you may only read it' : 'it or its folder is read-only';
  stop({ kind: 'archive', failure: { kind: 'cannot-open', path, reason: `${why}, so nothing can be stored in it` } });
}

/** After an erasure that was killed, or that another program kept from ending. */
async function finishErasures(archive: Archive, { archivePath, notice, erasures }: AppDeps): Promise<void> {
  if (erasures === undefined || erasures.hasFailed) return;
  const problem = await purgeErased(archive);
  if (problem === null) return;
  erasures.hasFailed = true;
  notice?.(`${archivePath}: the file still contains erased bytes, because ${problem}: the next command tries again.`);
}

/** Removes erased bytes from the archive's file. Returns why that failed and what to do, and never throws: the erasure itself is done. Null: they are gone. */
export async function purgeErased({ retention }: Pick<Archive, 'retention'>): Promise<string | null> {
  const busy = 'another program has the archive open. Close that program';
  try {
    // Asked first, because purging waits until nothing else is being stored.
    return (await retention.isPurged()) || (await retention.purge()) ? null : busy;
  } catch (error) {
    const failure = carriedFailure(error);
    if (failure?.kind === 'busy') return busy;
    if (failure?.kind === 'no-space') return `${describeRoom(failure)}. Make room`;
    const reason = failure !== null && 'reason' in failure ? failure.reason : String(error);
    const advice = failure?.kind === 'cannot-open' ? failure.advice?.replace(/\.$/, '') : undefined;
    return `it could not be rewritten: ${reason}. ${advice ?? "Run 'compact archive check'"}`;
  }
}

function describeRoom({ needs }: Extract<ArchiveFailure, { kind: 'no-space' }>): string {
  if (needs === undefined) return 'no space is left on the disk';
  const [needed, free] = [needs.neededBytes, needs.freeBytes].map((bytes) => `${Math.ceil(bytes / 1e6)} MB`);
  return `rewriting it needs ${needed} of free space in ${needs.folder}, and ${free} are free`;
}

type FileDeps = Pick<AppDeps, 'files' | 'runtime'>;

/**
 * Settles compactions that a crash left `prepared`. Applied if the output is on disk as planned (appended lines do not matter). Discarded if
 * the source is unchanged and the output certainly never got its name: its temporary file still existed, or it was to replace the source.
 * Otherwise (the file was moved, or its disk is not mounted) applied: superfluous rows do no harm, missing rows would lose the original.
 * Compactions of running processes are skipped. So are those of other machines, unless their output is here: a run may be writing them there.
 */
async function settlePrepared(archive: Archive, deps: FileDeps): Promise<void> {
  for (const { id, sourcePath, source, outputPath, output, isLocal } of await archive.listPrepared()) {
    const lock = outputPath === null || !isLocal ? null : await deps.files.lock(outputPath);
    const hasBegun = lock?.ok === true && lock.value.foundUnfinished;
    // The archive of standard output is applied before its first byte is written.
    const isUnnamed = hasBegun || outputPath === null || outputPath === sourcePath;
    try {
      // The run may have ended since the list was made.
      if ((await archive.loadCompaction(id))?.status !== 'prepared') continue;
      if (await isOutputThere(deps, { outputPath, output })) await archive.markApplied(id);
      else if (!isLocal || (lock?.ok === false && lock.error.kind === 'held')) continue;
      else if (isUnnamed && (await beginsWith(deps, sourcePath, source))) await archive.discard(id);
      else await archive.markApplied(id);
    } finally {
      if (lock?.ok === true) lock.value.release();
    }
  }
}

export type Content = { readonly sha256: string; readonly sizeBytes: number };

/** Whether a compaction's output is on disk as planned. A compressed file that cannot be unpacked for lack of space counts as being there. */
export async function isOutputThere(
  deps: FileDeps,
  { outputPath, output }: { outputPath: string | null; output: Content },
): Promise<boolean> {
  return outputPath !== null && (await isHeldBy(deps, outputPath, { ...output, isAll: false, inDoubt: true }));
}

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
  { sha256, sizeBytes, isAll, inDoubt }: Content & { isAll: boolean; inDoubt: boolean },
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

export async function openForStoring(deps: AppDeps): Promise<Archive> {
  const archive = await openSettled(deps, 'create');
  if (archive !== null) return archive;
  return stop({
    kind: 'archive',
    failure: { kind: 'cannot-open', path: deps.archivePath, reason: 'it could not be created' },
  });
}

/**
 * Checks that a missing archive could be created, before anything is summarized. None is made here: the summaries may come to nothing.
 * `isLenient` overlooks missing permissions and full disks, because a run that has nothing to store does not mind them.
 */
export async function checkArchivePlace(
  deps: WritingDeps,
  { output, summarizer }: CompactFileRequest,
  options: { readonly isLenient: boolean },
): Promise<void> {
  const storesNothing = output.kind === 'none' || (output.kind === 'preview' && summarizer.service === undefined);
  const failure = storesNothing ? null : await deps.findArchivePlaceProblem(options);
  if (failure !== null) stop({ kind: 'archive', failure });
}
