import { hash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { createCaptureBegin } from './capture-writer.ts';
import { guard } from './failure.ts';
import type { SchemaGuard } from './identity.ts';
import { CHANGES, timeColumn } from './rows.ts';
import type { SyncArchive } from './sync-archive.ts';

export const CONFIRM = 'UPDATE captured_files SET stamp = :stamp, read_at_ms = :at WHERE id = :fileId';
const LAST_STATE = `
SELECT max(s.id) FROM captured_states AS s JOIN captured_versions AS v ON v.id = s.version_id WHERE v.file_id = ?`;
const INSERT_GONE = `
INSERT INTO captured_versions (file_id, version, change)
SELECT file_id, max(version) + 1, ${CHANGES.indexOf('gone')} FROM captured_versions WHERE file_id = ?`;
const INSERT_GONE_STATE =
  'INSERT INTO captured_states (version_id, size_bytes, sha256, captured_at_ms) VALUES (?, 0, ?, ?)';

type CaptureDeps = {
  readonly path: string;
  readonly checkSchema: SchemaGuard;
  /** The connection that stores, with a guard of its own; opened on first use. */
  readonly writer: () => { readonly db: Database.Database; readonly checkSchema: SchemaGuard };
};

export function createCaptureStore(
  db: Database.Database,
  { path, checkSchema, writer }: CaptureDeps,
): SyncArchive['captures'] {
  const confirm = db.prepare(CONFIRM);
  const lastState = db.prepare<[number], number | null>(LAST_STATE).pluck();
  const insertGone = db.prepare(INSERT_GONE);
  const insertGoneState = db.prepare(INSERT_GONE_STATE);
  const begins: SyncArchive['captures']['begin'][] = [];
  const openBegin = (): SyncArchive['captures']['begin'] => {
    const opened = writer();
    const begin = createCaptureBegin(opened.db, { path, checkSchema: opened.checkSchema });
    begins.push(begin);
    return begin;
  };

  const writeConfirm = db.transaction((values: object): void => {
    checkSchema();
    confirm.run(values);
  });
  const writeGone = db.transaction((fileId: number, lastStateId: number, at: Date): void => {
    checkSchema();
    if (lastState.get(fileId) !== lastStateId) return;
    const { lastInsertRowid } = insertGone.run(fileId);
    insertGoneState.run(lastInsertRowid, hash('sha256', '', 'buffer'), timeColumn(at));
  });

  return {
    begin: (outline) => (begins[0] ?? openBegin())(outline),
    confirm: (fileId, { stamp, readAt }) =>
      guard(path, () => writeConfirm.immediate({ stamp, at: timeColumn(readAt), fileId })),
    markGone: (fileId, { lastStateId, at }) => guard(path, () => writeGone.immediate(fileId, lastStateId, at)),
  };
}
