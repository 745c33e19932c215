/**
 * All tables of an archive but those of search, for both engines. Types are those of Postgres, and
 * - `identity`: an id that the engine gives out and never uses again: another process may still hold that of a discarded compaction
 * - `anytext`: text from outside. SQLite stores it as TEXT, or as a BLOB of UTF-16LE if it has lone surrogates (rows.ts); Postgres stores it
 *   escaped (postgres/sql.ts) and orders it by its bytes
 * - `keyed`: a table that is stored in the order of its primary key
 * - `log`: a table whose rows are only ever inserted; in Postgres, only the owner could do anything else
 * - `by month`: a large table, which Postgres divides by month. A foreign key to it would need the month in every referring row, so Postgres has
 *   no `soft` references: rows are deleted explicitly, and `archive check` looks for those that lead to nothing
 * - `unchecked`: no engine enforces the reference, because that would need an index as large as a fifth of the rows
 * - `deferred`: the reference is checked at the end of a transaction
 * - `sqlite:`, `postgres:`: only this engine has the line.
 *
 * Rows are deleted with the compaction, cycle, batch or block that they belong to (ON DELETE CASCADE).
 */
export const TABLES = `
-- Receipts. report: counts and hashes, as JSON. is_purged: 0 while the freed space still has the erased bytes, 2 while only the log has.
-- is_finished: 0 while a merge that brought it has not stored all that it erased.
CREATE TABLE erasures (
  id identity,
  receipt text NOT NULL UNIQUE,
  at_ms bigint NOT NULL,
  report anytext NOT NULL,
postgres: transaction xid8 NOT NULL DEFAULT pg_current_xact_id(), -- the one that erased
postgres: tables text[] NOT NULL DEFAULT '{}', -- they may still have the bytes, as may the partitions of the months
postgres: months date[] NOT NULL DEFAULT '{}',
  is_purged int NOT NULL CHECK (is_purged IN (0, 1, 2)),
  is_finished int NOT NULL DEFAULT 1 CHECK (is_finished IN (0, 1))
);

-- What people did to the archive as a whole. token: the same in every archive that has the row. details: counts, receipts, paths and reasons as JSON, and no text of conversations.
CREATE TABLE deeds (
  id identity,
  token text NOT NULL UNIQUE,
  done_at_ms bigint NOT NULL,
  user_name anytext NOT NULL,
  host anytext NOT NULL,
  version text NOT NULL,
  action text NOT NULL CHECK (action IN ('prune', 'erase', 'hold', 'release', 'merge', 'trust', 'remove', 'import')),
  details anytext NOT NULL
) log;

CREATE TABLE holds (
  id identity,
  kind text NOT NULL CHECK (kind IN ('conversation', 'source')),
  value anytext NOT NULL, -- of a source: a glob
  reason anytext,
  added_at_ms bigint NOT NULL,
  UNIQUE (kind, value)
);

-- What a person chose for a conversation for good. drop-rule: rules that contain the text are left out of the transcript with this path.
-- pin: the message with this id, or with this 'sha256:' of its line, stays word for word.
CREATE TABLE choices (
  kind text NOT NULL CHECK (kind IN ('drop-rule', 'pin')),
  conversation_id anytext NOT NULL,
  path anytext NOT NULL,
  text anytext NOT NULL,
  chosen_at_ms bigint NOT NULL,
  PRIMARY KEY (kind, conversation_id, path, text)
) keyed;

-- What results depend on, as JSON. Most compactions share it.
CREATE TABLE settings (
  id identity,
  sha256 bytea NOT NULL UNIQUE CHECK (length(sha256) = 32),
  value anytext NOT NULL
);

-- Of an erased one, only what is needed to recognize its output is left: no lines, and no texts.
CREATE TABLE compactions (
  id identity,
postgres: month date NOT NULL, -- of its partition in the large tables
  status text NOT NULL CHECK (status IN ('prepared', 'applied', 'erased')),
  format text NOT NULL,
  source_path anytext NOT NULL,
  output_path anytext, -- '': the same; null: standard output
  source_sha256 bytea NOT NULL CHECK (length(source_sha256) = 32),
  source_size_bytes bigint NOT NULL,
  source_line_count bigint NOT NULL,
  source_has_bom int NOT NULL CHECK (source_has_bom IN (0, 1)),
  output_sha256 bytea NOT NULL CHECK (length(output_sha256) = 32),
  output_size_bytes bigint NOT NULL,
  settings_id bigint NOT NULL unchecked REFERENCES settings,
  created_at_ms bigint NOT NULL,
  process_id bigint NOT NULL,
postgres: machine text NOT NULL, -- on which its paths name its files
  erasure_id bigint REFERENCES erasures -- the last that removed anything of it
);
sqlite: CREATE INDEX compactions_by_source ON compactions (substr(source_sha256, 1, 8));
postgres: CREATE INDEX compactions_by_source ON compactions USING hash (source_sha256);
postgres: CREATE INDEX compactions_by_path ON compactions (source_path);
CREATE INDEX compactions_prepared ON compactions (id) WHERE status = 'prepared';

CREATE TABLE cycles (
  id identity,
  compaction_id bigint NOT NULL REFERENCES compactions ON DELETE CASCADE,
  position int NOT NULL,
  conversation_id anytext NOT NULL,
  cycle int NOT NULL,
  parent_cycle_id bigint REFERENCES cycles,
  clip_sha256 bytea NOT NULL CHECK (length(clip_sha256) = 32),
  messages_compressed bigint NOT NULL,
  title anytext, -- of the session, with its first conversation; null: unknown, or the last one that this conversation had, or erased
  made_count int NOT NULL, -- so that a row that is gone is missed
  live_count int NOT NULL,
  UNIQUE (compaction_id, position)
);
sqlite: CREATE INDEX cycles_by_clip ON cycles (substr(clip_sha256, 1, 8));
postgres: CREATE INDEX cycles_by_clip ON cycles USING hash (clip_sha256);
CREATE INDEX cycles_by_conversation ON cycles (conversation_id);
CREATE INDEX cycles_by_parent ON cycles (parent_cycle_id) WHERE parent_cycle_id IS NOT NULL;

CREATE TABLE batches (
  id identity,
  cycle_id bigint NOT NULL REFERENCES cycles ON DELETE CASCADE,
  position int NOT NULL,
  label_end anytext NOT NULL, -- behind the id of the conversation (LABEL); '=' and the whole label if it begins otherwise. Unique in its conversation: an index would take as much room as the labels
  text_offset bigint NOT NULL, -- of its content among the texts of its compaction (texts.ts)
  text_size bigint NOT NULL, -- 0: erased
  content_sha256 bytea NOT NULL CHECK (length(content_sha256) = 32),
  depth int NOT NULL,
  start_ms bigint,
  end_ms bigint,
  message_count bigint NOT NULL,
  first_index bigint,
  last_index bigint,
  first_line_id bigint, -- the ids of the lines that it summarizes are in this range; null: they were archived before
  last_line_id bigint,
  level int NOT NULL CHECK (level BETWEEN 0 AND 3), -- plain, feedback, halved, fallback
  UNIQUE (cycle_id, position)
);

CREATE TABLE batch_sources (
  batch_id bigint NOT NULL REFERENCES batches ON DELETE CASCADE,
  position int NOT NULL,
  source_id bigint NOT NULL REFERENCES batches,
  PRIMARY KEY (batch_id, position)
) keyed;
CREATE INDEX batch_sources_by_source ON batch_sources (source_id);

-- The batches in a cycle's clip-archive. A fork of a compacted file has a list of its own, so "replaced" cannot be a flag of a batch.
CREATE TABLE live_batches (
  cycle_id bigint NOT NULL REFERENCES cycles ON DELETE CASCADE,
  position int NOT NULL,
  batch_id bigint NOT NULL REFERENCES batches,
  PRIMARY KEY (cycle_id, position)
) keyed;
CREATE INDEX live_batches_by_batch ON live_batches (batch_id);

-- What is compressed together: blocks of one compaction, or of many small ones. A pack never changes: what replaces it has another id.
postgres: CREATE SEQUENCE pack_ids;
CREATE TABLE packs (
sqlite: id identity,
postgres: id bigint NOT NULL DEFAULT nextval('pack_ids'),
postgres: month date NOT NULL,
  raw_size_bytes bigint NOT NULL,
sqlite: data bytea NOT NULL -- zstd
postgres: data bytea NOT NULL, -- zstd
postgres: PRIMARY KEY (id, month)
) by month;
CREATE INDEX packs_to_fill ON packs (raw_size_bytes) WHERE raw_size_bytes < 917504;

postgres: CREATE SEQUENCE block_ids;
CREATE TABLE blocks (
sqlite: id identity,
postgres: id bigint NOT NULL DEFAULT nextval('block_ids'),
postgres: month date NOT NULL,
  compaction_id bigint NOT NULL soft REFERENCES compactions ON DELETE CASCADE,
  position int NOT NULL, -- -1: its texts
  first_line bigint NOT NULL,
  first_line_id bigint, -- the ids of its lines are in this range; null: it has texts
  last_line_id bigint,
  pack_id bigint NOT NULL soft REFERENCES packs,
  pack_offset bigint NOT NULL,
  raw_size_bytes bigint NOT NULL,
sqlite: UNIQUE (compaction_id, position)
postgres: PRIMARY KEY (id, month),
postgres: UNIQUE (compaction_id, position, month)
) by month;
CREATE INDEX blocks_by_pack ON blocks (pack_id);

-- A summarized line belongs to a cycle through its batch; the others name the cycle. message_id is null where it is 'line:N'.
postgres: CREATE SEQUENCE line_ids;
CREATE TABLE lines (
sqlite: id identity,
postgres: id bigint NOT NULL DEFAULT nextval('line_ids'),
postgres: month date NOT NULL,
  block_id bigint NOT NULL unchecked REFERENCES blocks,
  line bigint NOT NULL,
  "offset" bigint NOT NULL,
  size_bytes bigint NOT NULL,
  outcome int NOT NULL CHECK (outcome BETWEEN 0 AND 2), -- summarized, other, quoted
  cycle_id bigint soft REFERENCES cycles,
  batch_id bigint unchecked REFERENCES batches,
  role int CHECK (role BETWEEN 0 AND 3), -- user, assistant, system, tool; null: no message
  at_ms bigint,
  message_index bigint,
  message_id anytext,
  name anytext,
  traits int NOT NULL CHECK (traits BETWEEN 0 AND 3), -- 1: ends as a question, 2: says when
  sha256 bytea NOT NULL CHECK (length(sha256) = 16), -- the first half (rows.ts)
  erasure_id bigint soft REFERENCES erasures, -- its bytes are gone from the block
postgres: PRIMARY KEY (id, month),
  CHECK (cycle_id IS NULL OR batch_id IS NULL)
) by month;
CREATE INDEX lines_by_cycle ON lines (cycle_id) WHERE cycle_id IS NOT NULL;
postgres: CREATE INDEX lines_by_message ON lines USING hash (message_id) WHERE message_id IS NOT NULL;

-- Lines of one block, from the first id to the last, whose messages the search index does not have yet. Captured lines have negative ids there.
CREATE TABLE unindexed_lines (
  first_id bigint PRIMARY KEY,
  last_id bigint NOT NULL,
  line_count bigint NOT NULL, -- archived: messages
  size_bytes bigint NOT NULL,
  file_id bigint -- captured_files; null: they are archived
) keyed;

CREATE TABLE carried_lines (
  cycle_id bigint NOT NULL REFERENCES cycles ON DELETE CASCADE,
  line_id bigint NOT NULL soft REFERENCES lines,
  batch_id bigint NOT NULL REFERENCES batches,
  PRIMARY KEY (cycle_id, line_id)
) keyed;
CREATE INDEX carried_lines_by_line ON carried_lines (line_id);
CREATE INDEX carried_lines_by_batch ON carried_lines (batch_id);

CREATE TABLE inserted_lines (
  compaction_id bigint NOT NULL REFERENCES compactions ON DELETE CASCADE,
  position int NOT NULL,
  before_line bigint NOT NULL,
  text_offset bigint NOT NULL, -- among the texts of its compaction
  text_size bigint NOT NULL,
  erased_sha256 bytea CHECK (length(erased_sha256) = 32), -- of an erased line, which has no bytes
  PRIMARY KEY (compaction_id, position)
) keyed;

CREATE TABLE kept_runs (
  compaction_id bigint NOT NULL REFERENCES compactions ON DELETE CASCADE,
  position int NOT NULL,
  first_line bigint NOT NULL,
  line_count bigint NOT NULL,
  size_bytes bigint NOT NULL,
  line_sha256 bytea NOT NULL CHECK (length(line_sha256) = 16 * line_count), -- the first halves
  PRIMARY KEY (compaction_id, position)
) keyed;

-- One invocation of the program. command: its command line without secrets; null: another program called it.
CREATE TABLE runs (
  id identity,
  token text NOT NULL UNIQUE,
  begun_at_ms bigint NOT NULL,
  user_name anytext NOT NULL,
  host anytext NOT NULL,
  version text NOT NULL,
  command anytext,
  undone_at_ms bigint -- when the run was undone, except the files that had to be left alone
);

-- The files that a run wrote. A stored compaction that is used again has several.
CREATE TABLE run_files (
  id identity,
  run_id bigint REFERENCES runs ON DELETE CASCADE, -- null: no run wrote it, but it was found to be an output
  compaction_id bigint NOT NULL REFERENCES compactions ON DELETE CASCADE,
  source_path anytext, -- null: both paths are those of the compaction
  output_path anytext, -- null: standard output
  undone_at_ms bigint
);
CREATE INDEX run_files_by_run ON run_files (run_id);
CREATE INDEX run_files_by_compaction ON run_files (compaction_id);

-- Names of those who spoke: users and assistants.
CREATE TABLE speakers (
  name anytext PRIMARY KEY
) keyed;

-- Summaries that were paid for, under the hash of the request.
CREATE TABLE summaries (
  request_sha256 bytea PRIMARY KEY CHECK (length(request_sha256) = 32),
  provider text NOT NULL,
  model anytext NOT NULL,
  text anytext NOT NULL,
  input_tokens bigint NOT NULL,
  cached_input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  created_at_ms bigint NOT NULL
) keyed;

-- What is known of batches at a provider: transcripts (by path), batches and requests (by hash). Never their text. value: JSON.
CREATE TABLE batch_records (
  kind text NOT NULL CHECK (kind IN ('file', 'batch', 'request')),
  key anytext NOT NULL,
  state text NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (kind, key)
) keyed;
CREATE INDEX batch_records_by_state ON batch_records (kind, state, key);

-- The model that made the vectors; those of another model are removed before its own come. The index over them (message_vector_search)
-- needs an extension and has the model's dimensions: it is made with the first vector.
CREATE TABLE vector_model (
  id bigint PRIMARY KEY CHECK (id = 1),
  provider anytext NOT NULL,
  model anytext NOT NULL,
  dimensions bigint NOT NULL CHECK (dimensions > 0)
);
-- A signed byte a number, the largest of them 127; null: there is no text.
CREATE TABLE message_vectors (
  line_id bigint PRIMARY KEY soft REFERENCES lines,
  vector bytea
);
CREATE TABLE batch_vectors (
  batch_id bigint PRIMARY KEY REFERENCES batches ON DELETE CASCADE,
  vector bytea
);

-- Whole files that were captured. stamp: what distinguished the file on disk when it was last read; null: read it again. sessions: the ids that
-- its records carry, a list in JSON.
CREATE TABLE captured_files (
  id identity,
  path anytext NOT NULL UNIQUE,
  format text NOT NULL,
  stamp text,
  read_at_ms bigint NOT NULL,
  sessions text NOT NULL DEFAULT '[]'
);

-- A version lasts until its file is rewritten, shortened or gone. While it only grows it gets states, each a beginning of its runs.
CREATE TABLE captured_versions (
  id identity,
  file_id bigint NOT NULL REFERENCES captured_files ON DELETE CASCADE,
  version int NOT NULL,
  change int NOT NULL CHECK (change BETWEEN 0 AND 4), -- new, rewritten, shortened, gone, returned
  UNIQUE (file_id, version)
);
CREATE TABLE captured_states (
  id identity,
  version_id bigint NOT NULL REFERENCES captured_versions ON DELETE CASCADE,
  size_bytes bigint NOT NULL,
  sha256 bytea NOT NULL CHECK (length(sha256) = 32),
  captured_at_ms bigint NOT NULL,
  mtime_ns text, -- of the file, and its permission bits
  mode int
);
CREATE INDEX captured_states_by_version ON captured_states (version_id);

-- The content of a version: captured lines with consecutive ids.
CREATE TABLE captured_runs (
  version_id bigint NOT NULL REFERENCES captured_versions ON DELETE CASCADE,
  position int NOT NULL,
  first_line_id bigint NOT NULL soft REFERENCES captured_lines,
  line_count bigint NOT NULL,
  PRIMARY KEY (version_id, position)
) keyed;
sqlite: CREATE INDEX captured_runs_by_line ON captured_runs (first_line_id);

-- The lines of a block have consecutive ids too. Lines are added to the last block as long as it is small.
CREATE TABLE captured_blocks (
sqlite: id identity,
postgres: id bigint PRIMARY KEY,
  first_line_id bigint NOT NULL UNIQUE,
  line_count bigint NOT NULL,
  raw_size_bytes bigint NOT NULL,
  data bytea NOT NULL -- zstd
);

-- Every line once, whichever files have it. The index has the beginning of the hash, which takes half of the room.
CREATE TABLE captured_lines (
sqlite: id identity,
postgres: id bigint PRIMARY KEY,
  block_id bigint NOT NULL REFERENCES captured_blocks deferred,
  "offset" bigint NOT NULL,
  size_bytes bigint NOT NULL,
  sha256 bytea NOT NULL CHECK (length(sha256) = 16),
  erasure_id bigint REFERENCES erasures -- its bytes are gone from the block
);
CREATE INDEX captured_lines_by_block ON captured_lines (block_id);

-- What the search index knows of captured lines that are messages. line_id: an archived line with the same bytes, which is found instead.
CREATE TABLE captured_messages (
  captured_id bigint PRIMARY KEY REFERENCES captured_lines ON DELETE CASCADE,
  line_id bigint soft REFERENCES lines,
  file_id bigint,
  role int CHECK (role BETWEEN 0 AND 3),
  at_ms bigint,
  name anytext,
  traits int NOT NULL CHECK (traits BETWEEN 0 AND 3)
) keyed;
CREATE INDEX captured_messages_by_line ON captured_messages (line_id) WHERE line_id IS NOT NULL;
sqlite: CREATE INDEX captured_lines_by_hash ON captured_lines (substr(sha256, 1, 8));
postgres: CREATE INDEX captured_lines_by_hash ON captured_lines USING hash (sha256);
postgres: -- The last ids that captures have used; they are never used again.
postgres: CREATE TABLE captured_ids (last_line_id bigint NOT NULL, last_block_id bigint NOT NULL);
postgres: INSERT INTO captured_ids VALUES (0, 0);

-- What each captured state of an erased file was, so that a merge recognizes it. origin_sha256: of the path and of the hash of the first line.
CREATE TABLE erased_states (
  id identity,
  sha256 bytea NOT NULL CHECK (length(sha256) = 32), -- of all bytes
  origin_sha256 bytea NOT NULL CHECK (length(origin_sha256) = 32),
  erasure_id bigint NOT NULL REFERENCES erasures,
  UNIQUE (sha256, origin_sha256, erasure_id)
);
CREATE INDEX erased_states_by_origin ON erased_states (origin_sha256);
`;
