import { hash } from 'node:crypto';
import { constants, zstdDecompressSync } from 'node:zlib';
import type Database from 'better-sqlite3';
import type { ArchiveLookup } from '../../ports/archive-lookup.ts';
import { checkPlaces, MAX_BLOCK_BYTES, MAX_RAW_BYTES, unpackBlock } from './blocks.ts';
import { DamageError, guard } from './failure.ts';
import { LINE_COLUMNS, LINE_JOINS, toArchivedLine } from './lookup-rows.ts';
import { readBytes, readHash, readInteger, type Row } from './rows.ts';

/** A batch and all that it was made from. Each comes once, so that damaged ones that name each other make no endless loop. */
const FAMILY = `
WITH RECURSIVE family (id) AS (
  SELECT :batch UNION SELECT s.source_id FROM family JOIN batch_sources AS s ON s.batch_id = family.id
)`;
const LIST_FAMILY_BLOCKS = `
${FAMILY}
SELECT l.block_id FROM family JOIN lines AS l ON l.batch_id = family.id
UNION SELECT l.block_id FROM family JOIN carried_lines AS d ON d.batch_id = family.id JOIN lines AS l ON l.id = d.line_id
ORDER BY 1`;
const LIST_FAMILY_LINES = `
${FAMILY}
SELECT ${LINE_COLUMNS}, l.offset FROM lines AS l ${LINE_JOINS}
WHERE l.block_id = :block AND (l.batch_id IN (SELECT id FROM family)
  OR l.id IN (SELECT d.line_id FROM carried_lines AS d WHERE d.batch_id IN (SELECT id FROM family)))
ORDER BY l.line`;
const GET_PLACE = 'SELECT id, block_id, offset, size_bytes, sha256, line FROM lines WHERE id = ?';
const GET_BLOCK = 'SELECT first_line, raw_size_bytes, data FROM blocks WHERE id = ?';
const GET_BLOCK_HEAD =
  'SELECT first_line, raw_size_bytes, substr(data, 1, :packedBytes) AS data FROM blocks WHERE id = :id';

/** So much of packed data may be a piece that ends too late to be unpacked. */
const PACKING_BYTES = 256 * 1024;
/** Of a megabyte at the most: what holds a longer line is not unpacked whole. */
const MAX_RECENT_BLOCKS = 16;
/** Unpacking stops at so many times what is wanted. */
const MAX_SURPLUS = 4;

type Originals = Pick<ArchiveLookup, 'readOriginals' | 'readLine' | 'readHeads'>;

/** Gives the bytes of archived lines back, whatever compaction they are of. */
export function createOriginals(db: Database.Database, path: string): Originals {
  const getBlock = db.prepare<[number], Row>(GET_BLOCK);
  const getPlace = db.prepare<[number], Row>(GET_PLACE);
  const readBlock = (id: number): Uint8Array => {
    const row = getBlock.get(id);
    if (row === undefined) throw new DamageError(`block ${id} of the archived lines is missing`);
    return unpackBlock(readBytes(row, 'data'), {
      rawSizeBytes: readInteger(row, 'raw_size_bytes'),
      firstLine: readInteger(row, 'first_line'),
    });
  };

  const readPlace = (lineId: number): Row => {
    const row = getPlace.get(lineId);
    if (row === undefined) throw new DamageError(`archived line ${lineId} is missing`);
    return row;
  };

  /** The beginning of a block that is not to be unpacked whole. */
  const readBlockHead = (id: number, wantedBytes: number): Uint8Array => {
    const row = db.prepare<[object], Row>(GET_BLOCK_HEAD).get({ id, packedBytes: wantedBytes + PACKING_BYTES });
    return row === undefined ? new Uint8Array() : unpackHead(readBytes(row, 'data'), wantedBytes);
  };

  /** Who searches asks for the same blocks again and again. */
  const recent = new Map<number, Uint8Array>();
  const recall = (id: number): Uint8Array => {
    const raw = recent.get(id) ?? readBlock(id);
    if (raw.length > MAX_BLOCK_BYTES) return raw;
    recent.delete(id);
    recent.set(id, raw);
    for (const oldest of recent.keys()) {
      if (recent.size <= MAX_RECENT_BLOCKS) break;
      recent.delete(oldest);
    }
    return raw;
  };

  const readHeads = (lineIds: readonly number[], maxBytes: number): ReadonlyMap<number, Uint8Array> => {
    const heads = new Map<number, Uint8Array>();
    const byBlock = Map.groupBy(lineIds.map(readPlace), (row) => readInteger(row, 'block_id'));
    for (const [blockId, rows] of byBlock) {
      const ends = rows.map((row) => readInteger(row, 'offset') + Math.min(maxBytes, readInteger(row, 'size_bytes')));
      const isLong = rows.some((row) => readInteger(row, 'size_bytes') > maxBytes);
      const raw = isLong ? readBlockHead(blockId, Math.max(...ends)) : recall(blockId);
      for (const row of rows) {
        const offset = readInteger(row, 'offset');
        const length = Math.min(maxBytes, readInteger(row, 'size_bytes'));
        heads.set(readInteger(row, 'id'), raw.subarray(offset, offset + length));
      }
    }
    return heads;
  };

  // Block by block, each with statements of its own: a caller that stops half-way leaves nothing open.
  function* readOriginals(batch: number): ReturnType<Originals['readOriginals']> {
    const blocks = guard(path, () => db.prepare<[object], number>(LIST_FAMILY_BLOCKS).pluck().all({ batch }));
    const listLines = guard(path, () => db.prepare<[object], Row>(LIST_FAMILY_LINES));
    for (const block of blocks) {
      yield* guard(path, () => {
        const rows = listLines.all({ batch, block });
        checkPlaces(rows);
        const raw = readBlock(block);
        return rows.map((row) => ({ ...toArchivedLine(row), bytes: takeLine(row, raw) }));
      });
    }
  }

  return {
    readOriginals,
    readLine: (lineId) =>
      guard(path, () => {
        const row = readPlace(lineId);
        return takeLine(row, readBlock(readInteger(row, 'block_id')));
      }),
    readHeads: (lineIds, maxBytes) => guard(path, () => readHeads(lineIds, maxBytes)),
  };
}

function takeLine(row: Row, raw: Uint8Array): Uint8Array {
  const offset = readInteger(row, 'offset');
  const bytes = raw.subarray(offset, offset + readInteger(row, 'size_bytes'));
  if (hash('sha256', bytes) !== readHash(row, 'sha256'))
    throw new DamageError(`archived source line ${readInteger(row, 'line')} differs from its hash`);
  return bytes;
}

/** What the first packed bytes hold; fewer of them where that is more than is wanted, as with a line that repeats one character. */
function unpackHead(packed: Uint8Array, wantedBytes: number): Uint8Array {
  for (let length = packed.length; length > 0; length = Math.floor(length / 2)) {
    try {
      const head = zstdDecompressSync(packed.subarray(0, length), {
        finishFlush: constants.ZSTD_e_continue,
        maxOutputLength: Math.min(MAX_RAW_BYTES, wantedBytes * MAX_SURPLUS),
      });
      return new Uint8Array(head.buffer, head.byteOffset, head.byteLength);
    } catch (error) {
      // Too much, or damaged: the reading of the whole line says which.
      if (!(error instanceof Error && 'code' in error)) throw error;
    }
  }
  return new Uint8Array();
}
