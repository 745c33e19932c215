import { statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import type { ArchiveFigures } from '../../ports/archive-lookup.ts';
import { guard } from './failure.ts';
import { readInteger, readText, readTime, type Row } from './rows.ts';

const APPLIED = "(SELECT id FROM compactions WHERE status = 'applied')";
const COUNT = `
SELECT
  (SELECT count(*) FROM compactions WHERE status = 'applied') AS compactions,
  (SELECT count(*) FROM compactions WHERE status = 'prepared') AS prepared,
  (SELECT count(DISTINCT conversation_id) FROM cycles WHERE compaction_id IN ${APPLIED}) AS conversations,
  (SELECT count(*) FROM batches JOIN cycles ON cycles.id = batches.cycle_id WHERE compaction_id IN ${APPLIED}) AS batches,
  (SELECT count(*) FROM lines JOIN blocks ON blocks.id = lines.block_id WHERE compaction_id IN ${APPLIED} AND role IS NOT NULL) AS messages,
  (SELECT coalesce(sum(length(data)), 0) FROM blocks WHERE compaction_id IN ${APPLIED}) AS packed_bytes,
  (SELECT min(created_at_ms) FROM compactions WHERE status = 'applied') AS oldest_ms,
  (SELECT max(created_at_ms) FROM compactions WHERE status = 'applied') AS newest_ms`;
/** A block's lines are all that is in it. */
const COUNT_FORMATS = `
SELECT c.format, count(*) AS compactions,
  coalesce(sum((SELECT sum(raw_size_bytes) FROM blocks WHERE compaction_id = c.id)), 0) AS original_bytes,
  sum(c.source_line_count - (SELECT coalesce(sum(line_count), 0) FROM kept_runs WHERE compaction_id = c.id)) AS lines
FROM compactions AS c WHERE c.status = 'applied' GROUP BY c.format ORDER BY original_bytes DESC, c.format`;

/** Counts and sizes of the whole archive. */
export function createMeasure(db: Database.Database, path: string): () => ArchiveFigures {
  const measure = (): ArchiveFigures => {
    const row = db.prepare<[], Row>(COUNT).get() ?? {};
    const formats = db
      .prepare<[], Row>(COUNT_FORMATS)
      .all()
      .map((one) => ({
        format: readText(one, 'format'),
        compactions: readInteger(one, 'compactions'),
        lines: readInteger(one, 'lines'),
        originalBytes: readInteger(one, 'original_bytes'),
      }));
    return {
      compactions: readInteger(row, 'compactions'),
      conversations: readInteger(row, 'conversations'),
      batches: readInteger(row, 'batches'),
      lines: formats.reduce((sum, { lines }) => sum + lines, 0),
      messages: readInteger(row, 'messages'),
      originalBytes: formats.reduce((sum, { originalBytes }) => sum + originalBytes, 0),
      packedBytes: readInteger(row, 'packed_bytes'),
      fileBytes: ['', '-wal'].reduce((sum, ending) => sum + sizeOf(`${db.name}${ending}`), 0),
      oldest: readTime(row, 'oldest_ms'),
      newest: readTime(row, 'newest_ms'),
      prepared: readInteger(row, 'prepared'),
      formats,
    };
  };
  return () => guard(path, db.transaction(measure));
}

/** The log comes and goes with the programs that have the archive open. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
