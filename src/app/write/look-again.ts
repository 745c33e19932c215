import { err, ok, type Result } from '../../core/result.ts';
import type { FileFailure, FileStamp, FileStore, PendingFile, SourceFile } from '../../ports/files.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { Failure } from '../contract/failure.ts';
import { hashPrefix, readPieces } from '../read/records.ts';

/** What was read of a file, and its stamp at that time. */
export type KnownContent = {
  readonly stamp: FileStamp;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** The file is one JSON value, so nothing can be appended to it. */
  readonly isDocument?: boolean;
};

type Look =
  | { readonly kind: 'same' }
  /** The bytes that were read changed, or the path leads to another file; or a compressed file differs in any way. */
  | { readonly kind: 'changed' }
  /** `pieces` are the appended bytes; `known` describes the whole file now. The caller closes it. */
  | {
      readonly kind: 'grown';
      readonly known: KnownContent;
      readonly pieces: () => Iterable<Uint8Array>;
      readonly close: () => void;
    };

type LookDeps = { readonly files: FileStore; readonly runtime: Pick<Runtime, 'createHash'> };

/** What happened to a file since it was read. */
export async function lookAgain(
  { files, runtime }: LookDeps,
  { path, compression }: Pick<SourceFile, 'path' | 'compression'>,
  known: KnownContent,
): Promise<Look> {
  const stamped = await files.stamp(path);
  if (!stamped.ok || !isSameFile(stamped.value, known.stamp)) return { kind: 'changed' };
  if (isSameStamp(stamped.value, known.stamp)) return { kind: 'same' };
  // An appended part cannot be read alone from a compressed file or a document: both are read again from the start.
  if (compression !== 'none' || known.isDocument === true) return { kind: 'changed' };
  const opened = await files.open(path);
  if (!opened.ok) return { kind: 'changed' };
  const file = opened.value;
  const { stamp, sizeBytes } = file;
  const close = (): void => file.close();
  const isIt = isSameFile(stamp, known.stamp) && file.compression === compression;
  if (!isIt || hashPrefix(runtime, file, known.sizeBytes) !== known.sha256) {
    close();
    return { kind: 'changed' };
  }
  const sha256 = hashPrefix(runtime, file, sizeBytes) ?? '';
  const pieces = (): Iterable<Uint8Array> => readPieces(file, { from: known.sizeBytes, to: sizeBytes });
  return { kind: 'grown', known: { stamp, sizeBytes, sha256 }, pieces, close };
}

/** Both stamps are of one file, whatever its content. */
export function isSameFile(a: FileStamp, b: FileStamp): boolean {
  return a.inode === b.inode && a.device === b.device;
}

/** Nothing was written to the file between the two stamps. `changedNs` cannot be set by a program that hides a write. */
export function isSameStamp(a: FileStamp, b: FileStamp): boolean {
  return isSameContent(a, b) && a.changedNs === b.changedNs;
}

/** The same, where the file got another name meanwhile: that alone changes `changedNs`. */
function isSameContent(a: FileStamp, b: FileStamp): boolean {
  return isSameFile(a, b) && a.sizeBytes === b.sizeBytes && a.mtimeNs === b.mtimeNs;
}

/** Two writes within one tick of the system's clock leave the same time. */
const CLOCK_TICK_MS = 2000;

/** Whether a file that was moved aside holds what was read of it, and nothing else. */
export async function isAsRead(
  { files, runtime }: { readonly files: FileStore; readonly runtime: Pick<Runtime, 'createHash' | 'now'> },
  { path, compression }: Pick<SourceFile, 'path' | 'compression'>,
  known: KnownContent,
): Promise<boolean> {
  const stamped = await files.stamp(path);
  if (!stamped.ok || !isSameFile(stamped.value, known.stamp)) return false;
  const isSame = isSameContent(stamped.value, known.stamp);
  const isOld = runtime.now().getTime() - Number(known.stamp.mtimeNs / 1_000_000n) > CLOCK_TICK_MS;
  if (compression !== 'none' || (isSame && isOld)) return isSame;
  const opened = await files.open(path);
  if (!opened.ok) return false;
  try {
    return (
      opened.value.sizeBytes === known.sizeBytes && hashPrefix(runtime, opened.value, known.sizeBytes) === known.sha256
    );
  } finally {
    opened.value.close();
  }
}

const LF = 0x0a;

/**
 * How appended bytes continue the output. line-end: the source's last line has a line ending and the output's has none, so one is written
 * first. closed: the other way round, so the appended bytes must begin with that line ending, and it is left out.
 */
export type Seam = 'direct' | 'line-end' | 'closed';

/** By how many bytes the output grows beyond what was appended to the source. */
export const LINE_ENDS_ADDED: { readonly [seam in Seam]: number } = { direct: 0, 'line-end': 1, closed: -1 };

export function seamBetween(source: SourceFile, { sizeBytes }: KnownContent, outputEndsLine: boolean): Seam {
  const last = source.read(Math.max(0, sizeBytes - 1), 1).at(0);
  const sourceEndsLine = last === undefined || last === LF;
  if (sourceEndsLine === outputEndsLine) return 'direct';
  return sourceEndsLine ? 'line-end' : 'closed';
}

/** How often a source that changes during the run is read again. */
const MAX_ATTEMPTS = 3;

/** Does the work again where the source changed meanwhile. */
export async function againWhileChanging<T>(work: () => Promise<Result<T, Failure>>): Promise<Result<T, Failure>> {
  for (let tries = 1; ; tries += 1) {
    const done = await work();
    if (done.ok || done.error.kind !== 'source-changed' || tries === MAX_ATTEMPTS) return done;
  }
}

/** After so many looks at a producer that keeps writing, the run starts over. */
const MAX_LOOKS = 10;

export type GrowthFailure = { readonly kind: 'changed' } | { readonly kind: 'failed'; readonly failure: Failure };

/** Appends what was added to the source meanwhile, until nothing more comes. Gives what the output contains of the source by then. */
export async function appendGrowth(
  deps: LookDeps,
  pending: PendingFile,
  { source, known: first, seam }: { readonly source: SourceFile; readonly known: KnownContent; readonly seam: Seam },
): Promise<Result<KnownContent, GrowthFailure>> {
  let known = first;
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    const seen = await lookAgain(deps, source, known);
    if (seen.kind === 'changed') return err({ kind: 'changed' });
    if (seen.kind === 'same') return ok(known);
    try {
      const isFirst = known.sizeBytes === first.sizeBytes;
      const [begin] = seen.pieces();
      // The appended bytes continue a line that the output has already ended.
      if (isFirst && seam === 'closed' && begin !== undefined && begin.at(0) !== LF) return err({ kind: 'changed' });
      const appended = writeAll(pending, isFirst ? joinAt(seam, seen.pieces()) : seen.pieces());
      if (!appended.ok) return fileFailed(appended.error);
    } finally {
      seen.close();
    }
    const synced = pending.sync();
    if (!synced.ok) return fileFailed(synced.error);
    known = seen.known;
  }
  return err({ kind: 'changed' });
}

/** The first appended bytes, changed as the seam requires. */
function* joinAt(seam: Seam, pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let isFirst = true;
  for (const piece of pieces) {
    if (isFirst && seam === 'line-end') yield Uint8Array.of(LF);
    yield isFirst && seam === 'closed' && piece.at(0) === LF ? piece.subarray(1) : piece;
    isFirst = false;
  }
}

function writeAll(pending: PendingFile, pieces: Iterable<Uint8Array>): Result<void, FileFailure> {
  for (const piece of pieces) {
    const written = pending.write(piece);
    if (!written.ok) return written;
  }
  return ok(undefined);
}

export function fileFailed(failure: FileFailure): Result<never, GrowthFailure> {
  return err({ kind: 'failed', failure: { kind: 'file', failure } });
}
