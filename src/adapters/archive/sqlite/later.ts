import { statSync } from 'node:fs';
import type { LaterEngine } from '../loaded-later.ts';
import type { Sql } from '../sql/query.ts';
import { createBackup } from './backup.ts';
import { SQLITE_CHECK } from './check.ts';
import { createSqliteRetention, type Place } from './retention.ts';
import { SQLITE_SEARCH } from './search.ts';
import { SQLITE_VECTORS } from './vectors.ts';

export function createSqliteLater(sql: Sql, place: Place): LaterEngine {
  return {
    check: SQLITE_CHECK,
    backup: createBackup(place.db),
    retention: createSqliteRetention(sql, place),
    search: SQLITE_SEARCH,
    vectors: SQLITE_VECTORS,
    // With the log, which exists only while a program has the archive open.
    fileBytes: () => ['', '-wal'].reduce((sum, ending) => sum + sizeOf(`${place.db.name}${ending}`), 0),
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
