import Database from 'better-sqlite3';
import { migrate, MIGRATIONS } from './migrations.ts';
import type { Row } from './rows.ts';
import { isVectorIndexEntry } from './vectors/index-schema.ts';

const LIST_ENTRIES = 'SELECT type, name, tbl_name, sql FROM sqlite_schema';
const MAX_NAME_CHARS = 60;

/**
 * The first thing in a database's schema that this program did not make for that version: a trigger, view, table or index of someone else's,
 * or one of ours with other SQL. Null: there is none. Reads the schema alone, so nothing in it runs.
 */
export function findForeignEntry(db: Database.Database, version: number): string | null {
  const expected = listExpected(version);
  const names = new Set(expected.map((row) => row['name']));
  const texts = new Set(expected.map(textOf));
  for (const row of db.prepare<[], Row>(LIST_ENTRIES).iterate()) {
    if (texts.has(textOf(row)) || isVectorIndexEntry(row)) continue;
    const what = `${String(row['type'])} ${JSON.stringify(String(row['name']).slice(0, MAX_NAME_CHARS))}`;
    return names.has(row['name']) ? `its ${what} is not as compact makes it` : `compact did not make its ${what}`;
  }
  return null;
}

/** What the schema's own SQL makes, and the statistics that SQLite keeps beside it after an ANALYZE. */
function listExpected(version: number): readonly Row[] {
  const db = new Database(':memory:');
  try {
    migrate(db, MIGRATIONS.slice(0, version));
    db.exec('ANALYZE');
    return db.prepare<[], Row>(LIST_ENTRIES).all();
  } finally {
    db.close();
  }
}

function textOf({ type, name, tbl_name: table, sql }: Row): string {
  return JSON.stringify([type, name, table, sql]);
}
