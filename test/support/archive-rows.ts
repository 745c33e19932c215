import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';

/** What an archive holds, without what differs from one folder or one day to another: paths, ids, times. */
export type ArchiveRows = {
  /** Of SQLite's own checks: empty where the file is sound. */
  readonly damage: readonly unknown[];
  readonly statuses: readonly string[];
  readonly cycles: readonly { readonly cycle: number; readonly messages_compressed: number }[];
  /** Rows of each table. */
  readonly counts: Readonly<Record<string, number>>;
};

const STATUSES = 'SELECT status FROM compactions ORDER BY id';
const CYCLES = 'SELECT cycle, messages_compressed FROM cycles ORDER BY id';
const TABLES =
  "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '%search_%' AND name NOT LIKE 'run%'"; // a killed run is a run too

/** Read without the program, so that nothing is settled by it; null: there is no archive. */
export function readArchiveRows(path: string): ArchiveRows | null {
  if (!existsSync(path)) return null;
  const db = new Database(path);
  try {
    const tables = db.prepare<[], string>(TABLES).pluck().all();
    const count = (table: string): number => Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
    const isSound = db.pragma('integrity_check', { simple: true }) === 'ok';
    const strangers = db.prepare('PRAGMA foreign_key_check').all();
    return {
      damage: isSound ? strangers : ['integrity_check', ...strangers],
      statuses: tables.includes('compactions') ? db.prepare<[], string>(STATUSES).pluck().all() : [],
      cycles: tables.includes('cycles')
        ? db.prepare<[], { cycle: number; messages_compressed: number }>(CYCLES).all()
        : [],
      counts: Object.fromEntries(tables.map((table) => [table, count(table)])),
    };
  } finally {
    db.close();
  }
}
