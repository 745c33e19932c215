import { constants, createGzip, createZstdCompress, type Gzip, type ZstdCompress } from 'node:zlib';
import { err, ok, type Result } from '../../core/result.ts';
import type { FileFailure, PendingFile } from '../../ports/files.ts';
import { toFileFailure } from '../../system/files.ts';

type CompressedPlace = { readonly path: string; readonly compression: 'gzip' | 'zstd' };

/** A new file that compresses everything written to it. After `catchUp('end')` nothing more can be written. */
export function createCompressedFile(file: PendingFile, { path, compression }: CompressedPlace): PendingFile {
  const state: { failure: FileFailure | null } = { failure: null };
  const compressor = createCompressor(compression, (packed) => {
    const written = file.write(packed);
    if (written.ok) return;
    state.failure = written.error;
    throw new Error('the compressed bytes could not be written');
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

/**
 * Compresses bytes into one gzip member or one zstd frame. The output does not depend on how the input was cut into
 * pieces.
 */
type Compressor = {
  /** Copies the bytes; `flush` compresses them. */
  readonly add: (bytes: Uint8Array) => void;
  /** Compresses the full pieces and, with `end`, the rest. Resolves when all compressed bytes were passed on. */
  readonly flush: (until: 'here' | 'end') => Promise<void>;
  readonly hasFullPiece: () => boolean;
  readonly close: () => void;
};

const PIECE_BYTES = 256 * 1024;
/** The defaults of the `zstd` command: fast, and with a checksum. */
const ZSTD_PARAMS = { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 };
/** The default of the `gzip` command. */
const GZIP_LEVEL = 6;

/** `take` receives the compressed bytes, and throws if it cannot store them. */
function createCompressor(compression: CompressedPlace['compression'], take: (packed: Uint8Array) => void): Compressor {
  const engine = createEngine(compression);
  const full: Buffer[] = [];
  const state = { piece: Buffer.allocUnsafe(PIECE_BYTES), filled: 0 };
  engine.on('data', (packed: Buffer) => {
    try {
      take(packed);
    } catch (error) {
      engine.destroy(
        error instanceof Error ? error : new Error('the compressed bytes were not accepted', { cause: error }),
      );
    }
  });
  // A broken engine calls back no more, so every later wait is raced against this promise.
  const broken = new Promise<never>((_, reject) => {
    engine.once('error', reject);
  });
  broken.catch(() => undefined);
  return {
    add: (bytes) => {
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
    flush: async (until) => {
      for (const piece of full.splice(0)) await Promise.race([broken, pack(engine, piece)]);
      if (until === 'end') await Promise.race([broken, end(engine, state.piece.subarray(0, state.filled))]);
    },
    hasFullPiece: () => full.length > 0,
    close: () => {
      engine.destroy();
    },
  };
}

function createEngine(compression: CompressedPlace['compression']): Gzip | ZstdCompress {
  return compression === 'gzip'
    ? createGzip({ level: GZIP_LEVEL, chunkSize: PIECE_BYTES })
    : createZstdCompress({ params: ZSTD_PARAMS, chunkSize: PIECE_BYTES });
}

function pack(engine: Gzip | ZstdCompress, piece: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    engine.write(piece, () => resolve());
  });
}

function end(engine: Gzip | ZstdCompress, rest: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    engine.once('end', resolve);
    engine.end(rest);
  });
}
