import { hash } from 'node:crypto';
import type { CaptureDraft, CaptureOutline, CaptureStore, CaptureWriter } from '../../../ports/captures.ts';
import { createCapturedFiles } from '../read/captured.ts';
import { CHANGES, hashColumn, readFields, readInteger, timeColumn } from '../rows.ts';
import type { Dialect, Query, Sql } from '../sql/query.ts';
import { keepEntry, toLogEntry } from './audit-log.ts';
import { openLines } from './captured-lines.ts';
import { createSteps } from './engine.ts';

const FIND_LAST = `
SELECT f.id AS file_id, v.id AS version_id, v.version, s.id AS state_id, s.size_bytes,
  (SELECT count(*) FROM captured_runs WHERE version_id = v.id) AS run_count
FROM captured_files AS f JOIN captured_versions AS v ON v.file_id = f.id JOIN captured_states AS s ON s.version_id = v.id
WHERE f.path = :path ORDER BY s.id DESC LIMIT 1`;
export const INSERT_FILE =
  'INSERT INTO captured_files (path, format, read_at_ms) VALUES (:path, :format, 0) RETURNING id';
export const UPDATE_FILE =
  'UPDATE captured_files SET format = :format, stamp = :stamp, read_at_ms = :at, sessions = :sessions WHERE id = :fileId';
export const INSERT_VERSION =
  'INSERT INTO captured_versions (file_id, version, change) VALUES (:fileId, :version, :change) RETURNING id';
export const INSERT_STATE = `
INSERT INTO captured_states (version_id, size_bytes, sha256, captured_at_ms, mtime_ns, mode)
VALUES (:versionId, :sizeBytes, :sha256, :at, :mtimeNs, :mode)`;
export const INSERT_RUN = `
INSERT INTO captured_runs (version_id, position, first_line_id, line_count) VALUES (:versionId, :position, :first, :count)`;

const CONFIRM = 'UPDATE captured_files SET stamp = :stamp, read_at_ms = :at WHERE id = :fileId';
const CONFIRM_MARKS = 'UPDATE captured_states SET mtime_ns = :mtimeNs, mode = :mode WHERE id = :stateId';
const LAST_STATE = `
SELECT coalesce(max(s.id), 0) AS id, max(v.version) AS version FROM captured_states AS s JOIN captured_versions AS v ON v.id = s.version_id WHERE v.file_id = :fileId`;

export function marksColumns({ marks }: Pick<CaptureDraft, 'marks'>) {
  return { mtimeNs: marks?.mtimeNs ?? null, mode: marks?.mode ?? null };
}

/** Finds, reads and stores states of files. `path`: of the archive, for messages. */
export function createCaptureStore(sql: Sql, path: string): CaptureStore {
  const { transaction, dialect } = sql;
  return {
    ...createCapturedFiles(sql, path),
    begin: createBegin(sql),
    confirm: ({ id: fileId, last }, { stamp, readAt, marks }) =>
      transaction('write', async (query) => {
        await query(CONFIRM, { fileId, stamp, at: timeColumn(readAt) });
        await query(CONFIRM_MARKS, { stateId: last.id, ...marks });
      }),
    markGone: (fileId, { lastStateId, at, removed }) => {
      const details = JSON.stringify(removed);
      const entry = removed === undefined ? null : toLogEntry({ action: 'remove', doneAt: at, details });
      return transaction('write', async (query) => {
        for (const statement of dialect.capturing.begin) await query(statement);
        if (entry !== null) await keepEntry(query, entry);
        const [last = {}] = await query(LAST_STATE, { fileId });
        if (readInteger(last, 'id') !== lastStateId) return;
        const gone = { fileId, version: readInteger(last, 'version') + 1, change: CHANGES.indexOf('gone') };
        const [added = {}] = await query(INSERT_VERSION, gone);
        const state = { sizeBytes: 0, sha256: hash('sha256', '', 'buffer'), at: timeColumn(at), ...marksColumns({}) };
        await query(INSERT_STATE, { versionId: readInteger(added, 'id'), ...state });
      });
    },
  };
}

/** Stores states of files, each in one transaction. A draft that contradicts what was appended is a bug and throws. */
function createBegin(sql: Sql): CaptureStore['begin'] {
  return async (outline) => {
    const { query, commit, rollback } = await sql.begin('write');
    const { step, end } = createSteps(rollback);
    const target = await step(() => findTarget(query, sql.dialect, outline));
    if (target === null) {
      await end();
      return null;
    }
    const lines = await step(() => openLines(query, sql.dialect, target.fileId));
    const { versionId, version } = target;
    const run = { position: target.runCount, first: 0, count: 0 };
    let sizeBytes = target.sizeBytes;
    const endRun = async (): Promise<void> => {
      if (run.count === 0) return;
      await query(INSERT_RUN, { versionId, position: run.position, first: run.first, count: run.count });
      run.position += 1;
      run.count = 0;
    };
    const writer: CaptureWriter = {
      append: (pieces) =>
        step(async () => {
          const stored = pieces.filter((piece) => piece.length > 0);
          for (const id of await lines.add(stored)) {
            if (run.count > 0 && id !== run.first + run.count) await endRun();
            if (run.count === 0) run.first = id;
            run.count += 1;
          }
          sizeBytes += stored.reduce((sum, { length }) => sum + length, 0);
        }),
      commit: (draft) =>
        step(async () => {
          if (draft.sizeBytes !== sizeBytes)
            throw new Error(`${sizeBytes} bytes were appended of a file of ${draft.sizeBytes}`);
          await endRun();
          const stored = await lines.end();
          const at = timeColumn(draft.capturedAt);
          const state = { sizeBytes, sha256: hashColumn(draft.sha256), at, ...marksColumns(draft) };
          await query(INSERT_STATE, { versionId, ...state });
          const sessions = JSON.stringify(draft.sessions);
          await query(UPDATE_FILE, { fileId: target.fileId, format: outline.format, stamp: draft.stamp, at, sessions });
          await commit();
          await end();
          return { version, ...stored };
        }),
      abandon: end,
    };
    return writer;
  };
}

/** `sizeBytes`: of the state that is continued. */
const TARGET = {
  fileId: readInteger,
  versionId: readInteger,
  version: readInteger,
  runCount: readInteger,
  sizeBytes: readInteger,
};

/** Null: the last state is another one by now. */
async function findTarget(query: Query, { capturing }: Dialect, { path, format, lastStateId, change }: CaptureOutline) {
  for (const statement of capturing.begin) await query(statement);
  const [last] = await query(FIND_LAST, { path });
  if ((last === undefined ? null : readInteger(last, 'state_id')) !== lastStateId) return null;
  if (change === 'grown') {
    if (last === undefined) throw new Error(`${path} was never captured, so it cannot have grown`);
    return readFields(last, TARGET);
  }
  const [file = {}] = last === undefined ? await query(INSERT_FILE, { path, format }) : [{ id: last['file_id'] }];
  const fileId = readInteger(file, 'id');
  const version = last === undefined ? 1 : readInteger(last, 'version') + 1;
  const [added = {}] = await query(INSERT_VERSION, { fileId, version, change: CHANGES.indexOf(change) });
  return { fileId, versionId: readInteger(added, 'id'), version, runCount: 0, sizeBytes: 0 };
}
