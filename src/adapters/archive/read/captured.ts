import type { CapturedFile, CapturedState, CaptureStore } from '../../../ports/captures.ts';
import { bytesIn, createBlockCache, tryDecompress } from '../blocks.ts';
import { archiveError, DamageError } from '../failure.ts';
import {
  hashLineHex,
  readBytes,
  readChange,
  readFields,
  readHash,
  readInteger,
  readMoment,
  readOptionalText,
  readText,
  readTexts,
  type Row,
} from '../rows.ts';
import type { Query, Sql } from '../sql/query.ts';

const STATE_COLUMNS =
  's.id AS state_id, v.version, v.change, s.size_bytes, s.sha256, s.captured_at_ms, s.mtime_ns, s.mode';
const SELECT_FILES = `
SELECT f.id, f.path, f.format, f.stamp, f.read_at_ms, f.sessions, ${STATE_COLUMNS}
FROM captured_files AS f JOIN captured_versions AS v ON v.id = (SELECT max(id) FROM captured_versions WHERE file_id = f.id)
  JOIN captured_states AS s ON s.id = (SELECT max(id) FROM captured_states WHERE version_id = v.id)`;
const FIND_FILE = `${SELECT_FILES} WHERE f.path = :path`;
const LIST_FILES = `${SELECT_FILES} ORDER BY f.path`;
const LIST_STATES = `
SELECT ${STATE_COLUMNS} FROM captured_versions AS v JOIN captured_states AS s ON s.version_id = v.id WHERE v.file_id = :fileId ORDER BY s.id`;
export const GET_STATE = 'SELECT version_id, size_bytes FROM captured_states WHERE id = :id';
const LIST_RUNS = `
SELECT position, first_line_id, line_count FROM captured_runs WHERE version_id = :versionId AND position > :position ORDER BY position LIMIT 1000`;
const LIST_LINES = `
SELECT l.id, l.block_id, l."offset", l.size_bytes, l.sha256, e.receipt, e.at_ms FROM captured_lines AS l LEFT JOIN erasures AS e ON e.id = l.erasure_id
WHERE l.id BETWEEN :first AND :last AND l.block_id = (SELECT block_id FROM captured_lines WHERE id = :first) ORDER BY l.id LIMIT 4096`;
const GET_SIZE = 'SELECT raw_size_bytes FROM captured_blocks WHERE id = :id';
const GET_BLOCK = 'SELECT raw_size_bytes, data FROM captured_blocks WHERE id = :id';

/** Finds and reads captured files. `path`: of the archive, for messages. */
export function createCapturedFiles({ query }: Pick<Sql, 'query'>, path: string) {
  return {
    find: async (filePath) => {
      const [row] = await query(FIND_FILE, { path: filePath });
      return row === undefined ? null : toFile(row);
    },
    list: async () => (await query(LIST_FILES)).map(toFile),
    listStates: async (fileId) => (await query(LIST_STATES, { fileId })).map(toState),
    read: (stateId) => readState(query, path, stateId),
  } satisfies Partial<CaptureStore>;
}

function toFile(row: Row): CapturedFile {
  const file = { id: readInteger, path: readText, format: readText, sessions: readTexts, stamp: readOptionalText };
  return { ...readFields(row, { ...file, readAt: readMoment }), last: toState(row) };
}

function toState(row: Row): CapturedState {
  const content = { sizeBytes: readInteger, sha256: readHash, capturedAt: readMoment };
  const mtimeNs = readOptionalText(row, 'mtime_ns');
  return {
    id: readInteger(row, 'state_id'),
    ...readFields(row, { version: readInteger, change: readChange, ...content }),
    marks: mtimeNs === null ? null : { mtimeNs, mode: readInteger(row, 'mode') },
  };
}

/** The bytes of a state of a captured file. The caller may stop at any time. Throws a `DamageError`. */
async function* readState(query: Query, path: string, id: number): AsyncGenerator<Uint8Array> {
  const [state] = await query(GET_STATE, { id });
  if (state === undefined) return;
  let left = readInteger(state, 'size_bytes');
  if (left === 0) return;
  for await (const bytes of readVersion(query, path, readInteger(state, 'version_id'))) {
    yield bytes.subarray(0, left);
    left -= bytes.length;
    if (left <= 0) return;
  }
  throw new DamageError(`${left} bytes of a captured file are missing`);
}

/** All bytes of a version, as many at once as lie together. Each line is checked against its hash. Throws a `DamageError`, or an `ArchiveError` if lines were erased. */
export async function* readVersion(query: Query, path: string, versionId: number): AsyncGenerator<Uint8Array> {
  for await (const { lines, raw } of readBlocksOf((work) => work(query), versionId)) {
    const erased = lines.find(isErased);
    if (erased !== undefined) {
      throw archiveError({ kind: 'erased', path, ...readFields(erased, { receipt: readText, at: readMoment }) });
    }
    yield checkCapturedRun(lines, raw);
  }
}

/** Whether the bytes of a line of `readBlocksOf` were erased, under its `receipt`. */
export const isErased = (line: Row): boolean => line['receipt'] !== null;

/**
 * The lines of a version, as many at once as follow each other in a block, and the bytes of the block. Each is read in one `step`, which may be a
 * transaction. Throws a `DamageError`.
 */
export async function* readBlocksOf(
  step: <T>(work: (query: Query) => Promise<T>) => Promise<T>,
  versionId: number,
): AsyncGenerator<{ readonly lines: readonly Row[]; readonly raw: Uint8Array }> {
  const readBlock = createBlockReader();
  for (let position = -1; ;) {
    const runs = await step((query) => query(LIST_RUNS, { versionId, position }));
    if (runs.length === 0) return;
    for (const run of runs) {
      position = readInteger(run, 'position');
      const first = readInteger(run, 'first_line_id');
      const last = first + readInteger(run, 'line_count') - 1;
      for (let id = first; id <= last;) {
        const found = await step(async (query) => {
          const lines = await query(LIST_LINES, { first: id, last });
          const missing = lines.findIndex((row, at) => readInteger(row, 'id') !== id + at);
          const [line] = lines;
          if (missing !== -1 || line === undefined)
            throw new DamageError(`captured line ${id + Math.max(0, missing)} is missing`);
          const blockId = readInteger(line, 'block_id');
          const left = lines.findLast((one) => !isErased(one)); // erased lines are no longer in their block
          const raw = left === undefined ? new Uint8Array() : await readBlock(query, blockId, endOf(left));
          if (raw === null) throw new DamageError(`block ${blockId} of captured lines cannot be decompressed`);
          return { lines, raw };
        });
        yield found;
        id += found.lines.length;
      }
    }
  }
}

/** Where a line ends in its block. */
export function endOf(line: Row): number {
  return readInteger(line, 'offset') + readInteger(line, 'size_bytes');
}

/**
 * Reads blocks of captured lines, and keeps the last few, because a fork alternates between few blocks. A block that has
 * grown or shrunk since is read again. Gives the lines of a block, which reach at least to `end`; null: the block is
 * missing, or cannot be decompressed.
 */
export function createBlockReader() {
  const recent = createBlockCache();
  return async (query: Query, id: number, end: number): Promise<Uint8Array | null> => {
    const known = recent.get(id);
    if (known === null) return null;
    if (known !== undefined && known.length >= end) {
      const [size] = await query(GET_SIZE, { id });
      if (size?.['raw_size_bytes'] === known.length) return known;
    }
    const [block] = await query(GET_BLOCK, { id });
    const raw = recent.add(id, tryUnpack(block));
    return raw === null || raw.length < end ? null : raw;
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

/** The bytes of lines that follow each other in a block. Checks each against its hash, and throws a `DamageError`. */
function checkCapturedRun(lines: readonly Row[], raw: Uint8Array): Uint8Array {
  const start = lines[0] === undefined ? 0 : readInteger(lines[0], 'offset');
  let end = start;
  for (const line of lines) {
    if (readInteger(line, 'offset') !== end)
      throw new DamageError(`captured line ${readInteger(line, 'id')} is not where it was stored`);
    end += takeCaptured(line, raw).length;
  }
  return raw.subarray(start, end);
}

/** The bytes of a captured line. Throws a `DamageError` if they differ from its hash. */
export function takeCaptured(line: Row, raw: Uint8Array): Uint8Array {
  const bytes = bytesIn(raw, line);
  if (hashLineHex(bytes) !== readHash(line, 'sha256'))
    throw new DamageError(`captured line ${readInteger(line, 'id')} differs from its hash`);
  return bytes;
}
