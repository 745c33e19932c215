import { bytesIn, compressReadably, unpackBlock } from '../blocks.ts';
import { DamageError } from '../failure.ts';
import { unpackCaptured } from '../read/captured.ts';
import { readInteger } from '../rows.ts';
import type { Query } from '../sql/query.ts';

const LEFT = {
  archived:
    'FROM lines AS l WHERE block_id = :id AND erasure_id IS NULL AND NOT EXISTS (SELECT 1 FROM erased_lines AS g WHERE g.id = l.id)',
  captured:
    'FROM captured_lines AS l WHERE block_id = :id AND erasure_id IS NULL AND NOT EXISTS (SELECT 1 FROM erased_captured AS g WHERE g.id = l.id)',
} as const;
const moveLines = (table: string, left: string, order: string): string => `
UPDATE ${table} SET "offset" = n.place FROM (
  SELECT id, CAST(coalesce(sum(size_bytes) OVER (ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bigint) AS place ${left}
) AS n WHERE ${table}.block_id = :id AND ${table}.id = n.id`;
const SQL = {
  archived: {
    getBlock: 'SELECT id, first_line, raw_size_bytes, data FROM blocks WHERE id = :id',
    listLines: `SELECT id, "offset", size_bytes ${LEFT.archived} ORDER BY line`,
    moveLines: moveLines('lines', LEFT.archived, 'line'),
    setBlock: 'UPDATE blocks SET raw_size_bytes = :size, data = :data WHERE id = :id',
  },
  captured: {
    getBlock: 'SELECT id, raw_size_bytes, data FROM captured_blocks WHERE id = :id',
    listLines: `SELECT id, "offset", size_bytes ${LEFT.captured} ORDER BY id`,
    moveLines: moveLines('captured_lines', LEFT.captured, 'id'),
    setBlock: 'UPDATE captured_blocks SET raw_size_bytes = :size, data = :data WHERE id = :id',
  },
} as const;

/** Packs a block again without the lines in the table of those that go. Throws a `DamageError` if it cannot be read. */
export async function rewriteBlock(query: Query, kind: keyof typeof SQL, id: number): Promise<void> {
  const sql = SQL[kind];
  const [block] = await query(sql.getBlock, { id });
  if (block === undefined) throw new DamageError(`block ${id} of ${kind} lines is missing`);
  const raw = kind === 'captured' ? unpackCaptured(block) : unpackBlock(block);
  const lines = await query(sql.listLines, { id });
  const left = Buffer.concat(lines.map((line) => bytesIn(raw, line)));
  if (left.length !== lines.reduce((sum, line) => sum + readInteger(line, 'size_bytes'), 0))
    throw new DamageError(`lines of block ${id} of ${kind} lines end behind it`);
  await query(sql.moveLines, { id });
  await query(sql.setBlock, { id, size: left.length, data: compressReadably(left) });
}
