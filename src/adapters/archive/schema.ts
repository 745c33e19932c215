import type Database from 'better-sqlite3';
import { CAPTURES_SCHEMA } from './captures-schema.ts';

/** `PRAGMA application_id` of an archive: the letters "cmpt". */
export const APPLICATION_ID = 0x63_6d_70_74;

/**
 * Version 1. Text from outside is stored in columns of type ANY: as TEXT, or as a BLOB of UTF-16LE if it has lone
 * surrogates (rows.ts). Ids are never reused (AUTOINCREMENT), because another process may still hold the id of a
 * discarded compaction. Rows are deleted with the compaction, cycle, batch or block that they belong to (ON DELETE
 * CASCADE), so a new table of such rows is declared only here.
 */
const FIRST_SCHEMA = `
PRAGMA application_id = ${APPLICATION_ID};

-- Receipts. report: counts and hashes, as JSON. is_purged: 0 while the freed space still has the erased bytes, 2 while only the log has.
-- is_finished: 0 while a merge that brought it has not stored all that it erased.
CREATE TABLE erasures (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  receipt TEXT NOT NULL UNIQUE,
  at_ms INTEGER NOT NULL,
  report ANY NOT NULL,
  is_purged INTEGER NOT NULL CHECK (is_purged IN (0, 1, 2)),
  is_finished INTEGER NOT NULL DEFAULT 1 CHECK (is_finished IN (0, 1))
) STRICT;

CREATE TABLE holds (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('conversation', 'source')),
  value ANY NOT NULL, -- of a source: a glob
  reason ANY,
  added_at_ms INTEGER NOT NULL,
  UNIQUE (kind, value)
) STRICT;

-- Rules of a conversation that contain the text are left out of the transcript with this path for good.
CREATE TABLE dropped_rules (
  conversation_id ANY NOT NULL,
  path ANY NOT NULL,
  text ANY NOT NULL,
  dropped_at_ms INTEGER NOT NULL,
  PRIMARY KEY (conversation_id, path, text)
) STRICT, WITHOUT ROWID;

-- Of an erased one, only what is needed to recognize its output is left: no lines, and no texts.
CREATE TABLE compactions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  status TEXT NOT NULL CHECK (status IN ('prepared', 'applied', 'erased')),
  format TEXT NOT NULL,
  source_path ANY NOT NULL,
  output_path ANY,
  source_sha256 BLOB NOT NULL CHECK (length(source_sha256) = 32),
  source_size_bytes INTEGER NOT NULL,
  source_line_count INTEGER NOT NULL,
  source_has_bom INTEGER NOT NULL CHECK (source_has_bom IN (0, 1)),
  output_sha256 BLOB NOT NULL CHECK (length(output_sha256) = 32),
  output_size_bytes INTEGER NOT NULL,
  settings_sha256 BLOB NOT NULL CHECK (length(settings_sha256) = 32),
  settings ANY NOT NULL,
  created_at_ms INTEGER NOT NULL,
  process_id INTEGER NOT NULL,
  erasure_id INTEGER REFERENCES erasures -- the last that removed anything of it
) STRICT;
CREATE INDEX compactions_by_source ON compactions (source_sha256, settings_sha256);
CREATE INDEX compactions_prepared ON compactions (id) WHERE status = 'prepared';

CREATE TABLE cycles (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  compaction_id INTEGER NOT NULL REFERENCES compactions ON DELETE CASCADE,
  position INTEGER NOT NULL,
  conversation_id ANY NOT NULL,
  cycle INTEGER NOT NULL,
  parent_cycle_id INTEGER REFERENCES cycles,
  clip_sha256 BLOB NOT NULL CHECK (length(clip_sha256) = 32),
  messages_compressed INTEGER NOT NULL,
  made_count INTEGER NOT NULL, -- so that a row that is gone is missed
  live_count INTEGER NOT NULL,
  UNIQUE (compaction_id, position)
) STRICT;
CREATE INDEX cycles_by_clip ON cycles (clip_sha256);
CREATE INDEX cycles_by_conversation ON cycles (conversation_id);
CREATE INDEX cycles_by_parent ON cycles (parent_cycle_id) WHERE parent_cycle_id IS NOT NULL;

CREATE TABLE batches (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  cycle_id INTEGER NOT NULL REFERENCES cycles ON DELETE CASCADE,
  position INTEGER NOT NULL,
  label TEXT NOT NULL UNIQUE,
  content ANY NOT NULL, -- empty: erased
  content_sha256 BLOB NOT NULL CHECK (length(content_sha256) = 32),
  depth INTEGER NOT NULL,
  start_ms INTEGER,
  end_ms INTEGER,
  message_count INTEGER NOT NULL,
  first_index INTEGER,
  last_index INTEGER,
  level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 3), -- plain, feedback, halved, fallback
  UNIQUE (cycle_id, position)
) STRICT;

CREATE TABLE batch_sources (
  batch_id INTEGER NOT NULL REFERENCES batches ON DELETE CASCADE,
  position INTEGER NOT NULL,
  source_id INTEGER NOT NULL REFERENCES batches,
  PRIMARY KEY (batch_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX batch_sources_by_source ON batch_sources (source_id);

-- The batches in a cycle's clip-archive. A fork of a compacted file has a list of its own, so "replaced" cannot be a flag of a batch.
CREATE TABLE live_batches (
  cycle_id INTEGER NOT NULL REFERENCES cycles ON DELETE CASCADE,
  position INTEGER NOT NULL,
  batch_id INTEGER NOT NULL REFERENCES batches,
  PRIMARY KEY (cycle_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX live_batches_by_batch ON live_batches (batch_id);

CREATE TABLE blocks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  compaction_id INTEGER NOT NULL REFERENCES compactions ON DELETE CASCADE,
  position INTEGER NOT NULL,
  first_line INTEGER NOT NULL,
  raw_size_bytes INTEGER NOT NULL,
  data BLOB NOT NULL, -- zstd
  UNIQUE (compaction_id, position)
) STRICT;

-- A summarized line belongs to a cycle through its batch; the others name the cycle. message_id is null where it is 'line:N'.
CREATE TABLE lines (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  block_id INTEGER NOT NULL REFERENCES blocks ON DELETE CASCADE,
  line INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  fate INTEGER NOT NULL CHECK (fate BETWEEN 0 AND 2), -- summarized, other, survived
  cycle_id INTEGER REFERENCES cycles,
  batch_id INTEGER REFERENCES batches,
  role INTEGER CHECK (role BETWEEN 0 AND 3), -- user, assistant, system, tool; null: no message
  at_ms INTEGER,
  message_index INTEGER,
  message_id ANY,
  name ANY,
  traits INTEGER NOT NULL CHECK (traits BETWEEN 0 AND 3), -- 1: ends as a question, 2: says when
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
  erasure_id INTEGER REFERENCES erasures, -- its bytes are gone from the block
  UNIQUE (block_id, line),
  CHECK (cycle_id IS NULL OR batch_id IS NULL)
) STRICT;
CREATE INDEX lines_by_batch ON lines (batch_id) WHERE batch_id IS NOT NULL;
CREATE INDEX lines_by_cycle ON lines (cycle_id) WHERE cycle_id IS NOT NULL;

CREATE TABLE carried_lines (
  cycle_id INTEGER NOT NULL REFERENCES cycles ON DELETE CASCADE,
  line_id INTEGER NOT NULL REFERENCES lines,
  batch_id INTEGER NOT NULL REFERENCES batches,
  PRIMARY KEY (cycle_id, line_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX carried_lines_by_line ON carried_lines (line_id);
CREATE INDEX carried_lines_by_batch ON carried_lines (batch_id);

CREATE TABLE inserted_lines (
  id INTEGER PRIMARY KEY,
  compaction_id INTEGER NOT NULL REFERENCES compactions ON DELETE CASCADE,
  position INTEGER NOT NULL,
  before_line INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  raw_size INTEGER CHECK (raw_size > 0), -- of a line that is compressed (zstd) the bytes that it had; null: it is not
  erased_sha256 BLOB CHECK (length(erased_sha256) = 32), -- of an erased line, which has no bytes
  UNIQUE (compaction_id, position)
) STRICT;

CREATE TABLE kept_runs (
  id INTEGER PRIMARY KEY,
  compaction_id INTEGER NOT NULL REFERENCES compactions ON DELETE CASCADE,
  position INTEGER NOT NULL,
  first_line INTEGER NOT NULL,
  line_count INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  line_sha256 BLOB NOT NULL CHECK (length(line_sha256) = 32 * line_count),
  UNIQUE (compaction_id, position)
) STRICT;

-- One invocation of the program.
CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  token TEXT NOT NULL UNIQUE,
  begun_at_ms INTEGER NOT NULL,
  undone_at_ms INTEGER -- when the run was undone, except the files that had to be left alone
) STRICT;

-- The files that a run wrote. A stored compaction that is used again has several.
CREATE TABLE run_files (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER REFERENCES runs ON DELETE CASCADE, -- null: no run wrote it, but it was found to be an output
  compaction_id INTEGER NOT NULL REFERENCES compactions ON DELETE CASCADE,
  source_path ANY NOT NULL,
  output_path ANY, -- null: standard output
  undone_at_ms INTEGER
) STRICT;
CREATE INDEX run_files_by_run ON run_files (run_id);
CREATE INDEX run_files_by_compaction ON run_files (compaction_id);

-- Their rowids are the ids of lines and of batches. Of a message only the words are kept, not where they are: a quarter of the room.
CREATE VIRTUAL TABLE message_search
  USING fts5 (text, content = '', contentless_delete = 1, detail = none, tokenize = 'porter unicode61');
INSERT INTO message_search (message_search, rank) VALUES ('hashsize', ${16 * 1024 * 1024}); -- fewer pieces, each with its own words
CREATE VIRTUAL TABLE batch_search
  USING fts5 (content, content = '', contentless_delete = 1, detail = full, tokenize = 'porter unicode61');

-- Names of those who spoke: users and assistants.
CREATE TABLE speakers (name ANY PRIMARY KEY) STRICT, WITHOUT ROWID;

-- Summaries that were paid for, under the hash of the request.
CREATE TABLE summaries (
  request_sha256 BLOB PRIMARY KEY CHECK (length(request_sha256) = 32),
  provider TEXT NOT NULL,
  model ANY NOT NULL,
  text ANY NOT NULL,
  input_tokens INTEGER NOT NULL,
  cached_input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What is known of batches at a provider: transcripts (by path), batches and requests (by hash). Never their text. value: JSON.
CREATE TABLE batch_records (
  kind TEXT NOT NULL CHECK (kind IN ('file', 'batch', 'request')),
  key ANY NOT NULL,
  state TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX batch_records_by_state ON batch_records (kind, state);

-- The model that made the vectors; those of another model are removed before its own come. The index over them (message_vector_search)
-- needs an extension and has the model's dimensions: it is made with the first vector.
CREATE TABLE vector_model (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  provider ANY NOT NULL,
  model ANY NOT NULL,
  dimensions INTEGER NOT NULL CHECK (dimensions > 0)
) STRICT;
-- A signed byte a number, the largest of them 127; null: there is no text.
CREATE TABLE message_vectors (line_id INTEGER PRIMARY KEY REFERENCES lines, vector BLOB) STRICT;
CREATE TABLE batch_vectors (batch_id INTEGER PRIMARY KEY REFERENCES batches, vector BLOB) STRICT;

${CAPTURES_SCHEMA}`;

/**
 * Step n leads from schema version n to n + 1. Never change a released step; fixtures/archives has an archive of each
 * version, written by the program of its time.
 */
export const MIGRATIONS: readonly string[] = [FIRST_SCHEMA];

export const SCHEMA_VERSION = MIGRATIONS.length;

export function readSchemaVersion(db: Database.Database): number {
  return Number(db.pragma('user_version', { simple: true }));
}

/**
 * Brings the schema up to date. Each step and its number are one transaction, so that a step is applied completely and
 * only once.
 */
export function migrate(db: Database.Database, migrations: readonly string[] = MIGRATIONS): void {
  const step = db.transaction((): boolean => {
    const version = readSchemaVersion(db);
    const sql = migrations[version];
    if (sql === undefined) return false;
    db.exec(sql);
    db.pragma(`user_version = ${version + 1}`);
    return true;
  });
  if (readSchemaVersion(db) >= migrations.length) return;
  while (step.immediate()) continue;
}
