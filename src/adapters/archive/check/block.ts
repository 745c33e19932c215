import { hash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { decompressBlock } from '../blocks.ts';
import { DamageError } from '../failure.ts';
import { readBytes, readHash, readInteger, readOptionalInteger, readOutcome, type Row } from '../rows.ts';
import { attempt, finding, type Finding, type Place, type Totals } from './finding.ts';

const GET_BLOCK = 'SELECT first_line, raw_size_bytes, data FROM blocks WHERE id = ?';
const LIST_LINES = `
SELECT id, line, offset, size_bytes, fate, cycle_id, batch_id, role, sha256, erasure_id FROM lines WHERE block_id = ? ORDER BY line`;

/** A line of a block; `bytes` is null if it was erased, or the block cannot be decompressed. */
type CheckedLine = {
  readonly id: number;
  readonly line: number;
  readonly sizeBytes: number;
  readonly bytes: Uint8Array | null;
  readonly isSummarized: boolean;
  readonly cycleId: number | null;
  readonly batchId: number | null;
  readonly isMessage: boolean;
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
export function createBlockCheck(db: Database.Database): (blockId: number, place: Place) => CheckedBlock {
  const getBlock = db.prepare<[number], Row>(GET_BLOCK);
  const listLines = db.prepare<[number], Row>(LIST_LINES);
  return (blockId, place) => {
    const row = getBlock.get(blockId);
    if (row === undefined) throw new DamageError(`block ${blockId} is not where its index says`);
    return inspectBlock(row, listLines.all(blockId), place);
  };
}

/** The same for a block and its lines that were read before. */
export function inspectBlock(row: Row, rows: readonly Row[], place: Place): CheckedBlock {
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
    id: readInteger(row, 'id'),
    line: readInteger(row, 'line'),
    sizeBytes: readInteger(row, 'size_bytes'),
    bytes: raw === null ? null : bytesOf(row, raw),
    isSummarized: readOutcome(row, 'fate') === 'summarized',
    cycleId: readOptionalInteger(row, 'cycle_id'),
    batchId: readOptionalInteger(row, 'batch_id'),
    isMessage: readOptionalInteger(row, 'role') !== null,
  };
}

function checkHashes(rows: readonly Row[], raw: Uint8Array, place: Place): readonly Finding[] {
  const wrong = rows.filter((row) => hash('sha256', bytesOf(row, raw)) !== readHash(row, 'sha256'));
  const lines = nameLines(wrong.map((row) => readInteger(row, 'line')));
  return lines === null ? [] : [finding('wrong-hash', place, `${lines} not what was stored (by sha256)`)];
}

/** 'source line 7 is', '3 lines from source line 7 on are'; null for no lines. */
export function nameLines(lines: readonly number[]): string | null {
  const [first] = lines;
  if (first === undefined) return null;
  return lines.length === 1 ? `source line ${first} is` : `${lines.length} lines from source line ${first} on are`;
}

const GET_CYCLE_OF_BATCH = 'SELECT cycle_id FROM batches WHERE id = ?';
const GET_COMPACTION_OF_CYCLE = 'SELECT compaction_id FROM cycles WHERE id = ?';
const IS_INDEXED = 'SELECT 1 FROM message_search_docsize WHERE id = :id';

type Owner = { readonly compactionId: number; readonly place: Place };

/**
 * Checks that a summarized line belongs to a batch and any other line to none, all within their own compaction, and
 * that every message is in the search index.
 */
export function createOwnerCheck(
  db: Database.Database,
): (lines: readonly CheckedLine[], of: Owner) => Iterable<Finding> {
  const getCycle = db.prepare<[number], number>(GET_CYCLE_OF_BATCH).pluck();
  const getCompaction = db.prepare<[number], number>(GET_COMPACTION_OF_CYCLE).pluck();
  const isIndexed = db.prepare<[object], number>(IS_INDEXED).pluck();

  const ownerOf = ({ batchId, cycleId }: CheckedLine): number | null => {
    const cycle = batchId === null ? cycleId : (getCycle.get(batchId) ?? null);
    return cycle === null ? null : (getCompaction.get(cycle) ?? null);
  };

  function* checkOwners(lines: readonly CheckedLine[], { compactionId, place }: Owner): Generator<Finding> {
    const stray = lines.filter((line) => {
      if (line.isSummarized !== (line.batchId !== null)) return true;
      const owner = ownerOf(line);
      return owner !== null && owner !== compactionId; // SQLite reports a missing row itself
    });
    const named = nameLines(stray.map(({ line }) => line));
    if (named !== null) yield finding('reference', place, `${named} not with a batch or conversation of its own`);
  }

  function* checkIndex(lines: readonly CheckedLine[], { place }: Owner): Generator<Finding> {
    const lost = lines.filter(({ id, isMessage }) => isMessage && isIndexed.get({ id }) === undefined);
    const named = nameLines(lost.map(({ line }) => line));
    if (named !== null)
      yield finding('search', place, `${named} not in the search index, and thus not found by its words`);
  }

  return function* checkOwnership(lines, of) {
    yield* attempt({ ...of.place, name: `${of.place.name}, batches of its lines` }, () => checkOwners(lines, of));
    yield* attempt({ ...of.place, name: `${of.place.name}, search index` }, () => checkIndex(lines, of));
  };
}
