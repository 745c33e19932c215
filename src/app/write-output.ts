import { err, ok } from '../core/result.ts';
import type { Result } from '../core/result.ts';
import type { FileFailure, FileLock, FileStore, PendingFile, SourceFile } from '../ports/files.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { StepListener } from '../ports/steps.ts';
import type { Failure } from './failure.ts';
import { lookAgain } from './look-again.ts';
import type { KnownContent } from './look-again.ts';

export type WriteDeps = {
  readonly files: FileStore;
  readonly runtime: Pick<Runtime, 'createHash'>;
  readonly reached: StepListener;
};

export type WriteInput = {
  readonly lock: FileLock;
  /** Gives mode and owner. */
  readonly like: string;
  readonly pieces: Iterable<Uint8Array>;
  /** The file that must not have changed meanwhile but by growing, and what was read of it. */
  readonly source: SourceFile;
  readonly known: KnownContent;
  /** The source is what is replaced: nobody finds there what is written to it after the last look. */
  readonly replacesSource: boolean;
  /** Asked last, when all is written and nothing has its name yet. */
  readonly isInterrupted: () => Promise<boolean>;
};

export type WriteFailure = { readonly kind: 'changed' } | { readonly kind: 'failed'; readonly failure: Failure };

/** What came to the source's end while it was at work, and stands at the output's end now. */
export type Written = { readonly carriedBytes: number };

/** Writes a file whole or not at all, and only if the source still is what was read; what was appended to it is carried over. */
export async function writeOutput(deps: WriteDeps, input: WriteInput): Promise<Result<Written, WriteFailure>> {
  const begun = await input.lock.begin(input.like);
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
  const written = writeAll(pending, input.pieces);
  if (!written.ok) return fileFailed(written.error);
  const drained = pending.drain();
  if (!drained.ok) return fileFailed(drained.error);
  reached('written');
  const synced = pending.sync();
  if (!synced.ok) return fileFailed(synced.error);
  reached('synced');
  const looked = await carryOver(deps, input, pending);
  if (!looked.ok) return looked;
  reached('looked');
  if (await input.isInterrupted()) return failed({ kind: 'interrupted' });
  const named = await pending.rename();
  if (!named.ok) return fileFailed(named.error);
  reached('renamed');
  const late = input.replacesSource ? carryLate(input.source, pending, looked.value) : ok(looked.value);
  if (!late.ok) return fileFailed(late.error);
  const onDisk = await pending.syncFolder();
  if (!onDisk.ok) return fileFailed(onDisk.error);
  reached('folder-synced');
  return ok({ carriedBytes: late.value - input.known.sizeBytes });
}

/** A producer that never rests gets its turn after so many looks. */
const MAX_LOOKS = 10;

/** Appends what came to the source meanwhile, until nothing comes any more; gives the size up to which the source is in the output. */
async function carryOver(
  { files, runtime }: WriteDeps,
  { source, known: first }: WriteInput,
  pending: PendingFile,
): Promise<Result<number, WriteFailure>> {
  let known = first;
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    const seen = await lookAgain({ files, runtime }, source, known);
    if (seen.kind === 'changed') return err({ kind: 'changed' });
    if (seen.kind === 'same') return ok(known.sizeBytes);
    try {
      const appended = writeAll(pending, seen.pieces());
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

/** Between the last look and the rename a producer may have written to what has no name any more: its file is still open here. */
function carryLate(source: SourceFile, pending: PendingFile, from: number): Result<number, FileFailure> {
  let size = from;
  for (const piece of source.tail(from)) {
    const written = pending.write(piece);
    if (!written.ok) return written;
    size += piece.length;
  }
  const synced = size === from ? ok(undefined) : pending.sync();
  return synced.ok ? ok(size) : synced;
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
