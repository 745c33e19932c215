import type Database from 'better-sqlite3';
import { compressBlock, tryDecompress, unpackBlock } from './blocks.ts';
import { DamageError } from './failure.ts';
import { bytesIn, unpackCaptured } from './retention.ts';
import { readInteger, type Row } from './rows.ts';

const SQL = {
  archived: {
    getBlock: 'SELECT id, first_line, raw_size_bytes, data FROM blocks WHERE id = ?',
    listLines: `
SELECT id, offset, size_bytes FROM lines WHERE block_id = ? AND erasure_id IS NULL AND id NOT IN (SELECT id FROM erased_lines) ORDER BY line`,
    moveLine: 'UPDATE lines SET offset = ? WHERE id = ?',
    setBlock: 'UPDATE blocks SET raw_size_bytes = ?, data = ? WHERE id = ?',
  },
  captured: {
    getBlock: 'SELECT id, raw_size_bytes, data FROM captured_blocks WHERE id = ?',
    listLines: `
SELECT id, offset, size_bytes FROM captured_lines WHERE block_id = ? AND erasure_id IS NULL AND id NOT IN (SELECT id FROM erased_captured) ORDER BY id`,
    moveLine: 'UPDATE captured_lines SET offset = ? WHERE id = ?',
    setBlock: 'UPDATE captured_blocks SET raw_size_bytes = ?, data = ? WHERE id = ?',
  },
} as const;

/** Packs a block again without the lines in the table of those that go. Throws a `DamageError` if it cannot be read. */
export function rewriteBlock(
  db: Database.Database,
  { kind, blockId }: { readonly kind: keyof typeof SQL; readonly blockId: number },
): void {
  const { getBlock, listLines, moveLine, setBlock } = SQL[kind];
  const block = db.prepare<[number], Row>(getBlock).get(blockId);
  if (block === undefined) throw new DamageError(`block ${blockId} of ${kind} lines is missing`);
  const raw = kind === 'captured' ? unpackCaptured(block) : unpackBlock(block);
  const move = db.prepare(moveLine);
  const pieces: Uint8Array[] = [];
  let offset = 0;
  for (const line of db.prepare<[number], Row>(listLines).all(blockId)) {
    const bytes = bytesIn(raw, line);
    move.run(offset, readInteger(line, 'id'));
    pieces.push(bytes);
    offset += bytes.length;
  }
  const left = Buffer.concat(pieces);
  const data = compressBlock(left);
  const back = tryDecompress(data, left.length);
  if (back === null || Buffer.compare(back, left) !== 0)
    throw new DamageError(`block ${blockId} of ${kind} lines differs after it was compressed again`);
  db.prepare(setBlock).run(left.length, data, blockId);
}
