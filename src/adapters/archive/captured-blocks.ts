import { hash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { createBlockCache, MAX_BLOCK_BYTES, tryDecompress } from './blocks.ts';
import { DamageError } from './failure.ts';
import { readBytes, readHash, readInteger, type Row } from './rows.ts';

const GET_BLOCK = 'SELECT raw_size_bytes, data FROM captured_blocks WHERE id = ?';
const GET_SIZE = 'SELECT raw_size_bytes FROM captured_blocks WHERE id = ?';

/** The lines of a block, which reach at least to `end`; null: the block cannot be decompressed. */
export type BlockReader = (id: number, end: number) => Uint8Array | null;

/**
 * Reads blocks of captured lines, and keeps the last few, because a fork alternates between few blocks. A block that has
 * grown or shrunk since is read again.
 */
export function createBlockReader(db: Database.Database): BlockReader {
  const getBlock = db.prepare<[number], Row>(GET_BLOCK);
  const getSize = db.prepare<[number], number>(GET_SIZE).pluck();
  const recent = createBlockCache();
  return (id, end) => {
    const known = recent.get(id);
    if (known === null || (known !== undefined && known.length >= end && getSize.get(id) === known.length))
      return known;
    return recent.add(id, tryUnpack(getBlock.get(id)));
  };
}

/** The lines of a row of captured_blocks; null: it is missing, or cannot be decompressed. */
export function tryUnpack(block: Row | undefined): Uint8Array | null {
  return block === undefined ? null : tryDecompress(readBytes(block, 'data'), readInteger(block, 'raw_size_bytes'));
}

/**
 * The bytes of lines that follow each other in a block. `firstId`: of the first line. Checks each against its hash, and
 * throws a `DamageError`.
 */
export function checkCapturedRun(
  lines: readonly Row[],
  { firstId, raw }: { readonly firstId: number; readonly raw: Uint8Array },
): Uint8Array {
  const start = lines[0] === undefined ? 0 : readInteger(lines[0], 'offset');
  let end = start;
  for (const [at, line] of lines.entries()) {
    const [id, offset] = [firstId + at, end];
    if (readInteger(line, 'id') !== id) throw new DamageError(`captured line ${id} is missing`);
    if (readInteger(line, 'offset') !== offset) throw new DamageError(`captured line ${id} is not where it was stored`);
    end += readInteger(line, 'size_bytes');
    if (hash('sha256', raw.subarray(offset, end)) !== readHash(line, 'sha256'))
      throw new DamageError(`captured line ${id} differs from its hash`);
  }
  return raw.subarray(start, end);
}

/** A block that is smaller gets the lines of the next capture too, because small blocks compress badly. */
const SMALL_BLOCK_BYTES = 256 * 1024;
export const LAST_BLOCK = `
SELECT id, first_line_id, line_count, raw_size_bytes, data FROM captured_blocks
WHERE id = (SELECT max(id) FROM captured_blocks) AND raw_size_bytes < ${SMALL_BLOCK_BYTES}`;

/** A block that is being filled, and what is stored of it. */
export type OpenBlock = {
  readonly id: number;
  readonly firstLineId: number;
  sizeBytes: number;
  readonly storedLines: number;
  readonly storedBytes: number;
};

/** The row of `LAST_BLOCK`, if it can be read and the next line follows its lines, which are then in the buffer. */
export function reopenBlock(
  row: Row | undefined,
  { nextLineId, buffer }: { readonly nextLineId: number; readonly buffer: Uint8Array },
): OpenBlock | null {
  const raw = tryUnpack(row);
  if (row === undefined || raw === null || raw.length > MAX_BLOCK_BYTES) return null;
  const [firstLineId, storedLines] = [readInteger(row, 'first_line_id'), readInteger(row, 'line_count')];
  if (firstLineId + storedLines !== nextLineId) return null;
  buffer.set(raw);
  const storedBytes = readBytes(row, 'data').length;
  return { id: readInteger(row, 'id'), firstLineId, sizeBytes: raw.length, storedLines, storedBytes };
}
