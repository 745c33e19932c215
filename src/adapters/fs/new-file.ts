import {
  type BigIntStats,
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  futimesSync,
  openSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { constants, createGzip, createZstdCompress } from 'node:zlib';
import { err, ok, type Result } from '../../core/result.ts';
import type { Compression, FileFailure, PendingFile, RemoveAtExit } from '../../ports/files.ts';
import { isSameFile, orElse, syncFolder, toFileFailure, tryTo, writeAll } from '../../system/files.ts';
import { describeNew, removeName, type Swap } from './swap.ts';

/** A conversation is private unless its source was not. */
const PRIVATE_MODE = 0o600;
const PERMISSION_BITS = 0o777n;

type NewFile = {
  /** As shown in messages. */
  readonly path: string;
  /** The final place: `path` with its links followed. */
  readonly target: string;
  /** The name until then, in the same folder. */
  readonly temporary: string;
  /** The file whose mode and owner are copied, or the mode. */
  readonly like: string | number | undefined;
  readonly compression: Compression;
  readonly removeAtExit: RemoveAtExit;
  readonly swap: Swap;
};

/**
 * Creates a file that has a temporary name until it is complete. A file that replaces `like` keeps its owner, or is
 * denied.
 */
export async function beginFile(options: NewFile): Promise<Result<PendingFile, FileFailure>> {
  const { path, target, temporary, like, compression, removeAtExit } = options;
  let fd: number | null = null;
  try {
    // Without a file to copy from, the mode stays private.
    const statOf = (name: string) => orElse(undefined, () => statSync(name, { bigint: true }));
    const model = typeof like === 'string' ? statOf(like) : undefined;
    const isInPlace = isSameFile(model, statOf(target));
    // Opened for appending, because the producer may write to the file as soon as it has its name.
    fd = openSync(temporary, 'ax', PRIVATE_MODE);
    if (typeof like === 'number') fchmodSync(fd, like);
    const isOwnerKept = model === undefined || copyOwner(fd, model);
    if (isInPlace && !isOwnerKept) {
      abandon(fd, temporary);
      return err({ kind: 'denied', path, what: 'write', reason: 'owner' });
    }
    const file = createPendingFile(fd, options, removeAtExit(temporary));
    if (compression === 'none') return ok(file);
    if (compression === 'eval') return ok((await import('./eval-log.ts')).createEvalFile(file));
    return ok(createCompressedFile(file, { path, compression }));
  } catch (error) {
    if (fd !== null) abandon(fd, temporary);
    // The folder is what is missing or not writable.
    return err(toFileFailure(error, { path: dirname(path), what: 'write' }));
  }
}

function abandon(fd: number, temporary: string): void {
  closeSync(fd);
  removeTemporary(temporary);
}

/** False: the owner could not be changed. */
function copyOwner(fd: number, like: BigIntStats): boolean {
  const [uid, gid] = [Number(like.uid), Number(like.gid)];
  const own = fstatSync(fd);
  const isOthers = own.uid !== uid || own.gid !== gid;
  // The mode is set all the same.
  const tryChange = (user: number): boolean => tryTo(() => fchownSync(fd, user, gid));
  // Only root may change the owner. Group members may set the group, so that the others in it keep their access.
  if (isOthers && !tryChange(uid)) tryChange(own.uid);
  fchmodSync(fd, Number(like.mode & PERMISSION_BITS));
  return fstatSync(fd).uid === uid;
}

/** Lines are small, and writing them one by one would cost a system call each. */
const BUFFER_BYTES = 256 * 1024;

/** `fd` is the temporary file, open for writing; `remove` removes it if it exists. */
function createPendingFile(fd: number, { path, target, temporary, swap }: NewFile, remove: () => void): PendingFile {
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  const state = { buffered: 0, isOpen: true, hasName: false };

  const attempt = <T>(action: () => T): Result<T, FileFailure> => {
    try {
      return ok(action());
    } catch (error) {
      return err(toFileFailure(error, { path, what: 'write' }));
    }
  };
  const drain = (): void => {
    writeAll(fd, buffer.subarray(0, state.buffered));
    state.buffered = 0;
  };
  return {
    write: (bytes) =>
      attempt(() => {
        if (state.buffered + bytes.length > buffer.length) drain();
        if (bytes.length > buffer.length) return writeAll(fd, bytes);
        buffer.set(bytes, state.buffered);
        state.buffered += bytes.length;
      }),
    catchUp: () => null,
    drain: () => attempt(drain),
    sync: () =>
      attempt(() => {
        drain();
        fsyncSync(fd);
      }),
    takePlace: async (expected, { isDocument = true, mtimeNs, onMoved } = {}) => {
      const described = attempt(() => {
        drain();
        // Half a microsecond more, because a number of seconds is not exact, and programs cut times to milliseconds.
        if (mtimeNs !== undefined) futimesSync(fd, new Date(), Number(mtimeNs + 500n) / 1e9);
        return describeNew(temporary);
      });
      if (!described.ok) return described;
      const placed = swap.takePlace(temporary, expected, { isDocument, ours: described.value, onMoved });
      if (!placed.ok || placed.value === 'taken') return placed;
      state.hasName = true;
      remove(); // nothing is left to remove when the process ends
      return placed;
    },
    syncFolder: async () => attempt(() => syncFolder(dirname(target))),
    close: () => {
      if (!state.isOpen) return;
      state.isOpen = false;
      // Everything that matters was synced before, and an abandoned file may lack its last bytes.
      tryTo(() => closeSync(fd));
      if (!state.hasName) remove();
      // A failure here is left for the next run.
      swap.heal();
    },
  };
}

/** Removes a temporary file if it exists; if it cannot be removed, the reason for abandoning it matters more. */
export function removeTemporary(path: string): void {
  tryTo(() => removeName(path));
}

type CompressedPlace = { readonly path: string; readonly compression: 'gzip' | 'zstd' };

/** A new file that compresses everything written to it. After `catchUp('end')` nothing more can be written. */
export function createCompressedFile(file: PendingFile, { path, compression }: CompressedPlace): PendingFile {
  const state: { failure: FileFailure | null } = { failure: null };
  const compressor = createCompressor(compression, (packed) => {
    const written = file.write(packed);
    if (!written.ok) state.failure = written.error;
    return written.ok;
  });
  const flush = async (until: 'here' | 'end'): Promise<Result<void, FileFailure>> => {
    try {
      return ok(await compressor.flush(until));
    } catch (error) {
      return err(state.failure ?? toFileFailure(error, { path, what: 'write' }));
    }
  };
  return {
    ...file,
    write: (bytes) => ok(compressor.add(bytes)),
    catchUp: (until) => (until === 'end' || compressor.hasFullPiece() ? flush(until) : null),
    close: () => {
      compressor.close();
      file.close();
    },
  };
}

const PIECE_BYTES = 256 * 1024;
/** The defaults of the `zstd` command: fast, and with a checksum. */
const ZSTD_PARAMS = { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 };
/** The default of the `gzip` command. */
const GZIP_LEVEL = 6;

/**
 * Compresses bytes into one gzip member or one zstd frame. The output does not depend on how the input was cut into
 * pieces. `take` receives the compressed bytes, and returns whether it stored them.
 */
function createCompressor(compression: CompressedPlace['compression'], take: (packed: Uint8Array) => boolean) {
  const engine =
    compression === 'gzip'
      ? createGzip({ level: GZIP_LEVEL, chunkSize: PIECE_BYTES })
      : createZstdCompress({ params: ZSTD_PARAMS, chunkSize: PIECE_BYTES });
  const full: Buffer[] = [];
  const state = { piece: Buffer.allocUnsafe(PIECE_BYTES), filled: 0 };
  engine.on('data', (packed: Buffer) => {
    if (!take(packed)) engine.destroy(new Error('the compressed bytes could not be written'));
  });
  // A broken engine calls back no more, so every later wait is raced against this promise.
  const broken = new Promise<never>((_, reject) => {
    engine.once('error', reject);
  });
  broken.catch(() => undefined);
  return {
    /** Copies the bytes; `flush` compresses them. */
    add: (bytes: Uint8Array): void => {
      for (let taken = 0; taken < bytes.length;) {
        const count = Math.min(bytes.length - taken, PIECE_BYTES - state.filled);
        state.piece.set(bytes.subarray(taken, taken + count), state.filled);
        taken += count;
        state.filled += count;
        if (state.filled < PIECE_BYTES) continue;
        full.push(state.piece);
        state.piece = Buffer.allocUnsafe(PIECE_BYTES);
        state.filled = 0;
      }
    },
    /** Compresses the full pieces and, with `end`, the rest. Resolves when all compressed bytes were passed on. */
    flush: async (until: 'here' | 'end'): Promise<void> => {
      for (const piece of full.splice(0)) {
        await Promise.race([broken, new Promise<void>((resolve) => engine.write(piece, () => resolve()))]);
      }
      if (until === 'here') return;
      const ended = new Promise<void>((resolve) => engine.once('end', resolve));
      engine.end(state.piece.subarray(0, state.filled));
      await Promise.race([broken, ended]);
    },
    hasFullPiece: (): boolean => full.length > 0,
    close: (): void => {
      engine.destroy();
    },
  };
}
