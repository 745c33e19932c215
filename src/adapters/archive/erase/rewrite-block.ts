import { bytesIn, compressReadably, unpackBlock } from '../blocks.ts';
import { DamageError } from '../failure.ts';
import { unpackCaptured } from '../read/captured.ts';
import { readInteger } from '../rows.ts';
import type { Query } from '../sql/query.ts';

/** `gone`: the table of the lines that go. */
const TABLES = {
  archived: { lines: 'lines', blocks: 'blocks', gone: 'erased_lines', order: 'line', unpack: unpackBlock },
  captured: {
    lines: 'captured_lines',
    blocks: 'captured_blocks',
    gone: 'erased_captured',
    order: 'id',
    unpack: unpackCaptured,
  },
} as const;

/** Packs a block again without the lines in the table of those that go. Throws a `DamageError` if it cannot be read. */
export async function rewriteBlock(query: Query, kind: keyof typeof TABLES, id: number): Promise<void> {
  const { lines: table, blocks, gone, order, unpack } = TABLES[kind];
  const isLeft = `block_id = :id AND erasure_id IS NULL AND NOT EXISTS (SELECT 1 FROM ${gone} AS g WHERE g.id = l.id)`;
  const [block] = await query(`SELECT * FROM ${blocks} WHERE id = :id`, { id });
  if (block === undefined) throw new DamageError(`block ${id} of ${kind} lines is missing`);
  const raw = unpack(block);
  const lines = await query(`SELECT id, "offset", size_bytes FROM ${table} AS l WHERE ${isLeft} ORDER BY ${order}`, {
    id,
  });
  const left = Buffer.concat(lines.map((line) => bytesIn(raw, line)));
  if (left.length !== lines.reduce((sum, line) => sum + readInteger(line, 'size_bytes'), 0))
    throw new DamageError(`lines of block ${id} of ${kind} lines end behind it`);
  await query(
    `
UPDATE ${table} SET "offset" = n.place FROM (
  SELECT id, CAST(coalesce(sum(size_bytes) OVER (ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bigint) AS place
  FROM ${table} AS l WHERE ${isLeft}
) AS n WHERE ${table}.block_id = :id AND ${table}.id = n.id`,
    { id },
  );
  const data = compressReadably(left);
  await query(`UPDATE ${blocks} SET raw_size_bytes = :size, data = :data WHERE id = :id`, {
    id,
    size: left.length,
    data,
  });
}
