import { tryUnpack, toState } from '../read/captured.ts';
import { hash } from 'node:crypto';
import type {
  CapturedPiece,
  CaptureReader,
  ErasedState,
  ExchangedCapture,
  ExchangedState,
} from '../../../ports/exchange.ts';
import { createBlockCache } from '../blocks.ts';
import { buildOrigin } from '../erase/captures.ts';
import { DamageError } from '../failure.ts';
import { hashColumn, readHash, readInteger, readOptionalText, readText, readTexts, type Row } from '../rows.ts';
import type { Query } from '../sql/query.ts';
import { listPages } from './read-units.ts';

const LIST_FILES =
  'SELECT id, path, format, stamp, read_at_ms, sessions FROM captured_files WHERE id > :after ORDER BY id LIMIT 500';
const FIND_FILE = 'SELECT id, path, format, stamp, read_at_ms, sessions FROM captured_files WHERE path = :path';
const LIST_STATES = `
SELECT s.id AS state_id, v.version, v.change, s.size_bytes, s.sha256, s.captured_at_ms
FROM captured_versions AS v JOIN captured_states AS s ON s.version_id = v.id WHERE v.file_id = :id ORDER BY s.id`;
const LIST_RUNS = `
SELECT r.position, r.first_line_id, r.line_count FROM captured_files AS f JOIN captured_versions AS v ON v.file_id = f.id
JOIN captured_runs AS r ON r.version_id = v.id
WHERE f.path = :path AND v.version = :version AND r.position > :position ORDER BY r.position LIMIT 1000`;
const LIST_LINES = `
SELECT l.id, l.block_id, l."offset", l.size_bytes, l.sha256, e.receipt FROM captured_lines AS l LEFT JOIN erasures AS e ON e.id = l.erasure_id
WHERE l.id BETWEEN :first AND :last ORDER BY l.id LIMIT 1000`;
const GET_BLOCK = 'SELECT raw_size_bytes, data FROM captured_blocks WHERE id = :id';
const MAX_PLACES = 100;
const PLACES = Array.from({ length: MAX_PLACES }, (_, at) => at);
const FIND_HASHES = `
SELECT DISTINCT sha256 FROM captured_lines WHERE substr(sha256, 1, 8) IN (${PLACES.map((at) => `:start${at}`).join()})
AND sha256 IN (${PLACES.map((at) => `:sha${at}`).join()}) AND erasure_id IS NULL`;
const LIST_FILES_WITH = `
SELECT DISTINCT f.path FROM captured_lines AS l JOIN captured_runs AS r ON r.first_line_id <= l.id AND r.first_line_id + r.line_count > l.id
JOIN captured_versions AS v ON v.id = r.version_id JOIN captured_files AS f ON f.id = v.file_id
WHERE substr(l.sha256, 1, 8) = :start AND l.sha256 = :sha256 AND l.erasure_id IS NULL`;
const LIST_ERASED = `
SELECT s.id, s.sha256, s.origin_sha256, e.receipt FROM erased_states AS s JOIN erasures AS e ON e.id = s.erasure_id
WHERE s.id > :after ORDER BY s.id LIMIT 1000`;
const FIND_ERASED = `
SELECT s.sha256, s.origin_sha256, e.receipt FROM erased_states AS s JOIN erasures AS e ON e.id = s.erasure_id
WHERE s.sha256 = :sha256 OR s.origin_sha256 = :origin`;
const HAS_STATE = 'SELECT 1 AS found FROM captured_states WHERE sha256 = :sha256 LIMIT 1';
const GET_FIRST = `
SELECT l.sha256 FROM captured_files AS f JOIN captured_versions AS v ON v.file_id = f.id
JOIN captured_runs AS r ON r.version_id = v.id AND r.position = 0 JOIN captured_lines AS l ON l.id = r.first_line_id
WHERE f.path = :path AND v.version = :version`;

/** Reads whole captured files. */
export function createCaptureReader(query: Query): CaptureReader {
  const recent = createBlockCache();
  const readBlock = async (id: number): Promise<Uint8Array> => {
    const raw = recent.get(id) ?? recent.add(id, tryUnpack((await query(GET_BLOCK, { id }))[0]));
    if (raw === null) throw new DamageError(`block ${id} of captured lines cannot be decompressed`);
    return raw;
  };
  const toPiece = async (row: Row): Promise<CapturedPiece> => {
    const [sha256, sizeBytes, receipt] = [
      readHash(row, 'sha256'),
      readInteger(row, 'size_bytes'),
      readOptionalText(row, 'receipt'),
    ];
    if (receipt !== null) return { sha256, sizeBytes, receipt, bytes: null };
    const offset = readInteger(row, 'offset');
    const bytes = (await readBlock(readInteger(row, 'block_id'))).subarray(offset, offset + sizeBytes);
    if (hash('sha256', bytes) !== sha256)
      throw new DamageError(`captured line ${readInteger(row, 'id')} differs from its hash`);
    return { sha256, sizeBytes, receipt, bytes };
  };
  const readFile = async (row: Row): Promise<ExchangedCapture> => ({
    path: readText(row, 'path'),
    format: readText(row, 'format'),
    sessions: readTexts(row, 'sessions'),
    stamp: readOptionalText(row, 'stamp'),
    readAtMs: readInteger(row, 'read_at_ms'),
    states: (await query(LIST_STATES, { id: readInteger(row, 'id') })).map(toExchanged),
  });

  async function* linesOf(path: string, version: number): AsyncGenerator<readonly Row[]> {
    for (let position = -1; ;) {
      const runs = await query(LIST_RUNS, { path, version, position });
      if (runs.length === 0) return;
      for (const run of runs) {
        position = readInteger(run, 'position');
        const first = readInteger(run, 'first_line_id');
        const last = first + readInteger(run, 'line_count') - 1;
        for (let id = first; id <= last;) {
          const rows = await query(LIST_LINES, { first: id, last });
          if (rows.length === 0) throw new DamageError(`captured line ${id} is missing`);
          yield rows;
          id += rows.length;
        }
      }
    }
  }

  return {
    findLines: async (sha256s) => {
      const found = new Set<string>();
      for (let first = 0; first < sha256s.length; first += MAX_PLACES) {
        const hashes = sha256s.slice(first, first + MAX_PLACES).map(hashColumn);
        const places = PLACES.flatMap((at): (readonly [string, unknown])[] => [
          [`sha${at}`, hashes[at] ?? null],
          [`start${at}`, hashes[at]?.subarray(0, 8) ?? null],
        ]);
        for (const row of await query(FIND_HASHES, Object.fromEntries(places))) found.add(readHash(row, 'sha256'));
      }
      return found;
    },
    filesWith: async (sha256) => {
      const bytes = hashColumn(sha256);
      const rows = await query(LIST_FILES_WITH, { sha256: bytes, start: bytes.subarray(0, 8) });
      return rows.map((row) => readText(row, 'path'));
    },
    async *erasedStates() {
      for await (const rows of listPages(query, LIST_ERASED, {})) yield rows.map(toErasedState);
    },
    findErasedStates: async ({ sha256, originSha256 }) => {
      const origin = originSha256 === null ? null : hashColumn(originSha256);
      return (await query(FIND_ERASED, { sha256: hashColumn(sha256), origin })).map(toErasedState);
    },
    hasState: async (sha256) => (await query(HAS_STATE, { sha256: hashColumn(sha256) })).length > 0,
    originOf: async (path, version) => {
      const [row] = await query(GET_FIRST, { path, version });
      return row === undefined ? null : buildOrigin(path, readHash(row, 'sha256')).toString('hex');
    },
    async *captures() {
      for await (const rows of listPages(query, LIST_FILES, {})) for (const row of rows) yield await readFile(row);
    },
    findCapture: async (path) => {
      const [row] = await query(FIND_FILE, { path });
      return row === undefined ? null : readFile(row);
    },
    async *pieces(path, { version, sizeBytes }) {
      let left = sizeBytes;
      if (left === 0) return;
      for await (const rows of linesOf(path, version)) {
        const pieces: CapturedPiece[] = [];
        for (const row of rows) {
          if (left === 0) break;
          const piece = await toPiece(row);
          left -= piece.sizeBytes;
          if (left < 0) throw new DamageError('a captured state ends within a line');
          pieces.push(piece);
        }
        yield pieces;
        if (left === 0) return;
      }
      throw new DamageError(`${left} bytes of a captured file are missing`);
    },
  };
}

function toErasedState(row: Row): ErasedState {
  return {
    receipt: readText(row, 'receipt'),
    sha256: readHash(row, 'sha256'),
    originSha256: readHash(row, 'origin_sha256'),
  };
}

function toExchanged(row: Row): ExchangedState {
  const { id: _, capturedAt, ...state } = toState(row);
  return { ...state, capturedAtMs: capturedAt.getTime() };
}
