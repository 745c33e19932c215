import { createHash } from 'node:crypto';
import { tablesFor } from '../sql/definitions.ts';
import { readNumber, type Sql } from '../sql/query.ts';

/** Columns with text, or what is made of it. ANALYZE would copy samples of them into the server's own tables, where an erasure cannot reach them. */
export const UNSAMPLED = [
  ['cycles', 'title'],
  ['lines', 'message_id'],
  ['lines', 'name'],
  ['packs', 'data'],
  ['message_words', 'words'],
  ['message_words_captured', 'words'],
  ['settings', 'value'],
  ['choices', 'path'],
  ['choices', 'text'],
  ['batch_words', 'words'],
  ['speakers', 'name'],
  ['summaries', 'text'],
  ['captured_blocks', 'data'],
  ['message_vectors', 'vector'],
  ['batch_vectors', 'vector'],
] as const;

export function noSamples(table: string, column: string): string {
  return `ALTER TABLE ${table} ALTER COLUMN ${column} SET STATISTICS 0`;
}

/** Of the partition with the words of captured lines, which belong to no month. */
export const CAPTURED_MONTH = "DATE '0001-01-01'";

/** The large tables, which have a partition for each month in which something was stored. */
export const PARTITIONED = ['packs', 'blocks', 'lines', 'message_words'] as const;

/** A table that every month with partitions has. */
export function partitionName(table: (typeof PARTITIONED)[number], month: string): string {
  return `${table}_${month.slice(0, 7).replace('-', '_')}`;
}

/** The partitions of a month, where [name] is its part of their names, and [from] and [to] its first day and that of the next one. */
const PARTITIONS = PARTITIONED.flatMap((table) => {
  const name = `${table}_[name]`;
  const isNarrow = table === 'message_words'; // its rows are scanned, its words are not
  const withoutSamples = UNSAMPLED.filter(([of]) => of === table).map(([, column]) => noSamples(name, column));
  return [
    `CREATE TABLE IF NOT EXISTS ${name} PARTITION OF ${table} FOR VALUES FROM ('[from]') TO ('[to]')${isNarrow ? ' WITH (toast_tuple_target = 128)' : ''}`,
    ...withoutSamples,
    ...(table === 'packs' ? [`ALTER TABLE ${name} ALTER COLUMN data SET STORAGE EXTERNAL`] : []),
  ];
});

/** It waits for whoever changes the schema. */
const BODY = `
DECLARE one text; first date := date_trunc('month', added); BEGIN
PERFORM pg_advisory_xact_lock(hashtextextended('compact schema ' || current_schema(), 0)); FOREACH one IN ARRAY ARRAY[
${PARTITIONS.map((statement) => `$one$${statement}$one$`).join(',\n')}
] LOOP EXECUTE replace(replace(replace(one, '[name]', to_char(first, 'YYYY_MM')), '[from]', to_char(first, 'YYYY-MM-DD')), '[to]', to_char(first + interval '1 month', 'YYYY-MM-DD')); END LOOP; END`;

/** So that a hash is enough to know it. */
export const ADD_MONTH_SHA256 = createHash('sha256').update(BODY).digest('hex');

/** Only the owner of a table can add a partition, so whoever may store something calls this function, which runs as the owner. */
const ADD_MONTH = `
CREATE FUNCTION add_month(added date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = "[schema]", pg_temp AS $body$${BODY}$body$;
REVOKE ALL ON FUNCTION add_month(date) FROM PUBLIC;
`;

const HAS_TABLE = 'SELECT (to_regclass(:name) IS NOT NULL)::int AS found';

/** Gives a function that makes the partitions of a month ('YYYY-MM-01') and of the next one, unless they are there. */
export function createPartitions(sql: Sql): (month: string) => Promise<void> {
  const ready = new Set<string>();
  return async (month) => {
    if (ready.has(month)) return;
    const [year = 0, number = 1] = month.split('-').map(Number);
    // It gets its partitions too, ahead of time: making them waits for every transaction that stores something.
    const nextMonth = new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 10);
    for (const one of [month, nextMonth]) {
      const found = await readNumber(sql.query, HAS_TABLE, { name: partitionName('message_words', one) });
      if (found === 0) await sql.query('SELECT add_month(:month::date)', { month: one });
    }
    ready.add(month);
  };
}

const FIRST_SCHEMA = `
${tablesFor('postgres')}
-- What each message says; captured lines have negative ids. A huge one has several parts, because Postgres limits the size of a tsvector.
CREATE TABLE message_words (
  line_id bigint NOT NULL,
  month date NOT NULL,
  part int NOT NULL,
  words tsvector NOT NULL,
  PRIMARY KEY (line_id, part, month)
) PARTITION BY RANGE (month);
CREATE TABLE message_words_captured PARTITION OF message_words FOR VALUES FROM ('0001-01-01') TO ('0001-02-01') WITH (toast_tuple_target = 128);
-- A short list of new words that are not in the index proper, because every search reads it.
CREATE INDEX message_words_search ON message_words USING gin (words) WITH (gin_pending_list_limit = 256);

-- Words with their positions, for phrases. word_count: all of its words.
CREATE TABLE batch_words (
  batch_id bigint PRIMARY KEY REFERENCES batches ON DELETE CASCADE,
  word_count int NOT NULL,
  words tsvector NOT NULL
);
CREATE INDEX batch_words_search ON batch_words USING gin (words);

-- Compressed data is not compressed again.
ALTER TABLE captured_blocks ALTER COLUMN data SET STORAGE EXTERNAL;
${ADD_MONTH}`;

/** Step n leads from version n to n + 1. Never change a released step. */
export const MIGRATIONS: readonly string[] = [FIRST_SCHEMA];

/** The types of columns, by `table.column`. */
export const COLUMN_TYPES: ReadonlyMap<string, string> = new Map(
  [...FIRST_SCHEMA.matchAll(/^CREATE TABLE (\w+) \(\n([\s\S]*?)^\)/gm)].flatMap(([, table = '', body = '']) =>
    [...body.matchAll(/^ +"?(\w+)"? ([a-z]+)\b/gm)].map(
      ([, column = '', type = '']) => [`${table}.${column}`, type] as const,
    ),
  ),
);
