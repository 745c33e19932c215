import type { Compression, FileLock, FileStamp, FileStore, PendingFile, SourceFile } from '../../ports/files.ts';
import type { FileMarks } from '../../ports/captures.ts';
import type { Runtime } from '../../ports/runtime.ts';
import { type AppDeps, isInterrupted, type WritingDeps } from '../contract/deps.ts';
import { attemptStep, type Failure, mustFile, stop } from '../contract/failure.ts';
import { hashPrefix, isSameContent, isSameFile, isSameStamp, LF, readPieces } from '../read/records.ts';

type WriteDeps = Pick<WritingDeps, 'files' | 'runtime' | 'reached' | 'producerIndexes' | 'signal'>;

/** The content of a file in pieces. Those that come from an archive arrive asynchronously. */
export type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** What was read of a file, and its stamp at that time. */
export type KnownContent = {
  readonly stamp: FileStamp;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** The file is one JSON value, so nothing can be appended to it. */
  readonly isDocument?: boolean;
};

export type WriteInput = {
  readonly lock: FileLock;
  /** The file that messages are about. */
  readonly file: string;
  /** The name of the transcript's format. */
  readonly format: string;
  /** The output gets the mode and owner of this file. */
  readonly like: string;
  readonly pieces: Pieces;
  readonly compression: Compression;
  /** The file that was read. It may only grow meanwhile. */
  readonly source: SourceFile;
  readonly known: KnownContent;
  /** The file that may be replaced; `stamp` is from when that was decided, null: there was none. */
  readonly target: { readonly path: string; readonly stamp: FileStamp | null };
  /** The output replaces the source. What a producer writes to the source after the last look must be appended. */
  readonly replacesSource: boolean;
  /** What the file had, which it gets again; null or undefined: the time of the source, or now. */
  readonly marks?: FileMarks | null;
};

export type Written = {
  /** Bytes that were appended to the source during the run and are now at the end of the output. */
  readonly carriedBytes: number;
  /** Sentences for people. */
  readonly notes: readonly string[];
};

/** Writes a file completely or not at all, and only if the source has not changed except by growing; what was appended to it is carried over. */
export async function writeOutput(deps: WriteDeps, input: WriteInput): Promise<Written> {
  const pending = mustFile(await input.lock.begin(input.like, input.compression));
  try {
    const { reached } = deps;
    const { source, known, target, replacesSource, file } = input;
    const ends = { output: true };
    await writeContent(pending, watchEnd(input.pieces, ends));
    mustFile(pending.drain());
    reached('written');
    mustFile(pending.sync());
    reached('synced');
    // All that is slow comes before the last look.
    if (replacesSource) await stopIfInUse(deps, input, 'is-free');
    const note = replacesSource ? await deps.producerIndexes.reset({ path: target.path, format: input.format }) : null;
    if (await isInterrupted(deps)) stop({ kind: 'interrupted' });
    const seam = seamBetween(source, known, ends.output);
    const looked = await appendGrowth(deps, pending, { source, known, seam, file });
    reached('looked');
    await swap(deps, pending, { ...input, known: looked });
    const carried = looked.sizeBytes - known.sizeBytes;
    const carriedBytes = carried > 0 ? carried + LINE_ENDS_ADDED[seam] : carried;
    return { carriedBytes, notes: note === null ? [] : [note] };
  } finally {
    pending.close();
  }
}

/**
 * Ends the run if another program has the source open for writing: what it writes later would go to a file without a name. `ifUnknown`: what an
 * unfinished search counts as.
 */
async function stopIfInUse(
  { files }: Pick<WriteDeps, 'files'>,
  { known, file }: { known: Pick<KnownContent, 'stamp'>; file: string },
  ifUnknown: 'is-free' | 'is-in-use',
): Promise<void> {
  const user = await files.findWriter(known.stamp);
  if (user === null || (user === 'unknown' && ifUnknown === 'is-free')) return;
  stop({ kind: 'in-use', file, user });
}

/**
 * Puts the new file in the place of the old one: moves the old one aside, gives the new one its name, and compares what was moved aside. If
 * another program has written to it, or has it open, it goes back, with all that came since.
 */
async function swap(deps: WriteDeps, pending: PendingFile, input: WriteInput): Promise<void> {
  const { source, known, target, replacesSource, file, marks } = input;
  const { reached } = deps;
  const gone: Failure = replacesSource
    ? { kind: 'source-changed', file }
    : { kind: 'output-exists', file, output: target.path };
  const placed = await pending.takePlace(replacesSource ? known.stamp : target.stamp, {
    isDocument: known.isDocument === true,
    onMoved: () => reached('moved'),
    ...(replacesSource && { mtimeNs: known.stamp.mtimeNs }),
    ...timeOf(marks),
  });
  const old = mustFile(placed);
  if (old === 'taken') return stop(gone);
  reached('renamed');
  if (replacesSource && old !== null) {
    try {
      // From here on nobody can open the old file: if nobody has it open now, it is final.
      await stopIfInUse(deps, input, 'is-free');
      if (!(await isAsRead(deps, { path: old.path, compression: source.compression }, known))) stop(gone);
    } catch (error) {
      mustFile(old.putBack());
      throw error;
    }
  }
  const onDisk = await pending.syncFolder();
  old?.drop();
  if (!onDisk.ok) stop({ kind: 'file', failure: { kind: 'not-flushed', path: target.path, because: onDisk.error } });
  reached('folder-synced');
}

type Removal = Pick<WriteInput, 'lock' | 'file'> & {
  readonly path: string;
  readonly stamp: FileStamp;
  readonly isDocument: boolean;
  /** Whether the file, which has another name by then, holds what is kept elsewhere, and nothing else. */
  readonly isKept: (path: string) => boolean | Promise<boolean>;
};

/**
 * Removes a file for good, unless another program has it open, writes to it, or puts another file at its name: then it stays (false), with all
 * that came to it. A run that is killed before the end leaves it under a hidden name, and the next one puts it back.
 */
export async function removeKept(
  deps: Pick<WriteDeps, 'files' | 'reached'>,
  { lock, file, path, stamp, isDocument, isKept }: Removal,
): Promise<boolean> {
  const source = { file, known: { stamp } };
  await stopIfInUse(deps, source, 'is-in-use');
  const moved = mustFile(lock.moveAway(stamp, { isDocument }));
  if (moved === null) return false;
  deps.reached('moved');
  try {
    // From here on nobody can open it: if nobody has it open now, it is final.
    await stopIfInUse(deps, source, 'is-in-use');
    const there = await deps.files.stamp(path);
    if (!there.ok && there.error.kind === 'not-found' && (await isKept(moved.path)) && moved.drop()) return true;
  } catch (error) {
    mustFile(moved.putBack());
    throw error;
  }
  mustFile(moved.putBack());
  return false;
}

/** Writes a file that has no source, completely or not at all. */
export async function writeNew({
  lock,
  pieces,
  file,
  target,
  marks,
}: Pick<WriteInput, 'lock' | 'pieces' | 'file' | 'target' | 'marks'>): Promise<void> {
  const pending = mustFile(await lock.begin(marks?.mode));
  try {
    await writeContent(pending, pieces);
    mustFile(pending.drain());
    mustFile(pending.sync());
    const placed = mustFile(await pending.takePlace(target.stamp, timeOf(marks)));
    if (placed === 'taken') return stop({ kind: 'output-exists', file, output: target.path });
    placed?.drop();
    mustFile(await pending.syncFolder());
  } finally {
    pending.close();
  }
}

function timeOf(marks: FileMarks | null | undefined): { readonly mtimeNs?: bigint } {
  return marks === null || marks === undefined ? {} : { mtimeNs: BigInt(marks.mtimeNs) };
}

/** A page to write. It may replace an empty file, or one that begins with `start`: an earlier page. */
export type NewPage = {
  readonly path: string;
  readonly text: string;
  readonly start: string;
  /** The transcript that it is about, for messages. */
  readonly file: string;
};

/**
 * Writes a page completely or not at all. A symbolic link is refused: in a folder that others may write to, it could lead to any file of the
 * user.
 */
export async function writePage({ files }: Pick<AppDeps, 'files'>, { path, text, start, file }: NewPage) {
  const encoder = new TextEncoder();
  const bytes = encoder.encode(text);
  const mark = encoder.encode(start);
  return attemptStep(async () => {
    const lock = mustFile(await files.lock(path, { refusesLinks: true }));
    try {
      const old = await files.open(path);
      if (!old.ok && old.error.kind !== 'not-found') mustFile(old);
      const replaced = old.ok ? old.value : null;
      const head = replaced?.read(0, mark.length) ?? new Uint8Array();
      replaced?.close();
      const isOurs = head.length === mark.length && head.every((byte, at) => byte === mark[at]);
      if (!isOurs && head.length > 0) stop({ kind: 'output-exists', file, output: path });
      await writeNew({ lock, pieces: [bytes], file, target: { path, stamp: replaced?.stamp ?? null } });
    } finally {
      lock.release();
    }
  });
}

/** Passes pieces on and records whether the last one ends a line. */
async function* watchEnd(pieces: Pieces, ends: { output: boolean }): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    ends.output = (piece.at(-1) ?? (ends.output ? LF : 0)) === LF;
    yield piece;
  }
}

/** Waits for the compressor after each piece, so that it does not fall behind. */
async function writeContent(pending: PendingFile, pieces: Pieces): Promise<void> {
  for await (const piece of pieces) {
    mustFile(pending.write(piece));
    const behind = pending.catchUp('here');
    if (behind !== null) mustFile(await behind);
  }
  const last = pending.catchUp('end');
  if (last !== null) mustFile(await last);
}

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
  const isIt = isSameFile(stamp, known.stamp) && file.compression === compression;
  if (!isIt || hashPrefix(runtime, file, known.sizeBytes) !== known.sha256) {
    file.close();
    return { kind: 'changed' };
  }
  const sha256 = hashPrefix(runtime, file, sizeBytes) ?? '';
  const pieces = (): Iterable<Uint8Array> => readPieces(file, { from: known.sizeBytes, to: sizeBytes });
  return { kind: 'grown', known: { stamp, sizeBytes, sha256 }, pieces, close: () => file.close() };
}

/** Two writes within one tick of the system's clock leave the same time. */
const CLOCK_TICK_MS = 2000;

/** Whether a file that was moved aside holds what was read of it, and nothing else. */
async function isAsRead(
  { files, runtime }: Pick<WriteDeps, 'files' | 'runtime'>,
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
  const { sizeBytes } = opened.value;
  try {
    return sizeBytes === known.sizeBytes && hashPrefix(runtime, opened.value, sizeBytes) === known.sha256;
  } finally {
    opened.value.close();
  }
}

/**
 * How appended bytes continue the output. line-end: the source's last line has a line ending and the output's has none, so one is written
 * first. closed: the other way round, so the appended bytes must begin with that line ending, and it is left out.
 */
type Seam = 'direct' | 'line-end' | 'closed';

/** By how many bytes the output grows beyond what was appended to the source. */
const LINE_ENDS_ADDED: { readonly [seam in Seam]: number } = { direct: 0, 'line-end': 1, closed: -1 };

function seamBetween(source: SourceFile, { sizeBytes }: KnownContent, outputEndsLine: boolean): Seam {
  const last = source.read(Math.max(0, sizeBytes - 1), 1).at(0);
  const sourceEndsLine = last === undefined || last === LF;
  if (sourceEndsLine === outputEndsLine) return 'direct';
  return sourceEndsLine ? 'line-end' : 'closed';
}

/** After so many looks at a producer that keeps writing, the run starts over. */
const MAX_LOOKS = 10;

/** Appends what was added to the source meanwhile, until nothing more comes. Gives what the output contains of the source by then. */
async function appendGrowth(
  deps: LookDeps,
  pending: PendingFile,
  { source, known: first, seam, file }: Pick<WriteInput, 'source' | 'known' | 'file'> & { seam: Seam },
): Promise<KnownContent> {
  const changed: Failure = { kind: 'source-changed', file };
  let known = first;
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    const seen = await lookAgain(deps, source, known);
    if (seen.kind === 'changed') return stop(changed);
    if (seen.kind === 'same') return known;
    try {
      const isFirst = known.sizeBytes === first.sizeBytes;
      const [begin] = seen.pieces();
      // The appended bytes continue a line that the output has already ended.
      if (isFirst && seam === 'closed' && begin !== undefined && begin.at(0) !== LF) stop(changed);
      for (const piece of isFirst ? joinAt(seam, seen.pieces()) : seen.pieces()) mustFile(pending.write(piece));
    } finally {
      seen.close();
    }
    mustFile(pending.sync());
    known = seen.known;
  }
  return stop(changed);
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
