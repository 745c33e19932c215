import { hash } from 'node:crypto';
import { createCapturedFiles } from '../archive/read/captured.ts';
import type { CaptureStore } from '../../ports/captures.ts';
import { CONFIRM } from '../archive/captures.ts';
import { CHANGES, readInteger, timeColumn } from '../archive/rows.ts';
import { createCaptureBegin, LOCK_CAPTURES } from './capture-writer.ts';
import type { Sql } from '../archive/sql/query.ts';

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
    ...createCapturedFiles(sql, path),
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
