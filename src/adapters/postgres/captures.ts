import { hash } from 'node:crypto';
import type { CaptureStore } from '../../ports/captures.ts';
import { checkCapturedRun } from '../archive/captured-blocks.ts';
import {
  CONFIRM,
  damagedState,
  FIND_FILE,
  GET_STATE,
  LIST_FILES,
  LIST_RUNS,
  LIST_STATES,
  toFile,
  toState,
} from '../archive/captures.ts';
import { archiveError, DamageError } from '../archive/failure.ts';
import { CHANGES, readInteger, timeColumn } from '../archive/rows.ts';
import { createCaptureBegin, LOCK_CAPTURES } from './capture-writer.ts';
import { createBlockReader } from './captured-lines.ts';
import { POSTGRES } from './dialect.ts';
import { findMarks } from '../archive/read/compactions.ts';
import type { Query, Sql } from '../archive/sql/query.ts';

const LAST_STATE = `
SELECT coalesce(max(s.id), 0) AS id FROM captured_states AS s JOIN captured_versions AS v ON v.id = s.version_id WHERE v.file_id = :fileId`;
const INSERT_GONE = `
WITH gone AS (
  INSERT INTO captured_versions (file_id, version, change)
  SELECT file_id, max(version) + 1, ${CHANGES.indexOf('gone')} FROM captured_versions WHERE file_id = :fileId GROUP BY file_id RETURNING id
)
INSERT INTO captured_states (version_id, size_bytes, sha256, captured_at_ms) SELECT id, 0, :sha256::bytea, :at::bigint FROM gone`;

export function createCaptureStore(sql: Sql, path: string): CaptureStore {
  const { query } = sql;
  return {
    find: async (filePath) => {
      const [row] = await query(FIND_FILE, { path: filePath });
      return row === undefined ? null : toFile(row);
    },
    list: async () => (await query(LIST_FILES)).map(toFile),
    listStates: async (fileId) => (await query(LIST_STATES, { fileId })).map(toState),
    read: (stateId) => readState({ query, path }, stateId),
    begin: createCaptureBegin(sql),
    confirm: async (fileId, { stamp, readAt }) =>
      void (await query(CONFIRM, { fileId, stamp, at: timeColumn(readAt) })),
    markGone: (fileId, { lastStateId, at }) =>
      sql.transaction('write', async (within) => {
        await within(LOCK_CAPTURES);
        const [last] = await within(LAST_STATE, { fileId });
        if (readInteger(last ?? {}, 'id') !== lastStateId) return;
        await within(INSERT_GONE, { fileId, sha256: hash('sha256', '', 'buffer'), at: timeColumn(at) });
      }),
  };
}

export type CaptureSource = { readonly query: Query; readonly path: string };

async function* readState({ query, path }: CaptureSource, id: number): AsyncGenerator<Uint8Array> {
  const [state] = await query(GET_STATE, { id });
  if (state === undefined) return;
  let left = readInteger(state, 'size_bytes');
  if (left === 0) return;
  for await (const bytes of readVersion({ query, path }, readInteger(state, 'version_id'))) {
    yield bytes.subarray(0, left);
    left -= bytes.length;
    if (left <= 0) return;
  }
  damagedState(left);
}

const LIST_LINES = `
SELECT id, block_id, "offset", size_bytes, sha256, erasure_id FROM captured_lines WHERE id BETWEEN :first AND :last ORDER BY id LIMIT 4096`;

/** All bytes of a version, as many at once as lie together. Each line is checked against its hash. Throws a `DamageError`, or an `ArchiveError` if lines were erased. */
export async function* readVersion({ query, path }: CaptureSource, versionId: number): AsyncGenerator<Uint8Array> {
  const readBlock = createBlockReader(query);
  async function* readRun(firstId: number, lineCount: number): AsyncGenerator<Uint8Array> {
    const last = firstId + lineCount - 1;
    for (let id = firstId; id <= last;) {
      const rows = await query(LIST_LINES, { first: id, last });
      const [mark] = (await findMarks(query, POSTGRES, rows)).values();
      if (mark !== undefined) throw archiveError({ kind: 'erased', path, ...mark });
      for (const [blockId, lines] of Map.groupBy(rows, (row) => readInteger(row, 'block_id'))) {
        const raw = await readBlock(blockId);
        if (raw === null) throw new DamageError(`block ${blockId} of captured lines cannot be decompressed`);
        yield checkCapturedRun(lines, { firstId: id, raw });
        id += lines.length;
      }
      if (rows.length === 0) throw new DamageError(`captured line ${id} is missing`);
    }
  }
  let position = -1;
  for (;;) {
    const rows = await query(LIST_RUNS, { versionId, position });
    for (const row of rows) {
      position = readInteger(row, 'position');
      yield* readRun(readInteger(row, 'first_line_id'), readInteger(row, 'line_count'));
    }
    if (rows.length === 0) return;
  }
}
