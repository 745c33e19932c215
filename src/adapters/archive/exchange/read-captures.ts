import type { CapturedPiece, CaptureReader, ErasedState, ExchangedCapture } from '../../../ports/exchange.ts';
import type { CapturedFile } from '../../../ports/captures.ts';
import { buildOrigin } from '../erase/captures.ts';
import { DamageError } from '../failure.ts';
import { createCapturedFiles, readBlocksOf, takeCaptured } from '../read/captured.ts';
import { hashColumn, readHash, readInteger, readOptionalText, readText, type Row } from '../rows.ts';
import { type Dialect, listPages, type Query } from '../sql/query.ts';

const FIND_VERSION = `
SELECT v.id FROM captured_files AS f JOIN captured_versions AS v ON v.file_id = f.id WHERE f.path = :path AND v.version = :version`;
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
export function createCaptureReader(query: Query, { capturing }: Dialect): CaptureReader {
  const { find, list, listStates } = createCapturedFiles({ query }, '');
  const toCapture = async (known: CapturedFile): Promise<ExchangedCapture> => {
    const { id: fileId, last: _, ...file } = known;
    return { ...file, states: (await listStates(fileId)).map(({ id: _id, ...state }) => state) };
  };

  return {
    findLines: async (sha256s) => {
      const rows = await capturing.findLines(query, sha256s.map(hashColumn));
      return new Set(rows.map((row) => readHash(row, 'sha256')));
    },
    filesWith: async (sha256) => {
      const bytes = hashColumn(sha256);
      const rows = await query(LIST_FILES_WITH, { sha256: bytes, start: bytes.subarray(0, 8) });
      return rows.map((row) => readText(row, 'path'));
    },
    async *erasedStates() {
      for await (const rows of listPages(query, LIST_ERASED)) yield rows.map(toErasedState);
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
      for (const file of await list()) yield await toCapture(file);
    },
    findCapture: async (path) => {
      const file = await find(path);
      return file === null ? null : toCapture(file);
    },
    async *pieces(path, { version, sizeBytes }) {
      let left = sizeBytes;
      if (left === 0) return;
      const [found] = await query(FIND_VERSION, { path, version });
      const blocks = found === undefined ? [] : readBlocksOf((work) => work(query), readInteger(found, 'id'));
      for await (const { lines, raw } of blocks) {
        const pieces: CapturedPiece[] = [];
        for (const line of lines) {
          if (left === 0) break;
          const piece = toPiece(line, raw);
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

function toPiece(line: Row, raw: Uint8Array): CapturedPiece {
  const receipt = readOptionalText(line, 'receipt');
  return {
    sha256: readHash(line, 'sha256'),
    sizeBytes: readInteger(line, 'size_bytes'),
    receipt,
    bytes: receipt === null ? takeCaptured(line, raw) : null,
  };
}

function toErasedState(row: Row): ErasedState {
  return {
    receipt: readText(row, 'receipt'),
    sha256: readHash(row, 'sha256'),
    originSha256: readHash(row, 'origin_sha256'),
  };
}
