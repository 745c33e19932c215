import { promisify } from 'node:util';
import { constants, zstdCompress, zstdCompressSync, zstdDecompressSync, type ZstdOptions } from 'node:zlib';
import type { LineDraft } from '../../ports/archive.ts';
import { DamageError } from './failure.ts';
import { hashLine, readBytes, readInteger, type Row } from './rows.ts';

/** Lines of a transcript repeat each other, so blocks are as large as can be decompressed in a millisecond or two. */
export const MAX_BLOCK_BYTES = 1024 * 1024;
/**
 * The longest line that is read, alone in its block. An archive may come from anywhere, so a block that claims more is
 * not decompressed.
 */
export const MAX_RAW_BYTES = 256 * 1024 * 1024;
/** Level 6 saves 5 % more space than level 3, and higher levels are not worth their time. A checksum: one bent byte is damage wherever it is. */
const ZSTD_PARAMS = { [constants.ZSTD_c_compressionLevel]: 6, [constants.ZSTD_c_checksumFlag]: 1 };
/** Of zlib. */
const MIN_CHUNK_BYTES = 64;
/** Most transcripts are short, and a megabyte for each of thousands would keep the garbage collector busy. */
const FIRST_BUFFER_BYTES = 64 * 1024;

/** A line's place in its block and what else is known of it. Its bytes are in the block. */
type BlockMember = {
  readonly draft: Omit<LineDraft, 'bytes'>;
  readonly offset: number;
  readonly sizeBytes: number;
  readonly sha256: Uint8Array;
};

export type RawBlock = { readonly raw: Uint8Array; readonly members: readonly BlockMember[] };

/** Joins lines into blocks, in order. */
export function createBlockGatherer() {
  let buffer = new Uint8Array(FIRST_BUFFER_BYTES);
  let members: BlockMember[] = [];
  let filledBytes = 0;
  const spare: Uint8Array<ArrayBuffer>[] = [];
  /** The last block, unless it is empty. */
  const end = (): readonly RawBlock[] => {
    if (members.length === 0) return [];
    const block = { raw: buffer.subarray(0, filledBytes), members };
    buffer = new Uint8Array(); // the block is read while the next one begins
    members = [];
    filledBytes = 0;
    return [block];
  };
  /** Copies a line, and gives the blocks that are full. A huge line has a block of its own. */
  const add = (line: LineDraft): readonly RawBlock[] => {
    const full = filledBytes + line.bytes.length > MAX_BLOCK_BYTES ? end() : [];
    if (line.bytes.length > MAX_BLOCK_BYTES)
      return [...full, { raw: line.bytes.slice(), members: [toMember(line, 0)] }];
    const neededBytes = filledBytes + line.bytes.length;
    if (neededBytes > buffer.length) {
      const isLarge = neededBytes > FIRST_BUFFER_BYTES;
      const grown = isLarge ? (spare.pop() ?? new Uint8Array(MAX_BLOCK_BYTES)) : new Uint8Array(FIRST_BUFFER_BYTES);
      grown.set(buffer.subarray(0, filledBytes));
      buffer = grown;
    }
    buffer.set(line.bytes, filledBytes);
    members.push(toMember(line, filledBytes));
    filledBytes = neededBytes;
    return full;
  };
  /** A block is not read any more, so that its memory can be used for another. */
  const reuse = ({ raw }: RawBlock): void => {
    if (raw.buffer instanceof ArrayBuffer && raw.buffer.byteLength === MAX_BLOCK_BYTES)
      spare.push(new Uint8Array(raw.buffer));
  };
  return { add, end, reuse };
}

function toMember({ bytes, ...draft }: LineDraft, offset: number): BlockMember {
  return { draft, offset, sizeBytes: bytes.length, sha256: hashLine(bytes) };
}

const zstd = promisify(zstdCompress);

/** In a thread of Node's own, so that several blocks are compressed at once, and beside the work on the next lines. That pays for large ones. */
export async function compressAside(raw: Uint8Array): Promise<Uint8Array> {
  if (raw.length <= FIRST_BUFFER_BYTES) return new Uint8Array(zstdCompressSync(raw, zstdOptions(raw)));
  // zlib's chunk is larger than what is in it, and would be kept whole.
  // With its size known, the frame is as short as that of `zstdCompressSync`, and every one of its bytes matters.
  return new Uint8Array(await zstd(raw, { ...zstdOptions(raw), pledgedSrcSize: raw.length }));
}

function zstdOptions(raw: Uint8Array): ZstdOptions {
  // The most that zstd makes of it. It usually fits in one chunk, which avoids a copy.
  const boundBytes = raw.length + (raw.length >> 8) + MIN_CHUNK_BYTES;
  return { chunkSize: Math.min(MAX_BLOCK_BYTES / 2, boundBytes), params: ZSTD_PARAMS };
}

/** Proves that what is stored can be read: the block may replace the only copy of earlier lines. */
export function compressReadably(raw: Uint8Array): Uint8Array {
  return zstdChecked(zstdCompressSync(raw, zstdOptions(raw)), raw);
}

/** The same in another thread. */
export async function compressReadablyAside(raw: Uint8Array): Promise<Uint8Array> {
  return zstdChecked(await compressAside(raw), raw);
}

function zstdChecked(data: Uint8Array, raw: Uint8Array): Uint8Array {
  const back = tryDecompress(data, raw.length);
  if (back === null || Buffer.compare(back, raw) !== 0)
    throw new DamageError('a block that was just compressed differs');
  return data;
}

/** What reads blocks AS k with their packs AS p. */
export const BLOCK_COLUMNS =
  'k.id, k.first_line, k.first_line_id, k.last_line_id, k.raw_size_bytes, k.pack_id, k.pack_offset, p.raw_size_bytes AS pack_size_bytes, p.data';

/** The lines of a row with `BLOCK_COLUMNS`. Throws a `DamageError`. */
export function unpackBlock(block: Row, unpack: Unpack = tryUnpack): Uint8Array {
  const raw = unpack(block);
  const lines = raw === null ? null : takeBlock(block, raw);
  if (lines !== null) return lines;
  const firstLine = readInteger(block, 'first_line');
  const ofLines = `the block of archived lines that begins with source line ${firstLine}`;
  throw new DamageError(`${firstLine === 0 ? 'its block of summaries' : ofLines} cannot be decompressed`);
}

/** The whole pack of a row with `BLOCK_COLUMNS`; null: it is damaged. */
export type Unpack = (block: Row) => Uint8Array | null;

export function tryUnpack(block: Row): Uint8Array | null {
  const sizeBytes = readInteger(block, 'pack_size_bytes');
  const raw = tryDecompress(readBytes(block, 'data'), sizeBytes);
  return raw?.length === sizeBytes ? raw : null;
}

/** The lines of a block in its pack; null: it ends behind it. */
export function takeBlock(block: Row, pack: Uint8Array): Uint8Array | null {
  const start = readInteger(block, 'pack_offset');
  const end = start + readInteger(block, 'raw_size_bytes');
  return start < 0 || end > pack.length ? null : pack.subarray(start, end);
}

/** The same, with a memory. */
export type CachingUnpack = Unpack & {
  /** The pack with this id, if it is one of the last few that were unpacked. */
  readonly recent: (packId: number) => Uint8Array | undefined;
};

/** Decompresses a pack once where many of its blocks are read, but only as long as the same bytes are stored. */
export function createUnpack(): CachingUnpack {
  const [packed, raw] = [createBlockCache<Uint8Array>(), createBlockCache<Uint8Array>()];
  const unpack: Unpack = (block) => {
    const id = readInteger(block, 'pack_id');
    const data = readBytes(block, 'data');
    const known = packed.get(id);
    if (known !== undefined && Buffer.compare(known, data) === 0) return raw.get(id) ?? tryUnpack(block);
    const unpacked = tryUnpack(block);
    if (unpacked === null) return null;
    packed.add(id, data);
    return raw.add(id, unpacked);
  };
  return Object.assign(unpack, { recent: raw.get });
}

/** The bytes of a line (`offset`, `size_bytes`) in its block. */
export function bytesIn(raw: Uint8Array, line: Row): Uint8Array {
  const offset = readInteger(line, 'offset');
  return raw.subarray(offset, offset + readInteger(line, 'size_bytes'));
}

/** null: not zstd, a different size, or a size above what is ever stored. */
export function tryDecompress(data: Uint8Array, rawSizeBytes: number): Uint8Array | null {
  if (rawSizeBytes < 0 || rawSizeBytes > MAX_RAW_BYTES) return null;
  try {
    // One byte more than needed, because a full chunk makes zlib allocate another one.
    const chunkSize = Math.max(MIN_CHUNK_BYTES, rawSizeBytes + 1);
    const raw = zstdDecompressSync(data, { chunkSize, maxOutputLength: Math.max(1, rawSizeBytes) });
    return new Uint8Array(raw.buffer, raw.byteOffset, raw.byteLength);
  } catch (error) {
    // zlib has an error code for each kind of damage, and for output that is too long.
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}

const MAX_RECENT_BLOCKS = 16;

/** Keeps the last few blocks, each a megabyte at most: one with a longer line is not kept. */
export function createBlockCache<Block extends Uint8Array | null>() {
  const recent = new Map<number, Block>();
  /** Gives the block back. */
  const add = (id: number, block: Block): Block => {
    if (block !== null && block.length > MAX_BLOCK_BYTES) return block;
    recent.delete(id);
    recent.set(id, block);
    const [oldest] = recent.keys();
    if (recent.size > MAX_RECENT_BLOCKS && oldest !== undefined) recent.delete(oldest);
    return block;
  };
  return { get: (id: number): Block | undefined => recent.get(id), add };
}

/**
 * Throws a `DamageError` if the lines of a block, in order, overlap. Erased lines have no place. Otherwise a damaged archive whose many lines all
 * claim a whole large block would take forever to hash.
 */
export function checkPlaces(rows: readonly Row[]): void {
  let end = 0;
  for (const row of rows) {
    if ((row['erasure_id'] ?? null) !== null) continue;
    const offset = readInteger(row, 'offset');
    const line = readInteger(row, 'line');
    if (offset < end) throw new DamageError(`archived source line ${line} is not behind the one before it`);
    end = offset + readInteger(row, 'size_bytes');
  }
}
