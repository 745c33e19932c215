import type Database from 'better-sqlite3';
import type { Row } from './rows.ts';

/** Statements with named values, each prepared when it is first asked for: a run needs few of them, and none twice. */
export function createStatements(db: Database.Database): (sql: string) => Database.Statement<[object], Row> {
  const prepared = new Map<string, Database.Statement<[object], Row>>();
  return (sql) => {
    const statement = prepared.get(sql) ?? db.prepare<[object], Row>(sql);
    prepared.set(sql, statement);
    return statement;
  };
}
