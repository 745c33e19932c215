import type Database from 'better-sqlite3';
import type { QueryTerm } from '../../core/search/question.ts';
import type { NearMessage } from '../../core/search/rank.ts';
import type {
  ArchivedBatch,
  BatchQuery,
  FoundMessage,
  Scored,
  SearchFilter,
  StoredCandidate,
} from '../../ports/archive-lookup.ts';
import { DamageError, guard } from './failure.ts';
import {
  BATCH_PASSES,
  filterValues,
  findLineRange,
  isUnknownWord,
  LINE_PASSES,
  matchAny,
  matchTerm,
} from './fts-query.ts';
import {
  BATCH_COLUMNS,
  IS_LIVE,
  IS_LIVE_IN,
  LINE_COLUMNS,
  takeDistinct,
  toArchivedBatch,
  toArchivedLine,
} from './read/lookup.ts';
import { SQLITE } from './sqlite/dialect.ts';
import {
  createStatements,
  readHash,
  readInteger,
  readOptionalInteger,
  readOptionalText,
  readText,
  readTime,
  type Row,
  toTraits,
} from './rows.ts';
import type { SyncArchive } from './sync-archive.ts';

const COUNT_MESSAGES = 'SELECT coalesce(max(id), 0) FROM lines';
const MAX_SPEAKERS = 5000;
const LIST_SPEAKERS = `SELECT name FROM speakers LIMIT ${MAX_SPEAKERS}`;
const COUNT_HITS =
  'SELECT count(*) FROM (SELECT 1 FROM message_search WHERE message_search MATCH :match LIMIT :atMost)';
const LIST_HITS =
  'SELECT rowid FROM message_search WHERE message_search MATCH :match AND rowid BETWEEN :first AND :last ORDER BY rowid';
const LIST_HITS_AMONG = `
SELECT m.value FROM json_each(:ids) AS m CROSS JOIN message_search AS s ON s.rowid = m.value WHERE message_search MATCH :match`;
const LIST_NEWEST = `
SELECT ${LINE_COLUMNS} FROM message_search AS s CROSS JOIN lines AS l ON l.id = s.rowid ${SQLITE.lineJoins}
WHERE message_search MATCH :match AND s.rowid BETWEEN :first AND :last AND (${LINE_PASSES} OR l.role IS NULL) ORDER BY s.rowid DESC`;

const LOAD_CANDIDATES = `
SELECT l.id, l.at_ms, l.size_bytes, l.traits, l.name, l.sha256, y.conversation_id, y.id AS cycle_id
FROM json_each(:ids) AS m CROSS JOIN lines AS l ON l.id = m.value ${SQLITE.lineJoins} WHERE ${LINE_PASSES}`;
/** Messages of one cycle, and thus of one conversation; other lines may be in between. */
const NEAR = 'FROM lines AS l LEFT JOIN batches AS o ON o.id = l.batch_id WHERE l.role IS NOT NULL';
const IN_CYCLE = 'coalesce(l.cycle_id, o.cycle_id) IS :cycle';
const LIST_BEFORE = `
SELECT l.id, l.size_bytes, l.traits ${NEAR} AND l.id < :id AND l.id >= :id - 40 AND ${IN_CYCLE} ORDER BY l.id DESC LIMIT 2`;
const LIST_AFTER = `
SELECT l.id, l.size_bytes, l.traits ${NEAR} AND l.id > :id AND l.id <= :id + 40 AND ${IN_CYCLE} ORDER BY l.id LIMIT 2`;

export function createMessageIndex(db: Database.Database, path: string): SyncArchive['messages'] {
  const prepare = createStatements(db);
  const numbers = new Map<string, Database.Statement<[object], number>>();
  const listNumbers = (sql: string, values: object): readonly number[] => {
    const known = numbers.get(sql) ?? db.prepare<[object], number>(sql).pluck();
    numbers.set(sql, known);
    try {
      return known.all(values);
    } catch (error) {
      if (isUnknownWord(error)) return [];
      throw error;
    }
  };

  const listNear = (id: number, cycle: number | null): readonly NearMessage[] => {
    const before = prepare(LIST_BEFORE).all({ id, cycle });
    const after = prepare(LIST_AFTER).all({ id, cycle });
    return [...before.map((row, at) => toNear(row, -1 - at)), ...after.map((row, at) => toNear(row, 1 + at))];
  };

  function* newestMessages(words: readonly QueryTerm[], filter: SearchFilter): Generator<FoundMessage> {
    const match = words.map(matchTerm).join(' OR ');
    const values = { ...filterValues(filter), ...findLineRange(prepare, filter), match };
    try {
      for (const row of prepare(LIST_NEWEST).iterate(values)) yield toFoundMessage(row);
    } catch (error) {
      if (!isUnknownWord(error)) throw error;
    }
  }

  return {
    countMessages: () => guard(path, () => listNumbers(COUNT_MESSAGES, {})[0] ?? 0),
    listSpeakers: () =>
      guard(path, () =>
        prepare(LIST_SPEAKERS)
          .all({})
          .map((row) => readText(row, 'name')),
      ),
    countHits: (words, atMost) =>
      guard(path, () => words.map((word) => listNumbers(COUNT_HITS, { match: matchTerm(word), atMost })[0] ?? 0)),
    listHits: (words, filter) =>
      guard(path, () => {
        const range = findLineRange(prepare, filter);
        return words.map((word) => listNumbers(LIST_HITS, { match: matchTerm(word), ...range }));
      }),
    listHitsAmong: (word, lineIds) =>
      guard(path, () => {
        const values = { match: matchTerm(word), ids: JSON.stringify(lineIds) };
        return listNumbers(LIST_HITS_AMONG, values).toSorted((a, b) => a - b);
      }),
    loadCandidates: (lineIds, filter) =>
      guard(path, () =>
        prepare(LOAD_CANDIDATES)
          .all({ ...filterValues(filter), ids: JSON.stringify(lineIds) })
          .map((row) => toCandidate(row, listNear)),
      ),
    listNewest: (words, { filter, limit }) =>
      words.length === 0 || limit < 1
        ? []
        : guard(path, () =>
            db.transaction(() =>
              takeDistinct(newestMessages(words, filter), { hashOf: ({ sha256 }) => sha256, limit }),
            )(),
          ),
  };
}

export function toNear(row: Row, steps: number): NearMessage {
  return {
    lineId: readInteger(row, 'id'),
    steps,
    sizeBytes: readInteger(row, 'size_bytes'),
    traits: toTraits(readInteger(row, 'traits')),
  };
}

export function toCandidate(
  row: Row,
  listNear: (id: number, cycle: number | null) => readonly NearMessage[],
): StoredCandidate {
  const lineId = readInteger(row, 'id');
  return {
    lineId,
    conversationId: readOptionalText(row, 'conversation_id'),
    at: readTime(row, 'at_ms'),
    sizeBytes: readInteger(row, 'size_bytes'),
    traits: toTraits(readInteger(row, 'traits')),
    name: readOptionalText(row, 'name'),
    sha256: readHash(row, 'sha256'),
    near: listNear(lineId, readOptionalInteger(row, 'cycle_id')),
  };
}

export function toFoundMessage(row: Row): FoundMessage {
  const line = toArchivedLine(row);
  if (line.message === null)
    throw new DamageError(`the search index leads to archived line ${line.lineId}, which is no message`);
  return { ...line, message: line.message };
}

/** FTS5 ranks by bm25, where less is better. In the order of ids it need not rank, and stops at the limit. */
const ORDERS = {
  best: { score: '-s.rank', by: 's.rank' },
  newest: { score: 'NULL', by: 's.rowid DESC' },
} as const satisfies { readonly [order in BatchQuery['order']]: unknown };

function selectBatches(order: BatchQuery['order'], isLive: 0 | 1, condition: string): string {
  const { score, by } = ORDERS[order];
  return `
SELECT ${BATCH_COLUMNS}, ${isLive} AS is_live, ${score} AS score FROM batch_search AS s CROSS JOIN batches AS b ON b.id = s.rowid ${SQLITE.batchJoins}
WHERE batch_search MATCH :match AND ${condition} AND ${BATCH_PASSES} ORDER BY ${by}`;
}

const IS_REPLACED = `
c.status = 'applied' AND (:conversation IS NULL OR y.conversation_id = :conversation)
AND EXISTS (SELECT 1 FROM batch_sources AS r WHERE r.source_id = b.id) AND NOT ${IS_LIVE}`;

/** Whether batch :id contains a term that no later batch made from it contains. */
const HAS_UNIQUE_TERM = `
WITH RECURSIVE later (id) AS (
  SELECT batch_id FROM batch_sources WHERE source_id = :id UNION SELECT s.batch_id FROM later JOIN batch_sources AS s ON s.source_id = later.id
)
SELECT 1 WHERE EXISTS (SELECT 1 FROM batch_search WHERE batch_search MATCH :term AND rowid = :id) AND NOT EXISTS (
  SELECT 1 FROM batch_search WHERE batch_search MATCH :term AND rowid IN (
    SELECT b.id FROM later JOIN batches AS b ON b.id = later.id ${SQLITE.batchJoins} WHERE c.status = 'applied'))`;

export function createBatchSearch(db: Database.Database, path: string): SyncArchive['searchBatches'] {
  const prepare = createStatements(db);

  function* replacedRows(values: object, { terms, order }: BatchQuery): Generator<Row> {
    const hasUniqueTerm = prepare(HAS_UNIQUE_TERM);
    for (const row of prepare(selectBatches(order, 0, IS_REPLACED)).iterate(values)) {
      const id = readInteger(row, 'id');
      if (terms.some((term) => hasUniqueTerm.get({ id, term: matchAny([term]) }) !== undefined)) yield row;
    }
  }

  return (query) => {
    const { terms, filter, order, limit } = query;
    if (terms.length === 0 || limit < 1) return [];
    const values = { match: matchAny(terms), ...filterValues(filter) };
    const live = selectBatches(order, 1, filter.conversationId === null ? IS_LIVE : IS_LIVE_IN);
    const search = (): readonly Scored<ArchivedBatch>[] => {
      const found = takeDistinct(scoredBatches(prepare(live).iterate(values)), { hashOf: hashOfBatch, limit });
      const replaced = takeDistinct(scoredBatches(replacedRows(values, query)), { hashOf: hashOfBatch, limit });
      if (replaced.length === 0) return found;
      const best = order === 'newest' ? byNewest : byScore;
      return [...found, ...replaced].sort(best).slice(0, limit);
    };
    return guard(path, () => db.transaction(search)());
  };
}

const hashOfBatch = ({ contentSha256 }: ArchivedBatch): string => contentSha256;

export function byNewest(a: Scored<ArchivedBatch>, b: Scored<ArchivedBatch>): number {
  return b.id - a.id;
}

export function byScore(a: Scored<ArchivedBatch>, b: Scored<ArchivedBatch>): number {
  return (b.score ?? 0) - (a.score ?? 0);
}

function* scoredBatches(rows: Iterable<Row>): Generator<Scored<ArchivedBatch>> {
  for (const row of rows) yield { ...toArchivedBatch(row), score: readScore(row) };
}

function readScore(row: Row): number | null {
  const score = row['score'];
  if (score === null) return null;
  return typeof score === 'number' ? score : readInteger(row, 'score');
}
