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
  appendMissedWrites,
  fileFailed,
  type GrowthFailure,
  isSameStamp,
  type KnownContent,
  LINE_ENDS_ADDED,
  seamBetween,
} from './missed-writes.ts';

type WriteDeps = {
  readonly files: FileStore;
  readonly runtime: Pick<Runtime, 'createHash'>;
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
  const seam = seamBetween(source, known, ends.output);
  const looked = await appendGrowth(deps, pending, { source, known, seam });
  if (!looked.ok) return looked;
  const writer = replacesSource ? await deps.files.findWriter(known.stamp) : null;
  if (writer !== null) return err({ kind: 'in-use', writer });
  if (!replacesSource && !(await isTargetUnchanged(deps.files, target))) return err({ kind: 'taken' });
  const note = replacesSource ? await deps.producerIndexes.reset({ path: target.path, format: input.format }) : null;
  reached('looked');
  if (await input.isInterrupted()) return err({ kind: 'failed', failure: { kind: 'interrupted' } });
  const kept = replacesSource ? pending.keepBackup(known.stamp, looked.value) : ok(null);
  if (!kept.ok) return fileFailed(kept.error);
  if (kept.value?.kind === 'another-file') return err({ kind: 'changed' });
  const named = await pending.rename();
  if (!named.ok) return fileFailed(named.error);
  reached('renamed');
  const old = kept.value;
  const lateSeam = looked.value === known.sizeBytes ? seam : 'direct';
  const late = old === null ? looked : appendMissedWrites(pending, { source, from: looked.value, old, seam: lateSeam });
  if (!late.ok) return fileFailed(late.error);
  const onDisk = await pending.syncFolder();
  if (!onDisk.ok) return fileFailed(onDisk.error);
  reached('folder-synced');
  const carried = late.value - known.sizeBytes;
  const carriedBytes = carried > 0 ? carried + LINE_ENDS_ADDED[seam] : carried;
  return ok({ carriedBytes, notes: note === null ? [] : [note] });
}

/** Writes a file that does not exist yet, completely or not at all. */
export async function writeNew(
  { files }: Pick<WriteDeps, 'files'>,
  { lock, path, pieces }: Pick<WriteInput, 'lock' | 'pieces'> & { readonly path: string },
): Promise<Result<void, WriteFailure>> {
  const begun = await lock.begin();
  if (!begun.ok) return fileFailed(begun.error);
  const pending = begun.value;
  try {
    const written = await writeContent(pending, pieces);
    const drained = written.ok ? pending.drain() : written;
    const synced = drained.ok ? pending.sync() : drained;
    if (!synced.ok) return fileFailed(synced.error);
    if (!(await isTargetUnchanged(files, { path, stamp: null }))) return err({ kind: 'taken' });
    const named = await pending.rename();
    const onDisk = named.ok ? await pending.syncFolder() : named;
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

export async function isTargetUnchanged(files: FileStore, { path, stamp }: WriteInput['target']): Promise<boolean> {
  const now = await files.stamp(path);
  if (!now.ok) return stamp === null || now.error.kind === 'not-found';
  return stamp !== null && isSameStamp(stamp, now.value);
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
