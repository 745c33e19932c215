/** The tables of captured files: a part of version 1. */
export const CAPTURES_SCHEMA = `-- Whole files that were captured. stamp: what distinguished the file on disk when it was last read; null: read it again. sessions: the ids that
-- its records carry, a list in JSON.
CREATE TABLE captured_files (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  path ANY NOT NULL UNIQUE,
  format TEXT NOT NULL,
  stamp TEXT,
  read_at_ms INTEGER NOT NULL,
  sessions TEXT NOT NULL DEFAULT '[]'
) STRICT;

-- A version lasts until its file is rewritten, shortened or gone. While it only grows it gets states, each a beginning of its runs.
CREATE TABLE captured_versions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  file_id INTEGER NOT NULL REFERENCES captured_files ON DELETE CASCADE,
  version INTEGER NOT NULL,
  change INTEGER NOT NULL CHECK (change BETWEEN 0 AND 4), -- new, rewritten, shortened, gone, returned
  UNIQUE (file_id, version)
) STRICT;
CREATE TABLE captured_states (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  version_id INTEGER NOT NULL REFERENCES captured_versions ON DELETE CASCADE,
  size_bytes INTEGER NOT NULL,
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
  captured_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX captured_states_by_version ON captured_states (version_id);

-- The content of a version: captured lines with consecutive ids.
CREATE TABLE captured_runs (
  version_id INTEGER NOT NULL REFERENCES captured_versions ON DELETE CASCADE,
  position INTEGER NOT NULL,
  first_line_id INTEGER NOT NULL REFERENCES captured_lines,
  line_count INTEGER NOT NULL,
  PRIMARY KEY (version_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX captured_runs_by_line ON captured_runs (first_line_id);

-- The lines of a block have consecutive ids too. Lines are added to the last block as long as it is small.
CREATE TABLE captured_blocks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  first_line_id INTEGER NOT NULL UNIQUE,
  line_count INTEGER NOT NULL,
  raw_size_bytes INTEGER NOT NULL,
  data BLOB NOT NULL -- zstd
) STRICT;

-- Every line once, whichever files have it. The index has the beginning of the hash, which takes a third of the room.
CREATE TABLE captured_lines (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  block_id INTEGER NOT NULL REFERENCES captured_blocks,
  offset INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
  erasure_id INTEGER REFERENCES erasures -- its bytes are gone from the block
) STRICT;
CREATE INDEX captured_lines_by_block ON captured_lines (block_id);
CREATE INDEX captured_lines_by_hash ON captured_lines (substr(sha256, 1, 8));

-- What each captured state of an erased file was, so that a merge recognizes it. origin_sha256: of the path and of the hash of the first line.
CREATE TABLE erased_states (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  sha256 BLOB NOT NULL CHECK (length(sha256) = 32), -- of all bytes
  origin_sha256 BLOB NOT NULL CHECK (length(origin_sha256) = 32),
  erasure_id INTEGER NOT NULL REFERENCES erasures,
  UNIQUE (sha256, origin_sha256, erasure_id)
) STRICT;
CREATE INDEX erased_states_by_origin ON erased_states (origin_sha256);
`;
