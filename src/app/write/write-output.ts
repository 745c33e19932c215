import { err, ok, type Result } from '../../core/result.ts';
import type {
  Compression,
  FileFailure,
  FileLock,
  FileStamp,
  FileStore,
  FileWriter,
  PendingFile,
  ProducerIndexes,
  SourceFile,
} from '../../ports/files.ts';
import type { Runtime, StepListener } from '../../ports/runtime.ts';
import {
  appendGrowth,
  fileFailed,
  type GrowthFailure,
  isAsRead,
  type KnownContent,
  LINE_ENDS_ADDED,
  seamBetween,
} from './look-again.ts';

type WriteDeps = {
  readonly files: FileStore;
  readonly runtime: Pick<Runtime, 'createHash' | 'now'>;
  readonly reached: StepListener;
  readonly producerIndexes: ProducerIndexes;
};

/** The content of a file in pieces. Those that come from an archive arrive asynchronously. */
type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

export type WriteInput = {
  readonly lock: FileLock;
  /** The name of the transcript's format. */
  readonly format: string;
  /** The output gets the mode and owner of this file. */
  readonly like: string;
  readonly pieces: Pieces;
  /** How the output is compressed. */
  readonly compression: Compression;
  /** The file that was read. It may only grow meanwhile. */
  readonly source: SourceFile;
  readonly known: KnownContent;
  /** The file that may be replaced; `stamp` is from when that was decided, null: there was none. */
  readonly target: { readonly path: string; readonly stamp: FileStamp | null };
  /** The output replaces the source. What a producer writes to the source after the last look must be appended. */
  readonly replacesSource: boolean;
  /** Called last, after everything is written and before the output gets its name. */
  readonly isInterrupted: () => Promise<boolean>;
};

export type WriteFailure =
  | GrowthFailure
  /** Another program has the source open for writing: what it writes later would go to a file without a name. */
  | { readonly kind: 'in-use'; readonly writer: FileWriter }
  /** Another file has appeared at the output's path. */
  | { readonly kind: 'taken' };

export type Written = {
  /** Bytes that were appended to the source during the run and are now at the end of the output. */
  readonly carriedBytes: number;
  /** Sentences for people. */
  readonly notes: readonly string[];
};

/** Writes a file completely or not at all, and only if the source has not changed except by growing; what was appended to it is carried over. */
export async function writeOutput(deps: WriteDeps, input: WriteInput): Promise<Result<Written, WriteFailure>> {
  const begun = await input.lock.begin(input.like, input.compression);
  if (!begun.ok) return fileFailed(begun.error);
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
  const { source, known, target, replacesSource } = input;
  const ends = { output: true };
  const written = await writeContent(pending, watchEnd(input.pieces, ends));
  if (!written.ok) return fileFailed(written.error);
  const drained = pending.drain();
  if (!drained.ok) return fileFailed(drained.error);
  reached('written');
  const synced = pending.sync();
  if (!synced.ok) return fileFailed(synced.error);
  reached('synced');
  // All that is slow comes before the last look.
  const writer = replacesSource ? await deps.files.findWriter(known.stamp) : null;
  if (writer !== null) return err({ kind: 'in-use', writer });
  const note = replacesSource ? await deps.producerIndexes.reset({ path: target.path, format: input.format }) : null;
  if (await input.isInterrupted()) return err({ kind: 'failed', failure: { kind: 'interrupted' } });
  const seam = seamBetween(source, known, ends.output);
  const looked = await appendGrowth(deps, pending, { source, known, seam });
  if (!looked.ok) return looked;
  reached('looked');
  const swapped = await swap(deps, pending, { ...input, known: looked.value });
  if (!swapped.ok) return swapped;
  const carried = looked.value.sizeBytes - known.sizeBytes;
  const carriedBytes = carried > 0 ? carried + LINE_ENDS_ADDED[seam] : carried;
  return ok({ carriedBytes, notes: note === null ? [] : [note] });
}

/**
 * Puts the new file in the place of the old one: moves the old one aside, gives the new one its name, and compares what was moved aside. If
 * another program has written to it, or has it open, it goes back, with all that came since.
 */
async function swap(
  deps: WriteDeps,
  pending: PendingFile,
  { source, known, target, replacesSource }: Pick<WriteInput, 'source' | 'known' | 'target' | 'replacesSource'>,
): Promise<Result<null, WriteFailure>> {
  const { reached, files } = deps;
  const gone: WriteFailure = replacesSource ? { kind: 'changed' } : { kind: 'taken' };
  const isDocument = known.isDocument === true;
  const placed = await pending.takePlace(replacesSource ? known.stamp : target.stamp, {
    isDocument,
    onMoved: () => reached('moved'),
    ...(replacesSource && { mtimeNs: known.stamp.mtimeNs }),
  });
  if (!placed.ok) return fileFailed(placed.error);
  if (placed.value === 'taken') return err(gone);
  const old = placed.value;
  const putBack = (why: WriteFailure): Result<never, WriteFailure> => {
    const back = old?.putBack() ?? ok(undefined);
    return back.ok ? err(why) : fileFailed(back.error);
  };
  reached('renamed');
  if (replacesSource && old !== null) {
    // From here on nobody can open the old file: if nobody has it open now, it is final.
    const writer = await files.findWriter(known.stamp);
    if (writer !== null) return putBack({ kind: 'in-use', writer });
    const { compression } = source;
    if (!(await isAsRead(deps, { path: old.path, compression }, known))) return putBack(gone);
  }
  const onDisk = await pending.syncFolder();
  old?.drop();
  if (!onDisk.ok) return fileFailed({ kind: 'not-flushed', path: target.path, because: onDisk.error });
  reached('folder-synced');
  return ok(null);
}

/** Writes a file that does not exist yet, completely or not at all. */
export async function writeNew({
  lock,
  pieces,
}: Pick<WriteInput, 'lock' | 'pieces'>): Promise<Result<void, WriteFailure>> {
  const begun = await lock.begin();
  if (!begun.ok) return fileFailed(begun.error);
  const pending = begun.value;
  try {
    const written = await writeContent(pending, pieces);
    const drained = written.ok ? pending.drain() : written;
    const synced = drained.ok ? pending.sync() : drained;
    if (!synced.ok) return fileFailed(synced.error);
    const placed = await pending.takePlace(null);
    if (!placed.ok) return fileFailed(placed.error);
    if (placed.value === 'taken') return err({ kind: 'taken' });
    const onDisk = await pending.syncFolder();
    return onDisk.ok ? onDisk : fileFailed(onDisk.error);
  } finally {
    pending.close();
  }
}

const LF = 0x0a;

/** Passes pieces on and records whether the last one ends a line. */
async function* watchEnd(pieces: Pieces, ends: { output: boolean }): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    ends.output = (piece.at(-1) ?? (ends.output ? LF : 0)) === LF;
    yield piece;
  }
}

/** Waits for the compressor after each piece, so that it does not fall behind. */
async function writeContent(pending: PendingFile, pieces: Pieces): Promise<Result<void, FileFailure>> {
  for await (const piece of pieces) {
    const written = pending.write(piece);
    if (!written.ok) return written;
    const behind = pending.catchUp('here');
    const caughtUp = behind === null ? written : await behind;
    if (!caughtUp.ok) return caughtUp;
  }
  return (await pending.catchUp('end')) ?? ok(undefined);
}
