import type {
  IndexBacklog,
  IndexCursor,
  IndexedMessage,
  IndexSlice,
  SearchIndexer,
  UnindexedLine,
  ArchiveLookup,
} from '../../../ports/archive-lookup.ts';
import { describeDamage, isErased } from '../failure.ts';
import {
  readBytes,
  readFields,
  readHash,
  readInteger,
  readOptionalInteger,
  readText,
  ROLES,
  type Row,
  timeColumn,
  traitsColumn,
} from '../rows.ts';
import type { Dialect, Query, Sql } from '../sql/query.ts';
import type { IndexEntry, SearchEngine } from './engine.ts';

const MEASURE = `
SELECT CAST(coalesce(sum(line_count), 0) AS bigint) AS messages, CAST(coalesce(sum(size_bytes), 0) AS bigint) AS bytes FROM unindexed_lines`;
/** Newest first. */
const LIST_RUNS = {
  archived: 'SELECT * FROM unindexed_lines WHERE first_id > 0 AND first_id < :before ORDER BY first_id DESC LIMIT 100',
  captured: 'SELECT * FROM unindexed_lines WHERE first_id < 0 AND first_id > :before ORDER BY first_id LIMIT 100',
} as const;
const BEGINNINGS = { archived: Number.MAX_SAFE_INTEGER, captured: Number.MIN_SAFE_INTEGER } as const;
const TAKE_RUN = 'DELETE FROM unindexed_lines WHERE first_id = :first RETURNING first_id, last_id, file_id';
const LIST_CAPTURED = `
SELECT -l.id AS id, 1 AS line, f.format FROM captured_lines AS l JOIN captured_files AS f ON f.id = :file
WHERE l.id BETWEEN :first AND :last AND l.erasure_id IS NULL AND NOT EXISTS (SELECT 1 FROM captured_messages AS m WHERE m.captured_id = l.id)
ORDER BY l.id DESC`;

/** Search looks in no more bytes of a line. */
const MAX_HEAD_BYTES = 1024 * 1024;

export function createSearchIndexer(
  sql: Pick<Sql, 'query' | 'transaction' | 'dialect'>,
  engine: SearchEngine,
  { readHeads }: Pick<ArchiveLookup, 'readHeads'>,
): SearchIndexer {
  const { query, dialect } = sql;
  const listArchived = `
SELECT l.id, l.line, c.format, c.status FROM lines AS l ${dialect.lineJoins}
WHERE l.block_id = (SELECT block_id FROM lines WHERE id = :first) AND l.id BETWEEN :first AND :last AND l.role IS NOT NULL ORDER BY l.id`;

  /** The lines of a run; null: they cannot be taken now. */
  const readRun = async (run: Row): Promise<readonly UnindexedLine[] | null> => {
    const [first, last] = [readInteger(run, 'first_id'), readInteger(run, 'last_id')];
    const file = readOptionalInteger(run, 'file_id');
    const rows =
      file === null
        ? await query(listArchived, { first, last })
        : await query(LIST_CAPTURED, { file, first: -last, last: -first });
    if (rows.some((row) => row['status'] === 'prepared')) return null;
    try {
      const ids = rows.map((row) => readInteger(row, 'id'));
      const heads = await readHeads(ids, MAX_HEAD_BYTES);
      return rows.map((row) => {
        const lineId = readInteger(row, 'id');
        const bytes = heads.get(lineId) ?? new Uint8Array();
        return { lineId, format: readText(row, 'format'), line: readInteger(row, 'line'), bytes };
      });
    } catch (error) {
      // `archive check` tells of damage, and what is erased just now will not be in the run any more.
      if (describeDamage(error) !== null || isErased(error)) return null;
      throw error;
    }
  };

  const readFrom = async ({ kind, before }: IndexCursor, maxBytes: number): Promise<IndexSlice | null> => {
    const lines: UnindexedLine[] = [];
    const runs: number[] = [];
    const sums = { messages: 0, bytes: 0 };
    let last = before ?? BEGINNINGS[kind];
    const slice = (): IndexSlice => ({ lines, runs, ...sums, next: { kind, before: last } });
    for (;;) {
      const page = await query(LIST_RUNS[kind], { before: last });
      if (page.length === 0) return runs.length === 0 ? null : slice();
      for (const run of page) {
        const bytes = readInteger(run, 'size_bytes');
        if (runs.length > 0 && sums.bytes + bytes > maxBytes) return slice();
        last = readInteger(run, 'first_id');
        const found = await readRun(run);
        if (found === null) continue;
        lines.push(...found);
        runs.push(last);
        sums.messages += readInteger(run, 'line_count');
        sums.bytes += bytes;
      }
    }
  };

  return {
    measure: () => measureUnindexed(query),
    read: async (from, maxBytes) => {
      const found = await readFrom(from, maxBytes);
      if (found !== null || from.kind === 'captured') return found;
      return readFrom({ kind: 'captured', before: null }, maxBytes);
    },
    add: ({ runs }, messages) =>
      sql.transaction('write', async (within) => {
        for (const lock of dialect.storingLocks) await within(lock);
        const taken: Row[] = [];
        for (const first of runs) taken.push(...(await within(TAKE_RUN, { first })));
        await addMessages({ query: within, engine, dialect }, taken, messages);
      }),
  };
}

/** What the index does not have yet. */
export async function measureUnindexed(query: Query): Promise<IndexBacklog> {
  const [row = {}] = await query(MEASURE);
  return readFields(row, { messages: readInteger, bytes: readInteger });
}

/** Notes lines of one block that the index does not have yet. The values are columns. */
export async function noteUnindexed(
  query: Query,
  run: Readonly<Record<'first_id' | 'last_id' | 'line_count' | 'size_bytes' | 'file_id', number | null>>,
): Promise<void> {
  await query.insert('unindexed_lines', [run]);
}

type Adding = { readonly query: Query; readonly engine: SearchEngine; readonly dialect: Dialect };

/** The entries of the index that lines become, each line as its row has it: `id`, `sha256`. */
type Added = { readonly row: Row; readonly message: IndexedMessage };

/** Adds the messages of the runs that were taken, except those that were erased since they were read. A line that is both archived and captured is added once. */
async function addMessages(adding: Adding, taken: readonly Row[], messages: readonly IndexedMessage[]): Promise<void> {
  const byId = new Map(messages.map((message) => [message.lineId, message]));
  const entries: IndexEntry[] = [];
  for (const run of taken) {
    const [first, last] = [readInteger(run, 'first_id'), readInteger(run, 'last_id')];
    const file = readOptionalInteger(run, 'file_id');
    const rows = await adding.query(file === null ? LIST_LEFT : LIST_CAPTURED_LEFT, { first, last });
    const added = rows.flatMap((row): readonly Added[] => {
      const message = byId.get(readInteger(row, 'id'));
      return message === undefined ? [] : [{ row, message }];
    });
    const own = file === null ? await takeFromCaptured(adding, added) : await noteCaptured(adding, added, file);
    for (const { lineId, text } of own) entries.push({ id: lineId, parts: adding.engine.toEntry(text) });
  }
  await adding.engine.addMessages(
    adding.query,
    entries.toSorted((a, b) => a.id - b.id),
  );
}

/** Archived messages are found instead of captured lines with the same bytes. */
async function takeFromCaptured({ query, dialect }: Adding, added: readonly Added[]) {
  const messages = added.map(({ message }) => message);
  if (added.length === 0 || (await query(HAS_CAPTURED)).length === 0) return messages;
  const lineOf = new Map(added.map(({ row }) => [readHash(row, 'sha256'), readInteger(row, 'id')]));
  const hashes = added.map(({ row }) => readBytes(row, 'sha256'));
  for (const copy of await dialect.capturing.findLines(query, hashes)) {
    const id = readInteger(copy, 'id');
    // First, because it waits for another process that is just adding the copy, with its words.
    await query(KEEP_COPY, { id, line: lineOf.get(readHash(copy, 'sha256')) });
    await query(TAKE_WORDS(dialect), { id: -id });
  }
  return messages;
}

/** Notes what is known of captured messages, and gives those that have no archived copy. */
async function noteCaptured({ query, dialect }: Adding, added: readonly Added[], fileId: number) {
  const hashes = [...new Set(added.map(({ row }) => readHash(row, 'sha256')))];
  const copies = hashes.length === 0 ? [] : await query(findCopies(dialect), { file: fileId, hashes });
  const lineOf = new Map(copies.map((row) => [readText(row, 'sha256'), readInteger(row, 'id')]));
  const rows = added.flatMap(({ row, message: { lineId, captured } }) => {
    if (captured === null) return [];
    const ids = { captured_id: -lineId, line_id: lineOf.get(readHash(row, 'sha256')) ?? null, file_id: fileId };
    const { role, at, name, traits } = captured;
    return [{ ...ids, role: ROLES.indexOf(role), at_ms: timeColumn(at), name, traits: traitsColumn(traits) }];
  });
  await query.insert('captured_messages', rows);
  const own = new Set(rows.filter(({ line_id }) => line_id === null).map(({ captured_id }) => -captured_id));
  return added.map(({ message }) => message).filter(({ lineId }) => own.has(lineId));
}

/** Archived messages of the same file. */
const findCopies = ({ onBlock, onCompaction, hex, isAmongTexts }: Dialect): string => `
SELECT l.id, ${hex('l.sha256')} AS sha256 FROM captured_files AS f JOIN compactions AS c ON c.source_path = f.path
JOIN blocks AS k ON ${onCompaction} JOIN lines AS l ON ${onBlock}
WHERE f.id = :file AND c.status = 'applied' AND l.role IS NOT NULL AND ${isAmongTexts(hex('l.sha256'), 'hashes')}`;
/** Of the run's block: where several store at once, lines of others may have ids in between. */
const LIST_LEFT = `
SELECT id, sha256 FROM lines
WHERE block_id = (SELECT block_id FROM lines WHERE id = :first) AND id BETWEEN :first AND :last AND role IS NOT NULL`;
const LIST_CAPTURED_LEFT = `
SELECT -l.id AS id, l.sha256 FROM captured_lines AS l WHERE l.id BETWEEN -CAST(:last AS bigint) AND -CAST(:first AS bigint) AND l.erasure_id IS NULL
AND NOT EXISTS (SELECT 1 FROM captured_messages AS m WHERE m.captured_id = l.id)`;
const HAS_CAPTURED = 'SELECT 1 FROM captured_lines LIMIT 1';
const TAKE_WORDS = ({ words: { messages } }: Dialect): string =>
  `DELETE FROM ${messages.table} WHERE ${messages.id} = :id`;
const KEEP_COPY = `
INSERT INTO captured_messages (captured_id, line_id, traits) VALUES (:id, :line, 0)
ON CONFLICT (captured_id) DO UPDATE SET line_id = excluded.line_id`;

/** Removes words from the search index. The values are statements that select the ids of what has them. */
export async function forgetWords(
  query: Query,
  { words }: Pick<Dialect, 'words'>,
  of: Partial<Readonly<Record<keyof Dialect['words'], string>>>,
): Promise<void> {
  for (const kind of ['messages', 'batches'] as const) {
    const { table, id } = words[kind];
    if (of[kind] !== undefined) await query(`DELETE FROM ${table} WHERE ${id} IN (${of[kind]})`);
  }
}

/** A file that has a captured line. */
const fileOf = (first: string, last: string): string => `(
  SELECT v.file_id FROM captured_runs AS r JOIN captured_versions AS v ON v.id = r.version_id
  WHERE r.first_line_id <= ${last} AND r.first_line_id + r.line_count > ${first} LIMIT 1)`;

/** Before archived lines go, whose ids a statement selects: captured lines with the same bytes are found themselves again. */
export const releaseCopies = (ids: string): readonly string[] => [
  `INSERT INTO unindexed_lines (first_id, last_id, line_count, size_bytes, file_id)
   SELECT -m.captured_id, -m.captured_id, 1, l.size_bytes, ${fileOf('l.id', 'l.id')}
   FROM captured_messages AS m JOIN captured_lines AS l ON l.id = m.captured_id
   WHERE m.line_id IN (${ids}) AND l.erasure_id IS NULL ON CONFLICT DO NOTHING`,
  `DELETE FROM captured_messages WHERE line_id IN (${ids})`,
];

/** After an erasure: files that are gone, and what is left to be indexed. */
export const SETTLE_INDEX = [
  `UPDATE captured_messages SET file_id = ${fileOf('captured_messages.captured_id', 'captured_messages.captured_id')}
   WHERE NOT EXISTS (SELECT 1 FROM captured_files AS f WHERE f.id = captured_messages.file_id)`,
  `UPDATE unindexed_lines SET file_id = ${fileOf('-unindexed_lines.last_id', '-unindexed_lines.first_id')}
   WHERE first_id < 0 AND NOT EXISTS (SELECT 1 FROM captured_files AS f WHERE f.id = unindexed_lines.file_id)`,
  `UPDATE unindexed_lines SET (line_count, size_bytes) = (
     SELECT count(*), CAST(coalesce(sum(l.size_bytes), 0) AS bigint) FROM lines AS l
     WHERE l.block_id = (SELECT f.block_id FROM lines AS f WHERE f.id = unindexed_lines.first_id)
       AND l.id BETWEEN unindexed_lines.first_id AND unindexed_lines.last_id AND l.role IS NOT NULL) WHERE first_id > 0`,
  `UPDATE unindexed_lines SET (line_count, size_bytes) = (
     SELECT count(*), CAST(coalesce(sum(l.size_bytes), 0) AS bigint) FROM captured_lines AS l
     WHERE l.id BETWEEN -unindexed_lines.last_id AND -unindexed_lines.first_id AND l.erasure_id IS NULL) WHERE first_id < 0`,
  'DELETE FROM unindexed_lines WHERE line_count = 0',
];
