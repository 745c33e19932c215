import { hash } from 'node:crypto';
import type { CapturedFile, CapturedState, CaptureStore } from '../../../ports/captures.ts';
import { createBlockCache, tryDecompress } from '../blocks.ts';
import { archiveError, DamageError } from '../failure.ts';
import {
  CHANGES,
  readHash,
  readInteger,
  readOptionalText,
  readText,
  readTexts,
  readTime,
  type Row,
  readBytes,
} from '../rows.ts';
import type { Query, Sql } from '../sql/query.ts';
import { findMarks } from './compactions.ts';

const STATE_COLUMNS = 's.id AS state_id, v.version, v.change, s.size_bytes, s.sha256, s.captured_at_ms';
const SELECT_FILES = `
SELECT f.id, f.path, f.format, f.stamp, f.read_at_ms, f.sessions, ${STATE_COLUMNS}
FROM captured_files AS f JOIN captured_versions AS v ON v.id = (SELECT max(id) FROM captured_versions WHERE file_id = f.id)
  JOIN captured_states AS s ON s.id = (SELECT max(id) FROM captured_states WHERE version_id = v.id)`;
const FIND_FILE = `${SELECT_FILES} WHERE f.path = :path`;
const LIST_FILES = `${SELECT_FILES} ORDER BY f.path`;
const LIST_STATES = `
SELECT ${STATE_COLUMNS} FROM captured_versions AS v JOIN captured_states AS s ON s.version_id = v.id WHERE v.file_id = :fileId ORDER BY s.id`;
const GET_STATE = 'SELECT version_id, size_bytes FROM captured_states WHERE id = :id';
const LIST_RUNS = `
SELECT position, first_line_id, line_count FROM captured_runs WHERE version_id = :versionId AND position > :position ORDER BY position LIMIT 1000`;
const LIST_LINES = `
SELECT id, block_id, "offset", size_bytes, sha256, erasure_id FROM captured_lines WHERE id BETWEEN :first AND :last ORDER BY id LIMIT 4096`;
const GET_SIZE = 'SELECT raw_size_bytes FROM captured_blocks WHERE id = :id';
const GET_BLOCK = 'SELECT raw_size_bytes, data FROM captured_blocks WHERE id = :id';

type Source = Pick<Sql, 'query' | 'dialect'>;

type CapturedFiles = Pick<CaptureStore, 'find' | 'list' | 'listStates' | 'read'>;

/** Finds and reads captured files. `path`: of the archive, for messages. */
export function createCapturedFiles(source: Source, path: string): CapturedFiles {
  const { query } = source;
  return {
    find: async (filePath) => {
      const [row] = await query(FIND_FILE, { path: filePath });
      return row === undefined ? null : toFile(row);
    },
    list: async () => (await query(LIST_FILES)).map(toFile),
    listStates: async (fileId) => (await query(LIST_STATES, { fileId })).map(toState),
    read: (stateId) => readState(source, path, stateId),
  };
}

function toFile(row: Row): CapturedFile {
  return {
    id: readInteger(row, 'id'),
    path: readText(row, 'path'),
    format: readText(row, 'format'),
    sessions: readTexts(row, 'sessions'),
    stamp: readOptionalText(row, 'stamp'),
    readAt: readTime(row, 'read_at_ms') ?? new Date(Number.NaN),
    last: toState(row),
  };
}

export function toState(row: Row): CapturedState {
  const change = CHANGES[readInteger(row, 'change')];
  if (change === undefined) throw new DamageError("a captured version's change is not what was stored");
  return {
    id: readInteger(row, 'state_id'),
    version: readInteger(row, 'version'),
    change,
    sizeBytes: readInteger(row, 'size_bytes'),
    sha256: readHash(row, 'sha256'),
    capturedAt: readTime(row, 'captured_at_ms') ?? new Date(Number.NaN),
  };
}

/** The bytes of a state of a captured file. The caller may stop at any time. Throws a `DamageError`. */
async function* readState(source: Source, path: string, id: number): AsyncGenerator<Uint8Array> {
  const [state] = await source.query(GET_STATE, { id });
  if (state === undefined) return;
  let left = readInteger(state, 'size_bytes');
  if (left === 0) return;
  for await (const bytes of readVersion(source, path, readInteger(state, 'version_id'))) {
    yield bytes.subarray(0, left);
    left -= bytes.length;
    if (left <= 0) return;
  }
  throw new DamageError(`${left} bytes of a captured file are missing`);
}

/** All bytes of a version, as many at once as lie together. Each line is checked against its hash. Throws a `DamageError`, or an `ArchiveError` if lines were erased. */
export async function* readVersion(
  { query, dialect }: Source,
  path: string,
  versionId: number,
): AsyncGenerator<Uint8Array> {
  const readBlock = createBlockReader(query);
  async function* readRun(firstId: number, lineCount: number): AsyncGenerator<Uint8Array> {
    const last = firstId + lineCount - 1;
    for (let id = firstId; id <= last;) {
      const rows = await query(LIST_LINES, { first: id, last });
      const [mark] = (await findMarks(query, dialect, rows)).values();
      if (mark !== undefined) throw archiveError({ kind: 'erased', path, ...mark });
      for (const [blockId, lines] of Map.groupBy(rows, (row) => readInteger(row, 'block_id'))) {
        const raw = await readBlock(blockId, endOf(lines));
        if (raw === null) throw new DamageError(`block ${blockId} of captured lines cannot be decompressed`);
        yield checkCapturedRun(lines, { firstId: id, raw });
        id += lines.length;
      }
      if (rows.length === 0) throw new DamageError(`captured line ${id} is missing`);
    }
  }
  let position = -1;
  for (;;) {
    const rows = await query(LIST_RUNS, { versionId, position });
    for (const row of rows) {
      position = readInteger(row, 'position');
      yield* readRun(readInteger(row, 'first_line_id'), readInteger(row, 'line_count'));
    }
    if (rows.length === 0) return;
  }
}

function endOf(lines: readonly Row[]): number {
  const last = lines.at(-1);
  return last === undefined ? 0 : readInteger(last, 'offset') + readInteger(last, 'size_bytes');
}

/** The lines of a block, which reach at least to `end`; null: the block is missing, or cannot be decompressed. */
type BlockReader = (id: number, end: number) => Promise<Uint8Array | null>;

/**
 * Reads blocks of captured lines, and keeps the last few, because a fork alternates between few blocks. A block that has
 * grown or shrunk since is read again.
 */
export function createBlockReader(query: Query): BlockReader {
  const recent = createBlockCache();
  return async (id, end) => {
    const known = recent.get(id);
    if (known === null) return null;
    if (known !== undefined && known.length >= end) {
      const [size] = await query(GET_SIZE, { id });
      if (size?.['raw_size_bytes'] === known.length) return known;
    }
    const [block] = await query(GET_BLOCK, { id });
    return recent.add(id, tryUnpack(block));
  };
}

/** The lines of a row of captured_blocks; null: it is missing, or cannot be decompressed. */
export function tryUnpack(block: Row | undefined): Uint8Array | null {
  return block === undefined ? null : tryDecompress(readBytes(block, 'data'), readInteger(block, 'raw_size_bytes'));
}

/** The lines of a row of captured_blocks. Throws a `DamageError`. */
export function unpackCaptured(block: Row): Uint8Array {
  const raw = tryUnpack(block);
  if (raw !== null && raw.length === block['raw_size_bytes']) return raw;
  throw new DamageError(`block ${readInteger(block, 'id')} of captured lines cannot be decompressed`);
}

/**
 * The bytes of lines that follow each other in a block. `firstId`: of the first line. Checks each against its hash, and
 * throws a `DamageError`.
 */
function checkCapturedRun(
  lines: readonly Row[],
  { firstId, raw }: { readonly firstId: number; readonly raw: Uint8Array },
): Uint8Array {
  const start = lines[0] === undefined ? 0 : readInteger(lines[0], 'offset');
  let end = start;
  for (const [at, line] of lines.entries()) {
    const [id, offset] = [firstId + at, end];
    if (readInteger(line, 'id') !== id) throw new DamageError(`captured line ${id} is missing`);
    if (readInteger(line, 'offset') !== offset) throw new DamageError(`captured line ${id} is not where it was stored`);
    end += readInteger(line, 'size_bytes');
    if (hash('sha256', raw.subarray(offset, end)) !== readHash(line, 'sha256'))
      throw new DamageError(`captured line ${id} differs from its hash`);
  }
  return raw.subarray(start, end);
}
