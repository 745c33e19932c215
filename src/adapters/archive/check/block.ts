import { hash } from 'node:crypto';
import { decompressBlock } from '../blocks.ts';
import { DamageError } from '../failure.ts';
import { OUTCOMES, readBytes, readHash, readInteger, readOptionalInteger, type Row } from '../rows.ts';
import type { Query } from '../sql/query.ts';
import { attempt, type CheckSource, finding, type Finding, type Place, type Totals } from './finding.ts';

const GET_BLOCK = 'SELECT first_line, raw_size_bytes, data FROM blocks WHERE id = :id';
const LIST_LINES = `
SELECT line, "offset", size_bytes, batch_id, sha256, erasure_id FROM lines WHERE block_id = :id ORDER BY line`;
/** With a batch or cycle of another compaction, or without one that they need. */
const LIST_STRAYS = `
SELECT l.line FROM lines AS l JOIN blocks AS k ON k.id = l.block_id
LEFT JOIN batches AS b ON b.id = l.batch_id LEFT JOIN cycles AS y ON y.id = coalesce(b.cycle_id, l.cycle_id)
WHERE l.block_id = :id AND ((l.outcome = ${OUTCOMES.indexOf('summarized')}) <> (l.batch_id IS NOT NULL) OR y.compaction_id <> k.compaction_id) ORDER BY l.line`;

/** A line of a block; `bytes` is null if it was erased, or the block cannot be decompressed. */
type CheckedLine = {
  readonly line: number;
  readonly sizeBytes: number;
  readonly bytes: Uint8Array | null;
  readonly batchId: number | null;
};

export type CheckedBlock = {
  readonly lines: readonly CheckedLine[];
  readonly originalBytes: number;
  readonly compressedBytes: number;
  /** Lines of it were erased. */
  readonly isErased: boolean;
  readonly findings: readonly Finding[];
};

export function countBlock(totals: Totals, { lines, originalBytes, compressedBytes }: CheckedBlock): void {
  totals.blocks += 1;
  totals.lines += lines.length;
  totals.original += originalBytes;
  totals.compressed += compressedBytes;
}

/** Decompresses a block and proves that its lines fill it and match their hashes. Throws if its rows cannot be read. */
export async function checkBlock(query: Query, id: number, place: Place): Promise<CheckedBlock> {
  const [row] = await query(GET_BLOCK, { id });
  if (row === undefined) throw new DamageError(`block ${id} is not where its index says`);
  return inspectBlock(row, await query(LIST_LINES, { id }), place);
}

function inspectBlock(row: Row, rows: readonly Row[], place: Place): CheckedBlock {
  const firstLine = readInteger(row, 'first_line');
  const rawSizeBytes = readInteger(row, 'raw_size_bytes');
  const data = readBytes(row, 'data');
  const unpacked = tryDecompress(data, { rawSizeBytes, firstLine });
  const raw = unpacked instanceof Uint8Array ? unpacked : null;
  const left = rows.filter((line) => line['erasure_id'] === null);
  const isErased = left.length < rows.length;
  const isInOrder = isFilledBy(left, rawSizeBytes) && rows.length > 0;
  const isFilled = isInOrder && rows[0]?.['line'] === firstLine;
  const name = `the block of archived lines that begins with source line ${firstLine}`;
  return {
    lines: rows.map((line) => toLine(line, isInOrder && line['erasure_id'] === null ? raw : null)),
    isErased,
    originalBytes: rawSizeBytes,
    compressedBytes: data.length,
    findings: [
      ...(typeof unpacked === 'string' ? [finding('block', place, unpacked)] : []),
      ...(isFilled ? [] : [finding('block', place, `${name} is not filled by its ${rows.length} lines`)]),
      // Overlapping lines are not hashed, because that could take forever.
      ...(raw === null || !isInOrder ? [] : checkHashes(left, raw, place)),
    ],
  };
}

/** The block's bytes, or what is wrong with it. */
function tryDecompress(
  data: Uint8Array,
  of: { readonly rawSizeBytes: number; readonly firstLine: number },
): Uint8Array | string {
  try {
    return decompressBlock(data, of);
  } catch (error) {
    if (error instanceof DamageError) return error.message;
    throw error;
  }
}

function isFilledBy(rows: readonly Row[], rawSizeBytes: number): boolean {
  let offset = 0;
  for (const row of rows) {
    if (readInteger(row, 'offset') !== offset) return false;
    offset += readInteger(row, 'size_bytes');
  }
  return offset === rawSizeBytes;
}

function bytesOf(row: Row, raw: Uint8Array): Uint8Array {
  const offset = readInteger(row, 'offset');
  return raw.subarray(offset, offset + readInteger(row, 'size_bytes'));
}

function toLine(row: Row, raw: Uint8Array | null): CheckedLine {
  return {
    line: readInteger(row, 'line'),
    sizeBytes: readInteger(row, 'size_bytes'),
    bytes: raw === null ? null : bytesOf(row, raw),
    batchId: readOptionalInteger(row, 'batch_id'),
  };
}

function checkHashes(rows: readonly Row[], raw: Uint8Array, place: Place): readonly Finding[] {
  const wrong = rows.filter((row) => hash('sha256', bytesOf(row, raw)) !== readHash(row, 'sha256'));
  const lines = nameLines(wrong.map((row) => readInteger(row, 'line')));
  return lines === null ? [] : [finding('wrong-hash', place, `${lines} not what was stored (by sha256)`)];
}

/** 'source line 7 is', '3 lines from source line 7 on are'; null for no lines. */
function nameLines(lines: readonly number[]): string | null {
  const [first] = lines;
  if (first === undefined) return null;
  return lines.length === 1 ? `source line ${first} is` : `${lines.length} lines from source line ${first} on are`;
}

/**
 * Checks that a summarized line of a block belongs to a batch and any other line to none, all within their own compaction, and that every message
 * is in the search index.
 */
export async function* checkOwnership(
  { query, dialect }: CheckSource,
  id: number,
  place: Place,
): AsyncGenerator<Finding> {
  const nameAll = async (sql: string): Promise<string | null> =>
    nameLines((await query(sql, { id })).map((row) => readInteger(row, 'line')));
  yield* attempt({ ...place, name: `${place.name}, batches of its lines` }, async function* () {
    const named = await nameAll(LIST_STRAYS);
    if (named !== null) yield finding('reference', place, `${named} not with a batch or conversation of its own`);
  });
  yield* attempt({ ...place, name: `${place.name}, search index` }, async function* () {
    const named = await nameAll(
      `SELECT l.line FROM lines AS l WHERE l.block_id = :id AND l.role IS NOT NULL AND NOT ${dialect.isMessageIndexed} ORDER BY l.line`,
    );
    if (named !== null)
      yield finding('search', place, `${named} not in the search index, and thus not found by its words`);
  });
}
