import { compressReadably, MAX_BLOCK_BYTES, tryUnpack } from '../blocks.ts';
import { readInteger, type Row } from '../rows.ts';
import { type Dialect, type Query, readNumber, type Values } from '../sql/query.ts';

type NewPack = { readonly partition: Values; readonly data: Uint8Array; readonly rawSizeBytes: number };

/** Stores a pack; gives its id. */
export async function writePack(query: Query, { partition, data, rawSizeBytes }: NewPack): Promise<number> {
  const values = { ...partition, raw_size_bytes: rawSizeBytes, data };
  const names = Object.keys(values);
  const sql = `INSERT INTO packs (${names.join(', ')}) VALUES (${names.map((name) => `:${name}`).join(', ')}) RETURNING id`;
  return readNumber(query, sql, values);
}

/** Packs that are joined at once, unless fewer fill one for good. More would be read alone for longer, fewer be compressed more often. */
const MIN_JOINED = 16;
/** A condition for packs AS p: no compaction in it is only prepared, so that none will be discarded. */
export const IS_SETTLED = `NOT EXISTS (
  SELECT 1 FROM blocks AS k JOIN compactions AS c ON c.id = k.compaction_id WHERE k.pack_id = p.id AND c.status = 'prepared')`;
/** What is smaller can be joined with others; as in `packs_to_fill`. */
export const MAX_SMALL_BYTES = 917_504;
/** Any number of packs may be small, and yet too large for each other, so only the smallest are looked at. */
const MAX_LISTED = 64;
const LIST_SMALL = `
SELECT p.id, p.raw_size_bytes FROM packs AS p WHERE p.raw_size_bytes < ${MAX_SMALL_BYTES} AND ${IS_SETTLED}`;
export const GET_PACK = 'SELECT id AS pack_id, raw_size_bytes AS pack_size_bytes, data FROM packs WHERE id = :id';
const MOVE_BLOCKS = 'UPDATE blocks SET pack_id = :to, pack_offset = pack_offset + :by WHERE pack_id = :id';
const DELETE_PACK = 'DELETE FROM packs WHERE id = :id';

/**
 * Joins packs of small compactions, inside a transaction that stores: what is compressed together takes half the room. Each was stored with
 * its compaction, so nothing depends on this. A pack that cannot be read stays.
 */
export async function joinPacks(query: Query, dialect: Dialect, partition: Values): Promise<void> {
  const small = await query(
    `${LIST_SMALL} ${dialect.lockPacks(`ORDER BY p.raw_size_bytes, p.id LIMIT ${MAX_LISTED}`)}`,
    partition,
  );
  const chosen: Row[] = [];
  let sizeBytes = 0;
  for (const pack of small) {
    if (sizeBytes + readInteger(pack, 'raw_size_bytes') > MAX_BLOCK_BYTES) continue;
    sizeBytes += readInteger(pack, 'raw_size_bytes');
    chosen.push(pack);
  }
  if (chosen.length < 2 || (chosen.length < MIN_JOINED && sizeBytes < MAX_SMALL_BYTES)) return;
  const parts: { readonly id: number; readonly raw: Uint8Array }[] = [];
  for (const pack of chosen) {
    const id = readInteger(pack, 'id');
    const [row = {}] = await query(GET_PACK, { id });
    const raw = tryUnpack(row);
    if (raw !== null) parts.push({ id, raw });
  }
  if (parts.length < 2) return;
  const to = await packRaw(query, partition, Buffer.concat(parts.map(({ raw }) => raw)));
  let by = 0;
  for (const part of parts) {
    await query(MOVE_BLOCKS, { id: part.id, to, by });
    await query(DELETE_PACK, { id: part.id });
    by += part.raw.length;
  }
}

/** Packs content; gives the id of the pack. */
export function packRaw(query: Query, partition: Values, raw: Uint8Array): Promise<number> {
  return writePack(query, { partition, data: compressReadably(raw), rawSizeBytes: raw.length });
}
