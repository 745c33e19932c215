import { readInteger } from '../archive/rows.ts';
import { LOCK_SCHEMA } from './migrate.ts';
import type { Sql } from './sql.ts';

/** The large tables, which have a partition for each month in which something was stored. */
const PARTITIONED = ['blocks', 'lines', 'message_words'] as const;

/** Creates the partitions of a month, unless they exist. `month`: 'YYYY-MM-01'. */
function partitionSql(month: string): readonly string[] {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const next = new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 10);
  return PARTITIONED.flatMap((table) => {
    const name = partitionName(table, month);
    const isNarrow = table === 'message_words'; // its rows are scanned, its words are not
    return [
      `CREATE TABLE IF NOT EXISTS ${name} PARTITION OF ${table} FOR VALUES FROM ('${month}') TO ('${next}')${isNarrow ? ' WITH (toast_tuple_target = 128)' : ''}`,
      ...(table === 'blocks' ? [`ALTER TABLE ${name} ALTER COLUMN data SET STORAGE EXTERNAL`] : []),
    ];
  });
}

/** A table that every month with partitions has. */
function partitionName(table: (typeof PARTITIONED)[number], month: string): string {
  return `${table}_${month.slice(0, 7).replace('-', '_')}`;
}

const HAS_TABLE = 'SELECT (to_regclass(:name) IS NOT NULL)::int AS found';

/** Gives a function that makes the partitions of a month and of the next one, unless they are there. */
export function createPartitions(sql: Sql, schema: string): (month: string) => Promise<void> {
  const ready = new Set<string>();
  return async (month) => {
    if (ready.has(month)) return;
    const [year = 0, number = 1] = month.split('-').map(Number);
    // The next month too, ahead of time: making a partition waits for every transaction that stores something.
    for (const one of [month, new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 10)]) {
      const [found = {}] = await sql.query(HAS_TABLE, { name: partitionName('message_words', one) });
      if (readInteger(found, 'found') === 1) continue;
      await sql.transaction('write', async (query) => {
        await query(LOCK_SCHEMA, { schema });
        for (const statement of partitionSql(one)) await query(statement);
      });
    }
    ready.add(month);
  };
}
