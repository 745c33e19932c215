import { bytesIn, compressReadably, takeBlock } from '../blocks.ts';
import { DamageError } from '../failure.ts';
import { unpackCaptured } from '../read/captured.ts';
import { readInteger } from '../rows.ts';
import { OF_BLOCK, type Query } from '../sql/query.ts';
import { GET_PACK, packRaw } from '../store/packs.ts';
import { type Reading, TEXTS_POSITION } from '../texts.ts';

/** `gone`: the table of the lines that go. */
const TABLES = {
  archived: { table: 'lines', gone: 'erased_lines', ofBlock: OF_BLOCK },
  captured: { table: 'captured_lines', gone: 'erased_captured', ofBlock: 'l.block_id = :id' },
} as const;

/** Gives the lines of a block without those in the table of those that go, and moves their places. Throws a `DamageError`. */
async function dropLines(
  query: Query,
  kind: keyof typeof TABLES,
  { id, raw }: { readonly id: number; readonly raw: Uint8Array },
): Promise<Uint8Array> {
  const { table, gone, ofBlock } = TABLES[kind];
  const isLeft = `${ofBlock} AND erasure_id IS NULL AND NOT EXISTS (SELECT 1 FROM ${gone} AS g WHERE g.id = l.id)`;
  const lines = await query(`SELECT id, "offset", size_bytes FROM ${table} AS l WHERE ${isLeft} ORDER BY id`, { id });
  const left = Buffer.concat(lines.map((line) => bytesIn(raw, line)));
  if (left.length !== lines.reduce((sum, line) => sum + readInteger(line, 'size_bytes'), 0))
    throw new DamageError(`lines of block ${id} of ${kind} lines end behind it`);
  await query(
    `
UPDATE ${table} SET "offset" = n.place FROM (
  SELECT id, CAST(coalesce(sum(size_bytes) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bigint) AS place
  FROM ${table} AS l WHERE ${isLeft}
) AS n WHERE ${table}.id = n.id`,
    { id },
  );
  return left;
}

const GET_CAPTURED = 'SELECT * FROM captured_blocks WHERE id = :id';
const CHANGE_CAPTURED = 'UPDATE captured_blocks SET raw_size_bytes = :size, data = :data WHERE id = :id';

/** Packs a block of captured lines again without those that go. Throws a `DamageError` if it cannot be read. */
export async function rewriteCaptured(query: Query, id: number): Promise<void> {
  const [block] = await query(GET_CAPTURED, { id });
  if (block === undefined) throw new DamageError(`block ${id} of captured lines is missing`);
  const left = await dropLines(query, 'captured', { id, raw: unpackCaptured(block) });
  await query(CHANGE_CAPTURED, { id, size: left.length, data: compressReadably(left) });
}

/** `key`: names the row among those of a compaction. */
const TEXTS = [
  { table: 'batches', key: 'id', ofCompaction: 'cycle_id IN (SELECT id FROM cycles WHERE compaction_id = :id)' },
  { table: 'inserted_lines', key: 'position', ofCompaction: 'compaction_id = :id' },
] as const;

/** Gives the texts of a compaction without those that were erased, and moves their places. Throws a `DamageError`. */
async function dropTexts(query: Query, id: number, raw: Uint8Array): Promise<Uint8Array> {
  const left: Uint8Array[] = [];
  let end = 0;
  for (const { table, key, ofCompaction } of TEXTS) {
    const rows = await query(
      `SELECT ${key} AS key, text_offset, text_size FROM ${table} WHERE ${ofCompaction} AND text_size > 0 ORDER BY text_offset`,
      { id },
    );
    for (const row of rows) {
      const [start, size] = [readInteger(row, 'text_offset'), readInteger(row, 'text_size')];
      const text = raw.subarray(start, start + size);
      if (text.length !== size) throw new DamageError(`a summary of compaction ${id} ends behind its block`);
      left.push(text);
      await query(`UPDATE ${table} SET text_offset = :end WHERE ${ofCompaction} AND ${key} = :key`, {
        id,
        key: row['key'],
        end,
      });
      end += size;
    }
  }
  return Buffer.concat(left);
}

const LIST_LEFT = `
SELECT k.id, k.compaction_id, k.position, k.raw_size_bytes, k.pack_offset,
  CASE WHEN EXISTS (SELECT 1 FROM erased_blocks AS g WHERE g.id = k.id) THEN 1 ELSE 0 END AS is_touched
FROM blocks AS k WHERE k.pack_id = :id AND NOT EXISTS (SELECT 1 FROM erased_compactions AS g WHERE g.id = k.compaction_id)
ORDER BY k.pack_offset`;
const MOVE_BLOCK = 'UPDATE blocks SET pack_id = :packId, pack_offset = :place, raw_size_bytes = :size WHERE id = :id';

/** Packs what is left of a pack again; the old one is left for the caller to delete. Throws a `DamageError` if it cannot be read. */
export async function rewritePack({ query, dialect, unpack }: Reading, id: number): Promise<void> {
  const blocks = await query(LIST_LEFT, { id });
  if (blocks.length === 0) return;
  const [row] = await query(GET_PACK, { id });
  const pack = row === undefined ? null : unpack(row);
  if (pack === null) throw new DamageError(`pack ${id} of archived lines cannot be decompressed`);
  const parts: { readonly id: number; readonly raw: Uint8Array }[] = [];
  for (const block of blocks) {
    const raw = takeBlock(block, pack);
    const blockId = readInteger(block, 'id');
    if (raw === null) throw new DamageError(`block ${blockId} of archived lines ends behind its pack`);
    const isTouched = readInteger(block, 'is_touched') === 1;
    const left = !isTouched
      ? raw
      : readInteger(block, 'position') === TEXTS_POSITION
        ? await dropTexts(query, readInteger(block, 'compaction_id'), raw)
        : await dropLines(query, 'archived', { id: blockId, raw });
    parts.push({ id: blockId, raw: left });
  }
  const [partition = {}] = await query(dialect.partitionOfPack, { id });
  const packId = await packRaw(query, partition, Buffer.concat(parts.map(({ raw }) => raw)));
  let place = 0;
  for (const { id: blockId, raw } of parts) {
    await query(MOVE_BLOCK, { id: blockId, packId, place, size: raw.length });
    place += raw.length;
  }
}
