import { ok, type Result } from '../../core/result.ts';
import type { Archive } from '../../ports/archive.ts';
import type { FileFailure, FileLock, FileStamp, FileStore } from '../../ports/files.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { AppDeps } from '../contract/deps.ts';
import { type Failure, stop } from '../contract/failure.ts';
import type { CompactFileRequest, TranscriptInput } from '../contract/requests.ts';
import { asFileSource, indexRecords } from '../read/index-records.ts';
import { openTranscript } from '../read/open-transcript.ts';
import type { Prepared } from '../read/prepare.ts';
import { hashPrefix } from '../read/records.ts';
import { targetPath } from './deliver.ts';
import { beginsWith, holdsOnly, openUnsettled } from './settle.ts';

/**
 * Checks that replacing an existing output loses nothing: it is our own output, empty, or a copy of the input. Returns its stamp, which must
 * be the same when it is replaced; null: there is no output yet, or it is the source.
 */
export async function checkReplaceable(
  deps: AppDeps,
  {
    request,
    transcript,
    archive,
  }: { readonly request: CompactFileRequest; readonly transcript: Prepared; readonly archive: Archive | null },
): Promise<FileStamp | null> {
  const path = targetPath(request);
  if (request.output.kind === 'stdout' && transcript.source.compression === 'eval')
    return stop({ kind: 'zip-on-stdout', file: request.input.name });
  if (path === null || request.output.kind === 'in-place') return null;
  const taken: Failure = { kind: 'output-exists', file: request.input.name, output: path };
  const existing = await deps.files.open(path);
  if (!existing.ok) {
    if (existing.error.kind === 'not-found') return null;
    return stop(existing.error.kind === 'damaged' ? taken : { kind: 'file', failure: existing.error });
  }
  const { stamp, sizeBytes } = existing.value;
  try {
    if (sizeBytes === 0) return stamp;
    const isCopy =
      sizeBytes === transcript.source.sizeBytes &&
      hashPrefix(deps.runtime, existing.value, sizeBytes) === transcript.recordIndex.sha256;
    if (isCopy) return stamp;
  } finally {
    existing.value.close();
  }
  const known = archive ?? (await openUnsettled(deps));
  const isOurs = known !== null && (await isExpendable(deps, { path, transcript, archive: known }));
  return isOurs ? stamp : stop(taken);
}

/**
 * Our own, unchanged output, whose kept lines exist elsewhere too: it was made from this input, or from a file that still exists (not if it
 * was compacted in place).
 */
async function isExpendable(
  deps: AppDeps,
  { path, transcript, archive }: { readonly path: string; readonly transcript: Prepared; readonly archive: Archive },
): Promise<boolean> {
  const detected = await findClips(deps, { path, name: path, format: null });
  const format = transcript.codec.format.name;
  const isSame = detected.ok && detected.value.format === format;
  // A line that the output carries, such as a torn header, may hide its format, which is then that of the input.
  const named = isSame ? detected : await findClips(deps, { path, name: path, format });
  const clips = [detected, named].flatMap((found) => (found.ok ? found.value.sha256 : []));
  const ids = new Set<number>();
  for (const sha256 of new Set(clips))
    for (const { compactionId } of await archive.findCycles(sha256)) ids.add(compactionId);
  for (const id of ids) {
    const compaction = await archive.loadCompaction(id);
    if (compaction === null) continue;
    const { output, source, sourcePath } = compaction;
    if (!(await holdsOnly(deps, path, output))) continue;
    if (hashPrefix(deps.runtime, transcript.source, source.sizeBytes) === source.sha256) return true;
    if (await beginsWith(deps, sourcePath, source)) return true;
  }
  return false;
}

/** The sha256 of every line that looks like a compaction's summary, in file order. */
async function findClips(
  deps: AppDeps,
  input: TranscriptInput,
): Promise<Result<{ readonly format: string; readonly sha256: readonly string[] }, Failure>> {
  const opened = await openTranscript(input, deps);
  if (!opened.ok) return opened;
  const { source, codec } = opened.value;
  try {
    const recordIndex = await indexRecords(deps, {
      source: asFileSource(source, codec),
      codec,
      session: codec.open(),
      name: input.name,
      keepInvalid: true,
      isOneFormat: false,
    });
    if (!recordIndex.ok) return recordIndex;
    const sha256 = recordIndex.value.entries.flatMap((entry) => (entry.sha256 === undefined ? [] : [entry.sha256]));
    return ok({ format: codec.format.name, sha256 });
  } finally {
    source.close();
  }
}

type HoldDeps = { readonly files: FileStore; readonly runtime: Pick<Runtime, 'sleep'> };

/** Does the work while no other run may write the target. A null path (standard output or nothing) needs no lock. */
export async function withTargetLock<T>(
  deps: HoldDeps,
  path: string | null,
  work: (lock: FileLock | null) => Promise<T>,
): Promise<T> {
  return path === null ? work(null) : withFileLock(deps, path, work);
}

export async function withFileLock<T>(deps: HoldDeps, path: string, work: (lock: FileLock) => Promise<T>): Promise<T> {
  const locked = await lockWithRetries(deps, path);
  if (!locked.ok) return stop({ kind: 'file', failure: locked.error });
  try {
    return await work(locked.value);
  } finally {
    locked.value.release();
  }
}

const RETRIES = 6;
const RETRY_MS = 50;

/** A run that only settles what a killed run left holds the lock for a moment, so try again a few times. */
async function lockWithRetries({ files, runtime }: HoldDeps, path: string): Promise<Result<FileLock, FileFailure>> {
  for (let tries = 0; ; tries += 1) {
    const locked = await files.lock(path);
    if (locked.ok || locked.error.kind !== 'held' || tries >= RETRIES) return locked;
    await runtime.sleep(RETRY_MS);
  }
}
