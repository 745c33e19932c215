import { err, ok, type Result } from '../../core/result.ts';
import type {
  FileFailure,
  FileLock,
  FileStamp,
  FileStore,
  FileWriter,
  KeptOld,
  Packing,
  PendingFile,
  SourceFile,
} from '../../ports/files.ts';
import type { ProducerIndexes } from '../../ports/producer-indexes.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { StepListener } from '../../ports/steps.ts';
import { toFailure } from '../contract/archive-failure.ts';
import type { Failure } from '../contract/failure.ts';
import { isSameStamp, type KnownContent, lookAgain } from './look-again.ts';

export type WriteDeps = {
  readonly files: FileStore;
  readonly runtime: Pick<Runtime, 'createHash'>;
  readonly reached: StepListener;
  readonly producerIndexes: ProducerIndexes;
};

export type WriteInput = {
  readonly lock: FileLock;
  /** The transcript's, by name. */
  readonly format: string;
  /** Gives mode and owner. */
  readonly like: string;
  readonly pieces: Iterable<Uint8Array>;
  /** Of what is written. */
  readonly packing: Packing;
  /** The file that must not have changed meanwhile but by growing, and what was read of it. */
  readonly source: SourceFile;
  readonly known: KnownContent;
  /** What may be replaced, as it was when that was decided. */
  readonly target: { readonly path: string; readonly stamp: FileStamp | null };
  /** The source is what is replaced: nobody finds there what is written to it after the last look. */
  readonly replacesSource: boolean;
  /** Asked last, when all is written and nothing has its name yet. */
  readonly isInterrupted: () => Promise<boolean>;
};

export type WriteFailure =
  | { readonly kind: 'changed' }
  /** Another program has the source open for writing: what it writes later would go to a file that has no name any more. */
  | { readonly kind: 'in-use'; readonly writer: FileWriter }
  /** Something else stands at the output's path by now. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'failed'; readonly failure: Failure };

export type Written = {
  /** What came to the source's end while it was at work, and stands at the output's end now. */
  readonly carriedBytes: number;
  /** Sentences for people. */
  readonly notes: readonly string[];
};

/** Writes a file whole or not at all, and only if the source still is what was read; what was appended to it is carried over. */
export async function writeOutput(deps: WriteDeps, input: WriteInput): Promise<Result<Written, WriteFailure>> {
  const begun = await input.lock.begin(input.like, input.packing);
  if (!begun.ok) return failed({ kind: 'file', failure: begun.error });
  try {
    return await writePending(deps, input, begun.value);
  } finally {
    begun.value.close();
  }
}

async function writePending(
  deps: WriteDeps,
  input: WriteInput,
  pending: PendingFile,
): Promise<Result<Written, WriteFailure>> {
  const { reached } = deps;
  const ends = { output: true };
  const written = await writeContent(pending, watchEnd(input.pieces, ends));
  if (!written.ok) return fileFailed(written.error);
  const drained = pending.drain();
  if (!drained.ok) return fileFailed(drained.error);
  reached('written');
  const synced = pending.sync();
  if (!synced.ok) return fileFailed(synced.error);
  reached('synced');
  const seam = seamOf(input, ends.output);
  const looked = await carryOver(deps, input, { pending, seam });
  if (!looked.ok) return looked;
  const writer = input.replacesSource ? await deps.files.findWriter(input.known.stamp) : null;
  if (writer !== null) return err({ kind: 'in-use', writer });
  if (!input.replacesSource && !(await isTargetAsItWas(deps.files, input.target))) return err({ kind: 'taken' });
  const note = input.replacesSource
    ? await deps.producerIndexes.reset({ path: input.target.path, format: input.format })
    : null;
  reached('looked');
  if (await input.isInterrupted()) return failed({ kind: 'interrupted' });
  const kept = input.replacesSource ? pending.keepOld(input.known.stamp, looked.value) : ok(null);
  if (!kept.ok) return fileFailed(kept.error);
  if (kept.value?.kind === 'another-file') return err({ kind: 'changed' });
  const named = await pending.rename();
  if (!named.ok) return fileFailed(named.error);
  reached('renamed');
  const lateSeam = looked.value === input.known.sizeBytes ? seam : 'direct';
  const late =
    kept.value === null
      ? ok(looked.value)
      : carryLate(pending, { source: input.source, from: looked.value, old: kept.value, seam: lateSeam });
  if (!late.ok) return fileFailed(late.error);
  const onDisk = await pending.syncFolder();
  if (!onDisk.ok) return fileFailed(onDisk.error);
  reached('folder-synced');
  const carried = late.value - input.known.sizeBytes;
  const carriedBytes = carried > 0 ? carried + LINE_ENDS_ADDED[seam] : carried;
  return ok({ carriedBytes, notes: note === null ? [] : [note] });
}

const LF = 0x0a;

/** Passes pieces on and tells whether the last of them ends a line. */
function* watchEnd(pieces: Iterable<Uint8Array>, ends: { output: boolean }): Generator<Uint8Array> {
  for (const piece of pieces) {
    ends.output = (piece.at(-1) ?? (ends.output ? LF : 0)) === LF;
    yield piece;
  }
}

/**
 * How what was appended to the source continues the output. line-end: the output's last line has none, and the source's has. closed: the
 * output's last line has one, and the source's has not: only what begins with the line end that is missing there continues the output.
 */
type Seam = 'direct' | 'line-end' | 'closed';

/** What is written more (or less) than was appended. */
const LINE_ENDS_ADDED: { readonly [seam in Seam]: number } = { direct: 0, 'line-end': 1, closed: -1 };

function seamOf({ source, known }: WriteInput, outputEndsLine: boolean): Seam {
  const last = source.read(Math.max(0, known.sizeBytes - 1), 1).at(0);
  const sourceEndsLine = last === undefined || last === LF;
  if (sourceEndsLine === outputEndsLine) return 'direct';
  return sourceEndsLine ? 'line-end' : 'closed';
}

async function isTargetAsItWas(files: FileStore, { path, stamp }: WriteInput['target']): Promise<boolean> {
  const now = await files.stamp(path);
  if (!now.ok) return stamp === null || now.error.kind === 'not-found';
  return stamp !== null && isSameStamp(stamp, now.value);
}

/** A producer that never rests gets its turn after so many looks. */
const MAX_LOOKS = 10;

/** Appends what came to the source meanwhile, until nothing comes any more; gives the size up to which the source is in the output. */
async function carryOver(
  { files, runtime }: WriteDeps,
  { source, known: first }: WriteInput,
  { pending, seam }: { readonly pending: PendingFile; readonly seam: Seam },
): Promise<Result<number, WriteFailure>> {
  let known = first;
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    const seen = await lookAgain({ files, runtime }, source, known);
    if (seen.kind === 'changed') return err({ kind: 'changed' });
    if (seen.kind === 'same') return ok(known.sizeBytes);
    try {
      const isFirst = known === first;
      const [begin] = seen.pieces();
      // It goes on with a line that the output has ended.
      if (isFirst && seam === 'closed' && begin?.at(0) !== LF) return err({ kind: 'changed' });
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

/** What was appended first, as it continues the output. */
function* joinAt(seam: Seam, pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let isFirst = true;
  for (const piece of pieces) {
    if (isFirst && seam === 'line-end') yield Uint8Array.of(LF);
    yield isFirst && seam === 'closed' && piece.at(0) === LF ? piece.subarray(1) : piece;
    isFirst = false;
  }
}

type Late = {
  readonly source: SourceFile;
  readonly from: number;
  readonly old: KeptOld;
  readonly seam: Seam;
};

/**
 * Between the last look and the rename a producer may have written to what is replaced now: its file is still open here. Where that cannot be
 * brought over now it has a second name, for the next run.
 */
function carryLate(pending: PendingFile, { source, from, old, seam }: Late): Result<number, FileFailure> {
  let size = from;
  const pieces = function* (): Generator<Uint8Array> {
    for (const piece of source.tail(from)) {
      size += piece.length;
      yield piece;
    }
  };
  const written = attemptTail(source.path, () => writeAll(pending, joinAt(seam, pieces())));
  const synced = written.ok && size > from ? pending.sync() : written;
  if (!synced.ok) {
    const { path } = synced.error;
    return err({ kind: 'unfinished', path, keptAs: old.kind === 'kept' ? old.name : null, because: synced.error });
  }
  pending.dropOld();
  return ok(size);
}

/** Reading throws what the system does. */
function attemptTail(path: string, write: () => Result<void, FileFailure>): Result<void, FileFailure> {
  try {
    return write();
  } catch (error) {
    const failure = toFailure(error, path);
    if (failure.kind !== 'file') throw error;
    return err(failure.failure);
  }
}

/** A packer works on while the next piece is made, and is not to fall behind. */
async function writeContent(pending: PendingFile, pieces: Iterable<Uint8Array>): Promise<Result<void, FileFailure>> {
  for (const piece of pieces) {
    const written = pending.write(piece);
    if (!written.ok) return written;
    const behind = pending.catchUp('here');
    const caughtUp = behind === null ? written : await behind;
    if (!caughtUp.ok) return caughtUp;
  }
  return (await pending.catchUp('end')) ?? ok(undefined);
}

function writeAll(pending: PendingFile, pieces: Iterable<Uint8Array>): Result<void, FileFailure> {
  for (const piece of pieces) {
    const written = pending.write(piece);
    if (!written.ok) return written;
  }
  return ok(undefined);
}

function failed(failure: Failure): Result<never, WriteFailure> {
  return err({ kind: 'failed', failure });
}

function fileFailed(failure: FileFailure): Result<never, WriteFailure> {
  return failed({ kind: 'file', failure });
}
