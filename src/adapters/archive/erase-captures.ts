import type Database from 'better-sqlite3';
import type { ErasedIds } from '../../ports/retention.ts';
import { readInteger, type Row } from './rows.ts';
import { rewriteBlock } from './rewrite-block.ts';

const LIST_RUNS_OF = `
SELECT r.first_line_id, r.line_count FROM captured_runs AS r JOIN captured_versions AS v ON v.id = r.version_id WHERE v.file_id = ? ORDER BY r.first_line_id`;
const LIST_RUNS = 'SELECT first_line_id, line_count FROM captured_runs ORDER BY first_line_id';
const DELETE_FILE = 'DELETE FROM captured_files WHERE id = ?';
const ADD_RANGE = `
INSERT OR IGNORE INTO erased_captured SELECT id FROM captured_lines WHERE id BETWEEN ? AND ? AND erasure_id IS NULL`;
const ADD_LINE =
  'INSERT OR IGNORE INTO erased_captured SELECT id FROM captured_lines WHERE id = ? AND erasure_id IS NULL';
const ADD_COPIES = `
INSERT OR IGNORE INTO erased_captured SELECT c.id FROM erased_lines AS g JOIN lines AS l ON l.id = g.id
JOIN captured_lines AS c ON substr(c.sha256, 1, 8) = substr(l.sha256, 1, 8) AND c.sha256 = l.sha256 WHERE c.erasure_id IS NULL`;
const LIST_CHANGED = `
SELECT DISTINCT v.file_id FROM captured_runs AS r JOIN captured_versions AS v ON v.id = r.version_id
WHERE EXISTS (SELECT 1 FROM erased_captured WHERE id BETWEEN r.first_line_id AND r.first_line_id + r.line_count - 1)`;
const LIST_GONE =
  'SELECT c.sha256, c.size_bytes FROM erased_captured AS g JOIN captured_lines AS c ON c.id = g.id ORDER BY g.id';
const LIST_BLOCKS =
  'SELECT DISTINCT c.block_id FROM erased_captured AS g JOIN captured_lines AS c ON c.id = g.id ORDER BY 1';
const MARK_LINES = 'UPDATE captured_lines SET erasure_id = ?, offset = 0 WHERE id IN (SELECT id FROM erased_captured)';
const GET_BLOCK = 'SELECT first_line_id, line_count, raw_size_bytes FROM captured_blocks WHERE id = ?';
const DELETE_BLOCK = [
  'DELETE FROM captured_lines WHERE block_id = ?',
  'DELETE FROM captured_blocks WHERE id = ?',
] as const;

type Range = { readonly first: number; last: number };

/** Removes captured files, and marks the lines that no other file has to be erased. Returns the number of files. */
export function eraseCapturedFiles(db: Database.Database, fileIds: readonly number[]): number {
  const ranges = fileIds.flatMap((id) => joinRanges(db.prepare<[number], Row>(LIST_RUNS_OF).iterate(id)));
  const deleteFile = db.prepare(DELETE_FILE);
  const count = fileIds.reduce((sum, id) => sum + deleteFile.run(id).changes, 0);
  if (ranges.length === 0) return count;
  const addRange = db.prepare(ADD_RANGE);
  const used = joinRanges(db.prepare<[], Row>(LIST_RUNS).iterate());
  for (const { first, last } of ranges) {
    let from = first;
    for (const other of used) {
      if (other.last < from || other.first > last) continue;
      if (other.first > from) addRange.run(from, other.first - 1);
      from = other.last + 1;
    }
    if (from <= last) addRange.run(from, last);
  }
  return count;
}

/** Marks the captured lines of a plan to be erased; `takesCopies`: also those that equal an archived line to erase. */
export function selectCapturedLines(
  db: Database.Database,
  { capturedLineIds, takesCopies }: Pick<ErasedIds, 'capturedLineIds' | 'takesCopies'>,
): void {
  const addLine = db.prepare(ADD_LINE);
  for (const id of capturedLineIds) addLine.run(id);
  if (takesCopies) db.exec(ADD_COPIES);
}

/** The captured files that contain marked lines. */
export function listChangedFiles(db: Database.Database): readonly number[] {
  return db.prepare<[], number>(LIST_CHANGED).pluck().all();
}

/** Erases the marked captured lines. */
export function eraseCapturedLines(
  db: Database.Database,
  { erasureId, onLine }: { readonly erasureId: number; readonly onLine: (row: Row) => void },
): void {
  for (const row of db.prepare<[], Row>(LIST_GONE).iterate()) onLine(row);
  const blockIds = db.prepare<[], number>(LIST_BLOCKS).pluck().all();
  for (const blockId of blockIds) rewriteBlock(db, { kind: 'captured', blockId });
  db.prepare(MARK_LINES).run(erasureId);
  const used = joinRanges(db.prepare<[], Row>(LIST_RUNS).iterate());
  for (const blockId of blockIds) deleteUnused(db, blockId, used);
}

/** Deletes an empty block unless a captured file still refers to one of its erased lines. */
function deleteUnused(db: Database.Database, blockId: number, used: readonly Range[]): void {
  const block = db.prepare<[number], Row>(GET_BLOCK).get(blockId);
  if (block === undefined || readInteger(block, 'raw_size_bytes') > 0) return;
  const first = readInteger(block, 'first_line_id');
  const last = first + readInteger(block, 'line_count') - 1;
  if (used.some((range) => range.first <= last && range.last >= first)) return;
  for (const sql of DELETE_BLOCK) db.prepare(sql).run(blockId);
}

/** Joins runs, which come in ascending order, where they touch or overlap. */
function joinRanges(runs: Iterable<Row>): readonly Range[] {
  const ranges: Range[] = [];
  for (const row of runs) {
    const first = readInteger(row, 'first_line_id');
    const last = first + readInteger(row, 'line_count') - 1;
    const previous = ranges.at(-1);
    if (previous !== undefined && first <= previous.last + 1) previous.last = Math.max(previous.last, last);
    else ranges.push({ first, last });
  }
  return ranges;
}
