import { hash } from 'node:crypto';
import { readHash, readInteger, readText, type Row } from '../rows.ts';
import { countRows, forRows, type Query } from '../sql/query.ts';
import { rewriteCaptured } from './rewrite-block.ts';

/** Joins the runs of captured lines that touch or overlap, so the one that may contain a line is the last that begins before it. `condition`: for captured_versions AS v. */
const joinRuns = (condition: string): string => `
SELECT min(first_line_id) AS first_id, max(last_id) AS last_id FROM (
  SELECT first_line_id, last_id, sum(is_first) OVER (ORDER BY first_line_id, last_id ROWS UNBOUNDED PRECEDING) AS number FROM (
    SELECT first_line_id, last_id, CASE WHEN first_line_id <= 1 + max(last_id) OVER (
      ORDER BY first_line_id, last_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) THEN 0 ELSE 1 END AS is_first
    FROM (
      SELECT r.first_line_id, r.first_line_id + r.line_count - 1 AS last_id
      FROM captured_runs AS r JOIN captured_versions AS v ON v.id = r.version_id WHERE ${condition}
    ) AS runs
  ) AS marked
) AS numbered GROUP BY number`;
const FIND_USED = [
  'DELETE FROM used_runs',
  `INSERT INTO used_runs (id, last_id) ${joinRuns('v.file_id NOT IN (SELECT id FROM erased_files)')}`,
];
const ADD_UNUSED = `
INSERT INTO erased_captured SELECT c.id FROM (${joinRuns('v.file_id IN (SELECT id FROM erased_files)')}) AS own
JOIN captured_lines AS c ON c.id BETWEEN own.first_id AND own.last_id
WHERE c.erasure_id IS NULL AND coalesce((SELECT u.last_id FROM used_runs AS u WHERE u.id <= c.id ORDER BY u.id DESC LIMIT 1), 0) < c.id
ON CONFLICT DO NOTHING`;
const LIST_VERSIONS = `
SELECT v.id, f.path, l.sha256 FROM erased_files AS g JOIN captured_files AS f ON f.id = g.id JOIN captured_versions AS v ON v.file_id = f.id
JOIN captured_runs AS r ON r.version_id = v.id AND r.position = 0 JOIN captured_lines AS l ON l.id = r.first_line_id
WHERE v.id > :after ORDER BY v.id LIMIT 500`;
const LIST_STATES = 'SELECT DISTINCT sha256 FROM captured_states WHERE version_id = :id AND size_bytes > 0';
const KEEP_STATE = `
INSERT INTO erased_states (sha256, origin_sha256, erasure_id) VALUES (:sha256, :origin, :erasureId) ON CONFLICT DO NOTHING`;
const FILES = 'captured_files WHERE id IN (SELECT id FROM erased_files)';
/** Those of the captured lines `ids` that were not erased. */
export const unerasedOf = (ids: string): string =>
  `erased_captured SELECT id FROM captured_lines WHERE id IN ${ids} AND erasure_id IS NULL`;
/** Captured lines that equal an archived line to erase. */
export const ADD_COPIES = `
INSERT INTO erased_captured SELECT c.id FROM erased_lines AS g JOIN lines AS l ON l.id = g.id
JOIN captured_lines AS c ON substr(c.sha256, 1, 8) = substr(l.sha256, 1, 8) AND c.sha256 = l.sha256 WHERE c.erasure_id IS NULL
ON CONFLICT DO NOTHING`;
/** The captured files that contain marked lines. */
export const LIST_CHANGED_FILES = `
SELECT DISTINCT v.file_id FROM captured_runs AS r JOIN captured_versions AS v ON v.id = r.version_id
WHERE EXISTS (SELECT 1 FROM erased_captured WHERE id BETWEEN r.first_line_id AND r.first_line_id + r.line_count - 1)`;
const LIST_GONE = `
SELECT g.id, c.sha256, c.size_bytes FROM erased_captured AS g JOIN captured_lines AS c ON c.id = g.id WHERE g.id > :after ORDER BY g.id LIMIT 2000`;
const LIST_BLOCKS = `
SELECT DISTINCT c.block_id AS id FROM erased_captured AS g JOIN captured_lines AS c ON c.id = g.id
WHERE c.block_id > :after ORDER BY 1 LIMIT 2000`;
const MARK_LINES =
  'UPDATE captured_lines SET erasure_id = :erasureId, "offset" = 0 WHERE id IN (SELECT id FROM erased_captured)';
/** An empty block stays while a captured file refers to one of its erased lines. */
const UNUSED_BLOCKS = `
SELECT b.id FROM captured_blocks AS b WHERE b.raw_size_bytes = 0 AND coalesce((
  SELECT u.last_id FROM used_runs AS u WHERE u.id < b.first_line_id + b.line_count ORDER BY u.id DESC LIMIT 1), 0) < b.first_line_id`;
const DELETE_UNUSED = [
  `DELETE FROM captured_lines WHERE id IN (SELECT id FROM erased_captured)
    AND coalesce((SELECT u.last_id FROM used_runs AS u WHERE u.id <= captured_lines.id ORDER BY u.id DESC LIMIT 1), 0) < captured_lines.id`,
  `DELETE FROM captured_lines WHERE block_id IN (${UNUSED_BLOCKS})`,
  `DELETE FROM captured_blocks WHERE id IN (${UNUSED_BLOCKS})`,
];

/** Two captured states with the same origin are of one path, and begin with the same line. */
export function buildOrigin(path: string, firstLineSha256: string): Buffer {
  return hash('sha256', `${firstLineSha256} ${path}`, 'buffer');
}

/** Remembers what a captured state of an erased file was. The values are columns. */
export async function keepErasedState(
  query: Query,
  state: Readonly<Record<'sha256' | 'origin' | 'erasureId', unknown>>,
): Promise<void> {
  await query(KEEP_STATE, state);
}

/**
 * Removes the captured files in `erased_files`, and marks the lines that no other file has to be erased. Of each state, only hashes stay.
 * Returns the number of files.
 */
export async function eraseCapturedFiles(query: Query, erasureId: number): Promise<number> {
  await forRows(query, LIST_VERSIONS, async (row) => {
    const origin = buildOrigin(readText(row, 'path'), readHash(row, 'sha256'));
    for (const { sha256 } of await query(LIST_STATES, { id: row['id'] }))
      await keepErasedState(query, { sha256, origin, erasureId });
  });
  for (const sql of FIND_USED) await query(sql);
  await query(ADD_UNUSED);
  const files = await countRows(query, FILES);
  await query(`DELETE FROM ${FILES}`);
  return files;
}

/** Erases the marked captured lines. `used_runs` has the runs that are left. */
export async function eraseCapturedLines(query: Query, erasureId: number, onLine: (row: Row) => void): Promise<void> {
  await forRows(query, LIST_GONE, onLine);
  await forRows(query, LIST_BLOCKS, (row) => rewriteCaptured(query, readInteger(row, 'id')));
  await query('DELETE FROM captured_messages WHERE captured_id IN (SELECT id FROM erased_captured)');
  await query(MARK_LINES, { erasureId });
  for (const sql of DELETE_UNUSED) await query(sql);
}
