import { constants, createGzip, createZstdCompress, type Gzip, type ZstdCompress } from 'node:zlib';
import { err, ok, type Result } from '../../core/result.ts';
import type { Compression, FileFailure, PendingFile } from '../../ports/files.ts';
import { toFileFailure } from './system.ts';

type CompressedPlace = { readonly path: string; readonly compression: Exclude<Compression, 'none'> };

/** A new file that gets what is written to it packed. Once `catchUp` has come to its end nothing more can be written. */
export function createCompressedFile(file: PendingFile, { path, compression }: CompressedPlace): PendingFile {
  const state: { failure: FileFailure | null } = { failure: null };
  const compressor = createCompressor(compression, (packed) => {
    const written = file.write(packed);
    if (written.ok) return;
    state.failure = written.error;
    throw new Error('what was packed could not be written');
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
    // What comes to a packed file is packed as well: sizes are those on disk.
    keepBackup: (stamp) => file.keepBackup(stamp, stamp.sizeBytes),
    close: () => {
      compressor.close();
      file.close();
    },
  };
}

/** Packs bytes into one member of gzip, or one frame of zstd: the same bytes give the same, whatever the pieces. */
type Compressor = {
  /** Takes them over; `flush` packs them. */
  readonly add: (bytes: Uint8Array) => void;
  /** Packs what fills a piece, and with `end` the rest; resolves when all that is packed so far was handed out. */
  readonly flush: (until: 'here' | 'end') => Promise<void>;
  readonly hasFullPiece: () => boolean;
  readonly close: () => void;
};

const PIECE_BYTES = 256 * 1024;
/** As `zstd` does without an option: fast, and damage is noticed. */
const ZSTD_PARAMS = { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 };
/** As `gzip` does without an option. */
const GZIP_LEVEL = 6;

/** `take` is handed what is packed, and throws where it cannot be kept. */
function createCompressor(compression: Exclude<Compression, 'none'>, take: (packed: Uint8Array) => void): Compressor {
  const engine = createEngine(compression);
  const full: Buffer[] = [];
  const state = { piece: Buffer.allocUnsafe(PIECE_BYTES), filled: 0 };
  engine.on('data', (packed: Buffer) => {
    try {
      take(packed);
    } catch (error) {
      engine.destroy(error instanceof Error ? error : new Error('what was packed was not taken', { cause: error }));
    }
  });
  // Once it is broken it answers no more: whoever waits for it, or comes later, is told by this.
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

function createEngine(compression: Exclude<Compression, 'none'>): Gzip | ZstdCompress {
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
