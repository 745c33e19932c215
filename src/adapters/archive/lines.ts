import { hash } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { Archive, StoredLine } from '../../ports/archive.ts';
import { checkPlaces, unpackBlock } from './blocks.ts';
import { FATES } from './columns.ts';
import { DamageError, guard } from './failure.ts';
import { readBytes, readFate, readHash, readInteger, readOptionalInteger, type Row } from './rows.ts';

const LIST_BLOCKS = 'SELECT id FROM blocks WHERE compaction_id = ? ORDER BY position';
const GET_BLOCK = 'SELECT first_line, raw_size_bytes, data FROM blocks WHERE id = ?';
const COUNT_ARCHIVED = `
SELECT source_line_count - (SELECT coalesce(sum(line_count), 0) FROM kept_runs WHERE compaction_id = c.id) AS count
FROM compactions AS c WHERE id = ?`;
const LINE_COLUMNS = `
l.id, l.block_id, l.line, l.offset, l.size_bytes, l.fate, coalesce(l.cycle_id, b.cycle_id) AS cycle_id, l.batch_id, l.message_index, l.sha256`;
const LIST_LINES = `
SELECT ${LINE_COLUMNS} FROM lines AS l LEFT JOIN batches AS b ON b.id = l.batch_id WHERE l.block_id = ? ORDER BY l.line`;
/** What survived any cycle of the lineage and was summarized by none since. A parent is always older: a damaged one makes no endless loop. */
const LIST_SURVIVORS = `
WITH RECURSIVE lineage (id, age) AS (
  SELECT id, 0 FROM cycles WHERE id = ?
  UNION SELECT c.parent_cycle_id, age + 1 FROM lineage JOIN cycles AS c ON c.id = lineage.id WHERE c.parent_cycle_id < c.id
)
SELECT ${LINE_COLUMNS} FROM lineage JOIN lines AS l ON l.cycle_id = lineage.id LEFT JOIN batches AS b ON b.id = l.batch_id
WHERE l.fate = ${FATES.indexOf('survived')} AND NOT EXISTS (SELECT 1 FROM carried_lines AS d WHERE d.line_id = l.id AND d.cycle_id IN (SELECT id FROM lineage))
ORDER BY lineage.age DESC, l.block_id, l.line`;

export type LineReader = Pick<Archive, 'readLines' | 'readSurvivors'>;

/** Reads archived lines back; each is checked against its hash, and one that is not what was stored is damage. */
export function createLineReader(db: Database.Database, path: string): LineReader {
  const listBlocks = db.prepare<[number], number>(LIST_BLOCKS).pluck();
  const countArchived = db.prepare<[number], number>(COUNT_ARCHIVED).pluck();
  const listLines = db.prepare<[number], Row>(LIST_LINES);
  const listSurvivors = db.prepare<[number], Row>(LIST_SURVIVORS);
  const getBlock = db.prepare<[number], Row>(GET_BLOCK);

  const readBlock = (id: number): Uint8Array => {
    const row = getBlock.get(id);
    if (row === undefined) throw new DamageError(`block ${id} of the archived lines is missing`);
    const [rawSizeBytes, firstLine] = [readInteger(row, 'raw_size_bytes'), readInteger(row, 'first_line')];
    return unpackBlock(readBytes(row, 'data'), { rawSizeBytes, firstLine });
  };

  // Block by block, each with statements of its own: a caller that stops half-way, or asks for something else meanwhile, leaves nothing open.
  function* readLines(compactionId: number): IterableIterator<StoredLine> {
    const archivedCount = guard(path, () => countArchived.get(compactionId)) ?? 0;
    let count = 0;
    for (const blockId of guard(path, () => listBlocks.all(compactionId))) {
      const lines = guard(path, () => {
        const rows = listLines.all(blockId);
        checkPlaces(rows);
        const raw = readBlock(blockId);
        return rows.map((row) => toLine(row, raw));
      });
      count += lines.length;
      yield* lines;
    }
    guard(path, () => {
      if (count !== archivedCount) throw new DamageError(`${count} of ${archivedCount} archived lines are there`);
    });
  }

  const readSurvivors = (cycleId: number): readonly StoredLine[] => {
    let block: { readonly id: number; readonly raw: Uint8Array } | null = null;
    const rows = listSurvivors.all(cycleId);
    for (const ofBlock of Map.groupBy(rows, (row) => row['block_id']).values()) checkPlaces(ofBlock);
    return rows.map((row) => {
      const id = readInteger(row, 'block_id');
      if (block?.id !== id) block = { id, raw: readBlock(id) };
      return toLine(row, block.raw);
    });
  };

  return { readLines, readSurvivors: (cycleId) => guard(path, () => readSurvivors(cycleId)) };
}

function toLine(row: Row, raw: Uint8Array): StoredLine {
  const line = readInteger(row, 'line');
  const offset = readInteger(row, 'offset');
  const bytes = raw.subarray(offset, offset + readInteger(row, 'size_bytes'));
  const sha256 = readHash(row, 'sha256');
  if (hash('sha256', bytes) !== sha256) throw new DamageError(`archived source line ${line} differs from its hash`);
  return {
    id: readInteger(row, 'id'),
    line,
    fate: readFate(row, 'fate'),
    cycleId: readOptionalInteger(row, 'cycle_id'),
    batchId: readOptionalInteger(row, 'batch_id'),
    sha256,
    bytes,
    messageIndex: readOptionalInteger(row, 'message_index'),
  };
}
