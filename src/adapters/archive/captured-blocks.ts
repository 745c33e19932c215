import type Database from 'better-sqlite3';
import { MAX_BLOCK_BYTES, tryDecompress } from './blocks.ts';
import { readBytes, readInteger, type Row } from './rows.ts';

const GET_BLOCK = 'SELECT raw_size_bytes, data FROM captured_blocks WHERE id = ?';
const GET_SIZE = 'SELECT raw_size_bytes FROM captured_blocks WHERE id = ?';
/** A fork alternates between few blocks, each a megabyte at most: one with a longer line is not kept. */
const MAX_RECENT_BLOCKS = 16;

/** The lines of a block, which reach at least to `end`; null: the block cannot be decompressed. */
export type BlockReader = (id: number, end: number) => Uint8Array | null;

/** Reads blocks of captured lines, and keeps the last few. A block that has grown or shrunk since is read again. */
export function createBlockReader(db: Database.Database): BlockReader {
  const getBlock = db.prepare<[number], Row>(GET_BLOCK);
  const getSize = db.prepare<[number], number>(GET_SIZE).pluck();
  const recent = new Map<number, Uint8Array | null>();
  return (id, end) => {
    const known = recent.get(id);
    if (known === null || (known !== undefined && known.length >= end && getSize.get(id) === known.length))
      return known;
    const row = getBlock.get(id);
    const raw = row === undefined ? null : tryDecompress(readBytes(row, 'data'), readInteger(row, 'raw_size_bytes'));
    if (raw !== null && raw.length > MAX_BLOCK_BYTES) return raw;
    const [oldest] = recent.keys();
    if (recent.size >= MAX_RECENT_BLOCKS && oldest !== undefined) recent.delete(oldest);
    recent.set(id, raw);
    return raw;
  };
}
