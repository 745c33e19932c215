import { tablesFor } from '../sql/definitions.ts';
import { ADD_MONTH } from './months.ts';

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
