import { sessionIdOf } from '../../../core/paths.ts';
import type { ArchivedLine, ArchiveLookup, SearchFilter, StoredCandidate } from '../../../ports/archive-lookup.ts';
import { bytesIn } from '../blocks.ts';
import { DamageError } from '../failure.ts';
import { createBlockReader, endOf, takeCaptured } from '../read/captured.ts';
import {
  readFields,
  readHash,
  readInteger,
  readMoment,
  readOptionalInteger,
  readOptionalText,
  readRole,
  readStoredTraits,
  readText,
  readTexts,
  readTime,
  type Row,
} from '../rows.ts';
import type { Sql } from '../sql/query.ts';
import { filterValues, OF_PATH } from './engine.ts';

/** How many messages before a candidate, and after it, count for it. */
export const NEAR = 2;

export type CapturedMessages = ReturnType<typeof createCapturedMessages>;

/** Finds captured messages that are in the search index. Their ids are negative: those of the captured lines are the same without the sign. */
export function createCapturedMessages({ query, dialect }: Pick<Sql, 'query' | 'dialect'>) {
  const { isAmong } = dialect;
  /** Of the file that had the line first, or of one of `:files`. */
  const from = (isOfFiles: boolean): string => `
FROM captured_messages AS m JOIN captured_lines AS l ON l.id = m.captured_id JOIN captured_files AS f ON f.id = ${
    isOfFiles
      ? `(
  SELECT v.file_id FROM captured_versions AS v JOIN captured_runs AS r ON r.version_id = v.id
  WHERE ${isAmong('v.file_id', 'files')} AND m.captured_id BETWEEN r.first_line_id AND r.first_line_id + r.line_count - 1 ORDER BY v.id LIMIT 1)`
      : 'm.file_id'
  }
WHERE ${isAmong('m.captured_id', 'ids')} AND m.line_id IS NULL AND l.erasure_id IS NULL`;
  const loadCandidates = (isOfFiles: boolean): string => `
SELECT m.*, l.size_bytes, l.sha256, f.path, f.sessions ${from(isOfFiles)}
AND (CAST(:role AS int) IS NULL OR m.role = :role) AND (CAST(:sinceMs AS bigint) IS NULL OR m.at_ms >= :sinceMs)
AND (CAST(:untilMs AS bigint) IS NULL OR m.at_ms < :untilMs) ORDER BY m.captured_id DESC`;
  const listBeside = `
SELECT m.captured_id, m.file_id, m.traits, l.size_bytes FROM captured_messages AS m JOIN captured_lines AS l ON l.id = m.captured_id
WHERE ${isAmong('m.captured_id', 'ids')}`;
  // With its place in the newest version that has it.
  const loadLines = (isOfFiles: boolean): string => `
SELECT m.*, l.size_bytes, l.sha256, f.path, f.sessions, f.format, f.read_at_ms, (
  SELECT CAST(coalesce((SELECT sum(b.line_count) FROM captured_runs AS b WHERE b.version_id = r.version_id AND b.position < r.position), 0) AS bigint)
    + m.captured_id - r.first_line_id + 1
  FROM captured_versions AS v JOIN captured_runs AS r ON r.version_id = v.id
  WHERE v.file_id = f.id AND m.captured_id BETWEEN r.first_line_id AND r.first_line_id + r.line_count - 1
  ORDER BY v.version DESC LIMIT 1) AS line ${from(isOfFiles)} ORDER BY m.captured_id DESC`;

  /** The files that a filter leaves; null: all. */
  const listFiles = async (filter: SearchFilter | undefined): Promise<readonly number[] | null> => {
    const { source = null, conversationId = null } = filter ?? {};
    if (source === null && conversationId === null) return null;
    const values = { source, sourceEnd: source === null ? null : `/${source}` };
    const sql = `SELECT f.id, f.path, f.sessions FROM captured_files AS f WHERE ${OF_PATH('f.path')}`;
    const rows = await query(sql, values);
    const own = rows.filter((row) => conversationId === null || sessionsOf(row).includes(conversationId));
    return own.map((row) => readInteger(row, 'id'));
  };

  const loadNear = async (rows: readonly Row[]): Promise<(row: Row) => StoredCandidate['near']> => {
    const around = rows.flatMap((row) =>
      Array.from({ length: 2 * NEAR + 1 }, (_, at) => readInteger(row, 'captured_id') + at - NEAR),
    );
    const beside = await query(listBeside, { ids: [...new Set(around)] });
    const byId = new Map(beside.map((row) => [readInteger(row, 'captured_id'), row]));
    return (row) =>
      [-1, -2, 1, 2].flatMap((steps) => {
        const near = byId.get(readInteger(row, 'captured_id') + steps);
        if (near === undefined || near['file_id'] !== row['file_id']) return [];
        const lineId = -readInteger(near, 'captured_id');
        return [{ lineId, steps, ...readFields(near, { sizeBytes: readInteger, traits: readStoredTraits }) }];
      });
  };

  return {
    loadCandidates: async (lineIds: readonly number[], filter: SearchFilter): Promise<readonly StoredCandidate[]> => {
      const files = lineIds.length === 0 ? [] : await listFiles(filter);
      if (files?.length === 0) return [];
      const { role, sinceMs, untilMs } = filterValues(filter);
      const ids = lineIds.map((id) => -id);
      const values = { role, sinceMs, untilMs, ids, ...(files !== null && { files }) };
      const rows = await query(loadCandidates(files !== null), values);
      const nearOf = await loadNear(rows);
      return rows.map((row) => ({
        lineId: -readInteger(row, 'captured_id'),
        conversationId: conversationOf(row),
        ...readFields(row, CANDIDATE),
        near: nearOf(row),
      }));
    },
    loadLines: async (lineIds: readonly number[], filter?: SearchFilter): Promise<readonly ArchivedLine[]> => {
      const files = lineIds.length === 0 ? [] : await listFiles(filter);
      if (files?.length === 0) return [];
      const ids = lineIds.map((id) => -id);
      return (await query(loadLines(files !== null), { ids, ...(files !== null && { files }) })).map(toLine);
    },
  };
}

/** What is known of every message that may be found. */
export const CANDIDATE = {
  at: readTime,
  sizeBytes: readInteger,
  traits: readStoredTraits,
  name: readOptionalText,
  sha256: readHash,
};

function toLine(row: Row): ArchivedLine {
  const line = readInteger(row, 'line');
  const message = readFields(row, { role: readRole, name: readOptionalText, at: readTime });
  return {
    compactionId: 0,
    format: readText(row, 'format'),
    sourcePath: readText(row, 'path'),
    archivedAt: readMoment(row, 'read_at'),
    lineId: -readInteger(row, 'captured_id'),
    line,
    ...readFields(row, { sizeBytes: readInteger, sha256: readHash }),
    outcome: 'other',
    conversationId: conversationOf(row),
    batchLabel: null,
    message: { id: `line:${line}`, ...message, index: null },
  };
}

/** The conversations that a captured file belongs to, by its name and its records. */
function sessionsOf(row: Row): readonly string[] {
  const named = sessionIdOf(readText(row, 'path'));
  const told = readTexts(row, 'sessions');
  return named === null || told.includes(named) ? told : [named, ...told];
}

/** Null: it may be any of several. */
function conversationOf(row: Row): string | null {
  const [first, second] = sessionsOf(row);
  return second === undefined ? (first ?? null) : null;
}

const LIST_PLACES = (isAmong: string): string => `
SELECT id, block_id, "offset", size_bytes, sha256, erasure_id FROM captured_lines WHERE ${isAmong} ORDER BY id`;
/** What stands before a captured line in a file: the line with the id before, or the last one of the run before. */
const FIND_BEFORE = `
SELECT CASE WHEN r.first_line_id < :id THEN :id - 1 ELSE p.first_line_id + p.line_count - 1 END AS id
FROM captured_runs AS r LEFT JOIN captured_runs AS p ON p.version_id = r.version_id AND p.position = r.position - 1
WHERE :id BETWEEN r.first_line_id AND r.first_line_id + r.line_count - 1 ORDER BY r.version_id LIMIT 1`;
const LF = 0x0a;

/** The same for captured lines, whose ids are negative, too. */
export function withCaptured<Archived extends Pick<ArchiveLookup, 'readLine' | 'readHeads'>>(
  archived: Archived,
  { query, dialect }: Pick<Sql, 'query' | 'dialect'>,
): Archived & Pick<ArchiveLookup, 'readBefore'> {
  const listPlaces = LIST_PLACES(dialect.isAmong('id', 'ids'));
  const readBlock = createBlockReader();
  const rawOf = async (line: Row): Promise<Uint8Array> => {
    const blockId = readInteger(line, 'block_id');
    const raw = await readBlock(query, blockId, endOf(line));
    if (raw === null) throw new DamageError(`block ${blockId} of captured lines cannot be decompressed`);
    return raw;
  };
  const readCaptured = async (ids: readonly number[], maxBytes: number): Promise<ReadonlyMap<number, Uint8Array>> => {
    const heads = new Map<number, Uint8Array>();
    for (const line of ids.length === 0 ? [] : await query(listPlaces, { ids: ids.map((id) => -id) }))
      if (line['erasure_id'] === null)
        heads.set(-readInteger(line, 'id'), bytesIn(await rawOf(line), line).subarray(0, maxBytes));
    return heads;
  };
  return {
    ...archived,
    readLine: async (id) => {
      if (id > 0) return archived.readLine(id);
      const [line] = await query(listPlaces, { ids: [-id] });
      if (line === undefined || line['erasure_id'] !== null) throw new DamageError(`captured line ${-id} is missing`);
      return takeCaptured(line, await rawOf(line));
    },
    readHeads: async (ids, maxBytes) => {
      const [own, others] = [ids.filter((id) => id > 0), ids.filter((id) => id < 0)];
      const heads = own.length === 0 ? [] : await archived.readHeads(own, maxBytes);
      return new Map([...heads, ...(await readCaptured(others, maxBytes))]);
    },
    readBefore: async (id, maxBytes) => {
      const [found] = id > 0 ? [] : await query(FIND_BEFORE, { id: -id });
      const before = found === undefined ? null : readOptionalInteger(found, 'id');
      const bytes = before === null ? undefined : (await readCaptured([-before], maxBytes)).get(-before);
      return bytes === undefined || bytes.at(-1) === LF ? null : bytes;
    },
  };
}
