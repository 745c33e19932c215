import type Database from 'better-sqlite3';
import { readInteger, readText, type Row } from '../rows.ts';
import { attempt, finding, type Finding, type Place } from './finding.ts';

/** Pages, indexes, constraints, and the full-text indexes with them. It ends by itself after 100 errors. */
const INTEGRITY = 'PRAGMA integrity_check';
const LIST_ROOTS = 'SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0';
const LIST_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";

const WHOLE = { name: 'the database', compactionIds: [] };

/** What SQLite itself finds wrong with the file. Which transcripts a page belongs to shows where their rows are read. */
export function* checkStructure(db: Database.Database): Generator<Finding> {
  let isReadable = false;
  yield* attempt(WHOLE, function* () {
    yield* checkIntegrity(db, { sql: INTEGRITY, place: WHOLE });
    isReadable = true;
  });
  // A page that is none ends the check: then what it belongs to is told table by table.
  if (isReadable) return;
  yield* attempt(WHOLE, function* () {
    for (const table of db.prepare<[], string>(LIST_TABLES).pluck().all()) {
      const place = { name: `table ${table}`, compactionIds: [] };
      yield* attempt(place, () => checkIntegrity(db, { sql: `${INTEGRITY}("${table}")`, place }));
    }
  });
}

function* checkIntegrity(
  db: Database.Database,
  { sql, place }: { readonly sql: string; readonly place: Place },
): Generator<Finding> {
  const roots = new Map(
    db
      .prepare<[], Row>(LIST_ROOTS)
      .all()
      .map((row) => [readInteger(row, 'rootpage'), readText(row, 'name')]),
  );
  const messages = db.prepare<[], string>(sql).pluck().all();
  for (const line of messages.flatMap((message) => message.split('\n'))) {
    if (line !== 'ok' && !line.startsWith('***')) yield finding('structure', place, nameTree(line, roots));
  }
}

/** SQLite names a table or an index by its root page. */
function nameTree(line: string, roots: ReadonlyMap<number, string>): string {
  return line.replace(/^Tree (\d+)/, (tree, page: string) => roots.get(Number(page)) ?? tree);
}
