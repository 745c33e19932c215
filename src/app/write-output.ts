import { err, ok } from '../core/result.ts';
import type { Result } from '../core/result.ts';
import type { FileStamp, FileStore } from '../ports/files.ts';
import type { Failure } from './failure.ts';

export type WriteInput = {
  readonly path: string;
  /** Gives mode and owner. */
  readonly like: string;
  readonly pieces: Iterable<Uint8Array>;
  /** The file that must not have changed meanwhile, and its stamp when it was read. */
  readonly source: { readonly path: string; readonly stamp: FileStamp };
  /** Asked last, when all is written and nothing has its name yet. */
  readonly isInterrupted: () => Promise<boolean>;
};

export type WriteFailure = { readonly kind: 'changed' } | { readonly kind: 'failed'; readonly failure: Failure };

/** Writes a file whole or not at all, and only if the source is still the one that was read. */
export async function writeOutput(files: FileStore, input: WriteInput): Promise<Result<void, WriteFailure>> {
  const failed = (failure: Failure): Result<void, WriteFailure> => err({ kind: 'failed', failure });
  const created = await files.create(input.path, input.like);
  if (!created.ok) return failed({ kind: 'file', failure: created.error });
  const pending = created.value;
  try {
    for (const piece of input.pieces) {
      const written = pending.write(piece);
      if (!written.ok) {
        pending.discard();
        return failed({ kind: 'file', failure: written.error });
      }
    }
  } catch (error) {
    pending.discard();
    throw error;
  }
  const flushed = await pending.flush();
  if (!flushed.ok) {
    pending.discard();
    return failed({ kind: 'file', failure: flushed.error });
  }
  const now = await files.stamp(input.source.path);
  if (!now.ok || !isSameStamp(now.value, input.source.stamp)) {
    pending.discard();
    return err({ kind: 'changed' });
  }
  if (await input.isInterrupted()) {
    pending.discard();
    return failed({ kind: 'interrupted' });
  }
  const committed = await pending.commit();
  if (committed.ok) return ok(undefined);
  pending.discard();
  return failed({ kind: 'file', failure: committed.error });
}

function isSameStamp(a: FileStamp, b: FileStamp): boolean {
  return a.sizeBytes === b.sizeBytes && a.mtimeNs === b.mtimeNs && a.inode === b.inode && a.device === b.device;
}
