import type Database from 'better-sqlite3';
import { createStatements, readInteger, type Row, textColumn } from './rows.ts';

/** A statement with named values, in words that every engine understands. Text is given as it is, and ids as a JSON array. */
type Statement = { readonly sql: string; readonly values: Readonly<Record<string, unknown>> };

/** A series of statements, each answered with its rows. A synchronous and an asynchronous engine can both run it. */
export type Work<T> = Generator<Statement, T, readonly Row[]>;

export function* ask(sql: string, values: Statement['values'] = {}): Work<readonly Row[]> {
  return yield { sql, values };
}

/** `from`: what follows FROM. */
export function* count(from: string, values: Statement['values'] = {}): Work<number> {
  const [row = {}] = yield* ask(`SELECT count(*) AS count FROM ${from}`, values);
  return readInteger(row, 'count');
}

/** The rows of a statement that lists them by `id`, a page at a time: its values are `after`, the last id, and what is given. */
export function* askPages(sql: string, onRow: (row: Row) => void, values: Statement['values'] = {}): Work<void> {
  for (let after: unknown = 0; ;) {
    const rows = yield* ask(sql, { ...values, after });
    for (const row of rows) onRow(row);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last['id'];
  }
}

/** Does work for each row of such a statement. */
export function* forPages(sql: string, work: (row: Row) => Work<void>): Work<void> {
  for (let after: unknown = 0; ;) {
    const rows = yield* ask(sql, { after });
    for (const row of rows) yield* work(row);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last['id'];
  }
}

/** Runs work on a SQLite database. */
export function createRunner(db: Database.Database): <T>(work: Work<T>) => T {
  const prepare = createStatements(db);
  const answer = ({ sql, values }: Statement): readonly Row[] => {
    const statement = prepare(sql);
    const columns = Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? textColumn(value) : value]),
    );
    if (statement.reader) return statement.all(columns);
    statement.run(columns);
    return [];
  };
  return (work) => {
    let step = work.next();
    while (step.done !== true) step = work.next(answer(step.value));
    return step.value;
  };
}
