import { assertNever } from '../../core/result.ts';
import type { Archive } from '../../ports/archive.ts';
import type { Compression, FileLock, FileStamp, FileStore, SourceFile } from '../../ports/files.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { AppDeps, WritingDeps } from '../contract/deps.ts';
import { attemptStep, type Failure, mustFile, stop } from '../contract/failure.ts';
import type { CompactFileRequest, RestoreFileRequest, TranscriptInput } from '../contract/requests.ts';
import { asFileSource, indexRecords } from '../read/index-records.ts';
import { openTranscript } from '../read/open-transcript.ts';
import type { Prepared } from '../read/prepare.ts';
import { hashContent, hashPrefix } from '../read/records.ts';
import { beginsWith, type Content, holdsOnly, openUnsettled } from './settle.ts';
import { type Pieces, writeOutput, type Written } from './write-output.ts';

/** What is read, and where the result goes. */
type Errand = Pick<CompactFileRequest, 'input' | 'output'> | Pick<RestoreFileRequest, 'input' | 'output'>;

/** The path that a request writes to; null: standard output or nowhere. */
export function targetPath({ output, input }: Errand): string | null {
  switch (output.kind) {
    case 'default':
    case 'file':
      return output.path;
    case 'in-place':
      return input.path;
    case 'stdout':
    case 'preview':
    case 'none':
      return null;
    default:
      return assertNever(output);
  }
}

type Delivery = {
  readonly request: Errand;
  readonly transcript: Pick<Prepared, 'source' | 'codec'> & { readonly recordIndex: { readonly sha256: string } };
  readonly pieces: Pieces;
  /** The lock on the target; null: standard output. */
  readonly lock: FileLock | null;
  /** The stamp of the existing file that may be replaced; null: there is none, or it is the source. */
  readonly replaceable: FileStamp | null;
  /** How the output is compressed; by default like the source if it is replaced, otherwise as the output's name says. */
  readonly compression?: Compression;
};

/** Writes bytes to the requested output. It ends the run as `source-changed` if the source changed other than by growing. */
export async function deliver(
  deps: WritingDeps,
  { request, transcript, pieces, lock, replaceable, compression }: Delivery,
): Promise<Written> {
  if (lock === null) {
    for await (const piece of pieces) deps.stdout(piece);
    return { carriedBytes: 0, notes: [] };
  }
  const { source, recordIndex, codec } = transcript;
  const path = targetPath(request) ?? '';
  const replacesSource = request.output.kind === 'in-place';
  const isDocument = codec.format.layout.kind === 'document';
  return writeOutput(deps, {
    lock,
    file: request.input.name,
    format: codec.format.name,
    like: request.input.path,
    compression: compression ?? outputCompression(deps, { source, path: replacesSource ? null : path }),
    pieces,
    source,
    known: { stamp: source.stamp, sizeBytes: source.sizeBytes, sha256: recordIndex.sha256, isDocument },
    target: { path, stamp: replaceable },
    replacesSource,
  });
}

/** The content of the file that was written: as planned, or with the bytes that were appended meanwhile. */
export async function describeWritten(
  deps: WritingDeps,
  { request, planned, carriedBytes }: Pick<Delivery, 'request'> & Written & { planned: Content },
): Promise<Content> {
  const path = targetPath(request);
  if (path === null || carriedBytes === 0) return planned;
  const sizeBytes = planned.sizeBytes + carriedBytes;
  return { sha256: (await hashContent(deps, path, sizeBytes)) ?? planned.sha256, sizeBytes };
}

/**
 * As the source if it is replaced (`path` is null), otherwise as the name of the output says. A log of Inspect AI stays
 * one under any name, and nothing else becomes one.
 */
export function outputCompression(
  { files }: Pick<WritingDeps, 'files'>,
  { source, path }: { source: SourceFile; path: string | null },
): Compression {
  if (path === null || source.compression === 'eval') return source.compression;
  const named = files.compressionOf(path);
  return named === 'eval' ? 'none' : named;
}

/**
 * Checks that replacing an existing output loses nothing: it is our own output, empty, or a copy of the input. Returns its stamp, which must
 * be the same when it is replaced; null: there is no output yet, or it is the source.
 */
export async function checkReplaceable(
  deps: AppDeps,
  { request, transcript, archive }: { request: Errand; transcript: Prepared; archive: Archive | null },
): Promise<FileStamp | null> {
  const path = targetPath(request);
  if (request.output.kind === 'stdout' && transcript.source.compression === 'eval')
    return stop({ kind: 'zip-on-stdout', file: request.input.name });
  if (path === null || request.output.kind === 'in-place') return null;
  const taken: Failure = { kind: 'output-exists', file: request.input.name, output: path };
  const opened = await deps.files.open(path);
  if (!opened.ok && opened.error.kind === 'not-found') return null;
  if (!opened.ok && opened.error.kind === 'damaged') return stop(taken);
  const existing = mustFile(opened);
  const { stamp, sizeBytes } = existing;
  try {
    const isCopy =
      sizeBytes === transcript.source.sizeBytes &&
      hashPrefix(deps.runtime, existing, sizeBytes) === transcript.recordIndex.sha256;
    if (isCopy || sizeBytes === 0) return stamp;
  } finally {
    existing.close();
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
  { path, transcript, archive }: { path: string; transcript: Prepared; archive: Archive },
): Promise<boolean> {
  const detected = await attemptStep(() => findClips(deps, { path, name: path, format: null }));
  const format = transcript.codec.format.name;
  const isSame = detected.ok && detected.value.format === format;
  // A line that the output carries, such as a torn header, may hide its format, which is then that of the input.
  const named = isSame ? detected : await attemptStep(() => findClips(deps, { path, name: path, format }));
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
async function findClips(deps: AppDeps, input: TranscriptInput) {
  const { source, codec } = await openTranscript(input, deps);
  try {
    const { entries } = await indexRecords(deps, {
      source: asFileSource(source, codec),
      codec,
      session: codec.open(),
      name: input.name,
      keepInvalid: true,
      isOneFormat: false,
    });
    return { format: codec.format.name, sha256: entries.flatMap(({ sha256 }) => sha256 ?? []) };
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

const RETRIES = 6;
const RETRY_MS = 50;

export async function withFileLock<T>(
  { files, runtime }: HoldDeps,
  path: string,
  work: (lock: FileLock) => Promise<T>,
  options?: Parameters<FileStore['lock']>[1],
): Promise<T> {
  let locked = await files.lock(path, options);
  // A run that only settles what a killed run left holds the lock for a moment, so try again a few times.
  for (let tries = 0; tries < RETRIES && !locked.ok && locked.error.kind === 'held'; tries += 1) {
    await runtime.sleep(RETRY_MS);
    locked = await files.lock(path, options);
  }
  const lock = mustFile(locked);
  try {
    return await work(lock);
  } finally {
    lock.release();
  }
}
