import { tablesFor } from '../sql/tables.ts';

const FIRST_SCHEMA = `
${tablesFor('postgres')}
-- What each message says. A huge one has several parts, because Postgres limits the size of a tsvector.
CREATE TABLE message_words (
  line_id bigint NOT NULL,
  month date NOT NULL,
  part int NOT NULL,
  words tsvector NOT NULL,
  PRIMARY KEY (line_id, part, month)
) PARTITION BY RANGE (month);
-- Made from message_words (word-hits.ts): the messages of a compaction that have a word. A GIN index would lead to a row for each
-- message, and reading so many rows takes most of a search. lines: two bytes each, to be added to the base.
CREATE TABLE word_lines (
  compaction_id bigint NOT NULL,
  base bigint NOT NULL,
  month date NOT NULL,
  word text COLLATE "C" NOT NULL,
  lines bytea NOT NULL
) PARTITION BY RANGE (month);
CREATE INDEX word_lines_by_word ON word_lines (word);
CREATE INDEX word_lines_by_compaction ON word_lines (compaction_id);

-- Words with their positions, for phrases. word_count: all of its words.
CREATE TABLE batch_words (
  batch_id bigint PRIMARY KEY REFERENCES batches ON DELETE CASCADE,
  word_count int NOT NULL,
  words tsvector NOT NULL
);
CREATE INDEX batch_words_search ON batch_words USING gin (words);
-- The same words, with how often the batch has each.
CREATE TABLE batch_terms (
  batch_id bigint NOT NULL REFERENCES batch_words ON DELETE CASCADE,
  count int NOT NULL,
  word text COLLATE "C" NOT NULL
);
CREATE INDEX batch_terms_by_word ON batch_terms (word);
CREATE INDEX batch_terms_by_batch ON batch_terms (batch_id);

-- Compressed data is not compressed again.
ALTER TABLE inserted_lines ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE captured_blocks ALTER COLUMN data SET STORAGE EXTERNAL;
`;

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
