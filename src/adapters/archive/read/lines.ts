import { constants, zstdDecompressSync } from 'node:zlib';
import type { ArchiveLookup, OriginalLine } from '../../../ports/archive-lookup.ts';
import type { Archive, StoredLine } from '../../../ports/archive.ts';
import type { ErasureMark } from '../../../ports/retention.ts';
import { bytesIn, checkPlaces, MAX_BLOCK_BYTES, MAX_RAW_BYTES, tryUnpack, unpackBlock } from '../blocks.ts';
import { archiveError, DamageError } from '../failure.ts';
import {
  hashLineHex,
  OUTCOMES,
  readBytes,
  readHash,
  readInteger,
  readOptionalInteger,
  readOutcome,
  readText,
  type Row,
} from '../rows.ts';
import { OF_BATCH, OF_BLOCK } from '../sql/query.ts';
import { readBlock, readPacked, type Reading } from '../texts.ts';
import { findMarks, readMark } from './compactions.ts';
import { LINE_COLUMNS, toArchivedLine } from './lookup.ts';

export const LIST_BLOCKS = 'SELECT id FROM blocks WHERE compaction_id = :id AND position >= 0 ORDER BY position';
const COUNT_ARCHIVED = `
SELECT source_line_count - CAST((SELECT coalesce(sum(line_count), 0) FROM kept_runs WHERE compaction_id = c.id) AS bigint) AS count
FROM compactions AS c WHERE id = :id AND status <> 'erased'`;

/** Reads archived lines back and checks each against its hash; a mismatch is damage. */
export function createLineReader(reading: Reading) {
  const { query, dialect } = reading;
  // The hash as text: a buffer for each line takes longer to make than all else in the row.
  const columns = `
l.id, l.block_id, l.line, l."offset", l.size_bytes, l.outcome, coalesce(l.cycle_id, b.cycle_id) AS cycle_id, l.batch_id, l.message_index, ${dialect.hex('l.sha256')} AS sha256, l.erasure_id`;
  const listLines = `
SELECT ${columns} FROM lines AS l LEFT JOIN batches AS b ON b.id = l.batch_id WHERE ${OF_BLOCK} ORDER BY l.id`;
  // What any cycle of the lineage quoted and has not been summarized since. A parent is always older, so this ends with damaged rows too.
  const listSurvivors = `
WITH RECURSIVE lineage (id, age) AS (
  SELECT id, 0 FROM cycles WHERE id = :id
  UNION SELECT c.parent_cycle_id, age + 1 FROM lineage JOIN cycles AS c ON c.id = lineage.id WHERE c.parent_cycle_id < c.id
)
SELECT ${columns} FROM lineage JOIN lines AS l ON l.cycle_id = lineage.id LEFT JOIN batches AS b ON b.id = l.batch_id
WHERE l.outcome = ${OUTCOMES.indexOf('quoted')} AND l.erasure_id IS NULL AND NOT EXISTS (SELECT 1 FROM carried_lines AS d WHERE d.line_id = l.id AND d.cycle_id IN (SELECT id FROM lineage))
ORDER BY lineage.age DESC, l.block_id, l.line`;

  async function* readLines(id: number): AsyncGenerator<readonly StoredLine[]> {
    const [counted] = await query(COUNT_ARCHIVED, { id });
    const archivedCount = counted === undefined ? 0 : readInteger(counted, 'count');
    let count = 0;
    for await (const { rows, raw } of readLineBlocks(reading, id, listLines)) {
      count += rows.length;
      const marks = await findMarks(query, dialect, rows);
      yield rows.map((row) => toLine(row, raw, readMark(marks, row)));
    }
    if (count !== archivedCount) throw new DamageError(`${count} of ${archivedCount} archived lines are there`);
  }

  return {
    readLines,
    readSurvivors: async (cycleId) => {
      const rows = await query(listSurvivors, { id: cycleId });
      const lines = new Map<Row, StoredLine>();
      for (const [id, ofBlock] of Map.groupBy(rows, (row) => readInteger(row, 'block_id'))) {
        checkPlaces(ofBlock);
        const raw = await readBlock(reading, id);
        for (const row of ofBlock) lines.set(row, toLine(row, raw, null));
      }
      return rows.flatMap((row) => lines.get(row) ?? []);
    },
  } satisfies Partial<Archive>;
}

/**
 * The lines of a compaction, block by block, and the bytes of each block and of its pack. Every block has statements of its own, so that a caller that stops
 * early leaves nothing open. `listLines`: of block `:id`. Throws a `DamageError`.
 */
export async function* readLineBlocks(
  reading: Reading,
  compactionId: number,
  listLines: string,
): AsyncGenerator<{ readonly rows: readonly Row[] } & Awaited<ReturnType<typeof readPacked>>> {
  const { query, unpack } = reading;
  // What is alone in its pack is read once.
  const isAlone = (block: Row): boolean => block['raw_size_bytes'] === block['pack_size_bytes'];
  const unpackOnce = (block: Row): Uint8Array | null => (isAlone(block) ? tryUnpack(block) : unpack(block));
  const once = { ...reading, unpack: Object.assign(unpackOnce, { recent: unpack.recent }) };
  for (const id of await query.numbers(LIST_BLOCKS, { id: compactionId })) {
    const rows = await query(listLines, { id });
    checkPlaces(rows);
    yield { rows, ...(await readPacked(once, id)) };
  }
}

function toLine(row: Row, raw: Uint8Array, erased: ErasureMark | null): StoredLine {
  return {
    id: readInteger(row, 'id'),
    line: readInteger(row, 'line'),
    outcome: readOutcome(row, 'outcome'),
    cycleId: readOptionalInteger(row, 'cycle_id'),
    batchId: readOptionalInteger(row, 'batch_id'),
    bytes: erased === null ? takeLine(row, raw, readText(row, 'sha256')) : new Uint8Array(),
    messageIndex: readOptionalInteger(row, 'message_index'),
    erased,
  };
}

/** A batch and everything that it was made from. UNION lists each once, so damaged rows cannot cause an endless loop. */
const FAMILY = `
WITH RECURSIVE family (id) AS (
  SELECT CAST(:batch AS bigint) UNION SELECT s.source_id FROM family JOIN batch_sources AS s ON s.batch_id = family.id
)`;
const LIST_FAMILY_BLOCKS = `
${FAMILY}
SELECT l.block_id FROM family CROSS JOIN batches AS b CROSS JOIN lines AS l WHERE b.id = family.id AND ${OF_BATCH}
UNION SELECT l.block_id FROM family CROSS JOIN carried_lines AS d CROSS JOIN lines AS l WHERE d.batch_id = family.id AND l.id = d.line_id
ORDER BY 1`;
/** For lines AS l. */
const IS_IN_FAMILY = `
(l.batch_id IN (SELECT id FROM family) OR l.id IN (SELECT d.line_id FROM carried_lines AS d WHERE d.batch_id IN (SELECT id FROM family)))`;

/** The end of a compressed chunk may be this far behind the wanted bytes. */
const COMPRESSION_MARGIN_BYTES = 256 * 1024;
/** Decompression stops at this multiple of the wanted bytes. */
const MAX_OVERSHOOT = 4;
const MAX_INTEGER = 2 ** 31 - 1;
/** Read with one statement; a block is a megabyte at most, unless a single line is longer. */
const MAX_HEADS = 32;

/** Reads the bytes of archived lines of any compaction. `path`: of the archive, for messages. */
export function createOriginals(reading: Reading, path: string) {
  const { query, dialect, unpack } = reading;
  const { isAmong, lineJoins } = dialect;
  const listFamilyLines = `
${FAMILY}
SELECT ${LINE_COLUMNS}, l."offset" FROM lines AS l ${lineJoins}
WHERE ${OF_BLOCK} AND l.erasure_id IS NULL AND ${IS_IN_FAMILY}
ORDER BY l.id`;
  const listPlaces = `
SELECT id, block_id, "offset", size_bytes, sha256, line, erasure_id FROM lines WHERE ${isAmong('id', 'ids')}`;
  const listSizes = `SELECT id, first_line, raw_size_bytes, pack_id, pack_offset FROM blocks WHERE ${isAmong('id', 'ids')}`;
  const listBlockHeads = `
SELECT k.id, k.first_line, k.raw_size_bytes, k.pack_id, k.pack_offset, p.raw_size_bytes AS pack_size_bytes, substr(p.data, 1, CAST(:size AS int)) AS data
FROM blocks AS k JOIN packs AS p ON ${dialect.onPack} WHERE ${isAmong('k.id', 'ids')}`;

  const readPlaces = async (lineIds: readonly number[]): Promise<readonly Row[]> => {
    const ids = [...new Set(lineIds)];
    const rows = await query(listPlaces, { ids });
    const found = new Set(rows.map((row) => readInteger(row, 'id')));
    const missing = ids.find((id) => !found.has(id));
    if (missing !== undefined) throw new DamageError(`archived line ${missing} is missing`);
    const [mark] = (await findMarks(query, dialect, rows)).values();
    if (mark !== undefined) throw archiveError({ kind: 'erased', path, ...mark });
    return rows;
  };

  async function* readOriginals(batch: number): AsyncGenerator<readonly OriginalLine[]> {
    for (const id of await query.numbers(LIST_FAMILY_BLOCKS, { batch })) {
      const rows = await query(listFamilyLines, { batch, id });
      checkPlaces(rows);
      const raw = await readBlock(reading, id);
      yield rows.map((row) => ({ ...toArchivedLine(row), bytes: takeLine(row, raw) }));
    }
  }

  const readHeads = async (lineIds: readonly number[], maxBytes: number): Promise<ReadonlyMap<number, Uint8Array>> => {
    const heads = new Map<number, Uint8Array>();
    const lengthOf = (row: Row): number => Math.min(maxBytes, readInteger(row, 'size_bytes'));
    const endOf = (row: Row): number => readInteger(row, 'offset') + lengthOf(row);
    const byBlock = Map.groupBy(await readPlaces(lineIds), (row) => readInteger(row, 'block_id'));
    const take = (id: number, raw: Uint8Array): void => {
      for (const row of byBlock.get(id) ?? [])
        heads.set(readInteger(row, 'id'), raw.subarray(readInteger(row, 'offset'), endOf(row)));
    };
    const whole = new Map<number, Row[]>();
    for (const row of await query(listSizes, { ids: [...byBlock.keys()] })) {
      const [id, packId] = [readInteger(row, 'id'), readInteger(row, 'pack_id')];
      // A search reads the same ones again and again.
      const known = unpack.recent(packId);
      if (known !== undefined)
        take(
          id,
          unpackBlock(row, () => known),
        );
      else if (readInteger(row, 'raw_size_bytes') <= MAX_BLOCK_BYTES)
        whole.set(packId, [...(whole.get(packId) ?? []), row]);
      else {
        // A single long line need not be decompressed whole.
        const wantedBytes = Math.max(...(byBlock.get(id) ?? []).map(endOf));
        const [head] = await query(listBlockHeads, { ids: [id], size: wantedBytes + COMPRESSION_MARGIN_BYTES });
        if (head !== undefined) take(id, decompressHead(readBytes(head, 'data'), wantedBytes));
      }
    }
    const packs = [...whole.values()];
    for (let first = 0; first < packs.length; first += MAX_HEADS) {
      const ids = packs.slice(first, first + MAX_HEADS).flatMap(([one]) => (one === undefined ? [] : [one['id']]));
      for (const row of await query(listBlockHeads, { ids, size: MAX_INTEGER })) {
        const packId = readInteger(row, 'pack_id');
        const pack = unpack(row);
        for (const block of whole.get(packId) ?? [])
          take(
            readInteger(block, 'id'),
            unpackBlock(block, () => pack),
          );
        whole.delete(packId);
      }
    }
    // Packs that were joined meanwhile.
    for (const block of [...whole.values()].flat())
      take(readInteger(block, 'id'), await readBlock(reading, readInteger(block, 'id')));
    return heads;
  };

  return {
    readOriginals,
    readLine: async (lineId) => {
      const [row = {}] = await readPlaces([lineId]);
      return takeLine(row, await readBlock(reading, readInteger(row, 'block_id')));
    },
    readHeads,
  } satisfies Partial<ArchiveLookup>;
}

export function takeLine(row: Row, raw: Uint8Array, sha256 = readHash(row, 'sha256')): Uint8Array {
  const bytes = bytesIn(raw, row);
  if (hashLineHex(bytes) !== sha256)
    throw new DamageError(`archived source line ${readInteger(row, 'line')} differs from its hash`);
  return bytes;
}

/**
 * Decompresses the first compressed bytes, or fewer of them if they hold far more than wanted, as with a line that
 * repeats one character.
 */
function decompressHead(packed: Uint8Array, wantedBytes: number): Uint8Array {
  for (let length = packed.length; length > 0; length = Math.floor(length / 2)) {
    try {
      const head = zstdDecompressSync(packed.subarray(0, length), {
        finishFlush: constants.ZSTD_e_continue,
        maxOutputLength: Math.min(MAX_RAW_BYTES, wantedBytes * MAX_OVERSHOOT),
      });
      return new Uint8Array(head.buffer, head.byteOffset, head.byteLength);
    } catch (error) {
      // Too much, or damaged: reading the whole line tells which.
      if (!(error instanceof Error && 'code' in error)) throw error;
    }
  }
  return new Uint8Array();
}
