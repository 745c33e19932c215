import type Database from 'better-sqlite3';
import type { SoughtWord } from '../../core/search/question.ts';
import type { NearMessage } from '../../core/search/rank.ts';
import type { FoundMessage } from '../../ports/archive-lookup.ts';
import type { MessageIndex, SearchFilter, StoredCandidate } from '../../ports/message-index.ts';
import { toTraits } from './columns.ts';
import { DamageError, guard } from './failure.ts';
import { filterValues, LINE_PASSES } from './filter.ts';
import { findLineRange } from './line-range.ts';
import { LINE_COLUMNS, LINE_JOINS, toArchivedLine } from './lookup-rows.ts';
import { readHash, readInteger, readOptionalInteger, readOptionalText, readText, readTime, type Row } from './rows.ts';
import { isUnknownWord, matchWord } from './sought.ts';
import { createStatements } from './statements.ts';

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
SELECT ${LINE_COLUMNS} FROM message_search AS s CROSS JOIN lines AS l ON l.id = s.rowid ${LINE_JOINS}
WHERE message_search MATCH :match AND s.rowid BETWEEN :first AND :last AND (${LINE_PASSES} OR l.role IS NULL) ORDER BY s.rowid DESC`;

const LOAD_CANDIDATES = `
SELECT l.id, l.at_ms, l.size_bytes, l.traits, l.name, l.sha256, y.conversation_id, y.id AS cycle_id
FROM json_each(:ids) AS m CROSS JOIN lines AS l ON l.id = m.value ${LINE_JOINS} WHERE ${LINE_PASSES}`;
/** Messages of one cycle, and thus of one conversation; lines that are none, or are others', may stand in between. */
const NEAR = 'FROM lines AS l LEFT JOIN batches AS o ON o.id = l.batch_id WHERE l.role IS NOT NULL';
const IN_CYCLE = 'coalesce(l.cycle_id, o.cycle_id) IS :cycle';
const LIST_BEFORE = `
SELECT l.id, l.size_bytes, l.traits ${NEAR} AND l.id < :id AND l.id >= :id - 40 AND ${IN_CYCLE} ORDER BY l.id DESC LIMIT 2`;
const LIST_AFTER = `
SELECT l.id, l.size_bytes, l.traits ${NEAR} AND l.id > :id AND l.id <= :id + 40 AND ${IN_CYCLE} ORDER BY l.id LIMIT 2`;

export function createMessageIndex(db: Database.Database, path: string): MessageIndex {
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

  function* newestRows(words: readonly SoughtWord[], filter: SearchFilter): Generator<Row> {
    const match = words.map(matchWord).join(' OR ');
    const values = { ...filterValues(filter), ...findLineRange(prepare, filter), match };
    try {
      yield* prepare(LIST_NEWEST).iterate(values);
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
    countHits: (word, atMost) => guard(path, () => listNumbers(COUNT_HITS, { match: matchWord(word), atMost })[0] ?? 0),
    listHits: (word, filter) =>
      guard(path, () => listNumbers(LIST_HITS, { match: matchWord(word), ...findLineRange(prepare, filter) })),
    listHitsAmong: (word, lineIds) =>
      guard(path, () => {
        const values = { match: matchWord(word), ids: JSON.stringify(lineIds) };
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
        : guard(path, () => db.transaction(() => takeDistinct(newestRows(words, filter), limit))()),
    inOneState: (work) => guard(path, () => db.transaction(work)()),
  };
}

function toNear(row: Row, steps: number): NearMessage {
  return {
    lineId: readInteger(row, 'id'),
    steps,
    sizeBytes: readInteger(row, 'size_bytes'),
    traits: toTraits(readInteger(row, 'traits')),
  };
}

function toCandidate(
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

/** The first rows that differ in what they say or in whose conversation. */
function takeDistinct(rows: Iterable<Row>, limit: number): readonly FoundMessage[] {
  const found = new Map<string, FoundMessage>();
  for (const row of rows) {
    const line = toFoundMessage(row);
    const key = `${line.sha256} ${line.conversationId ?? ''}`;
    if (!found.has(key)) found.set(key, line);
    if (found.size >= limit) break;
  }
  return [...found.values()];
}

function toFoundMessage(row: Row): FoundMessage {
  const line = toArchivedLine(row);
  if (line.message === null)
    throw new DamageError(`the search index leads to archived line ${line.lineId}, which is no message`);
  return { ...line, message: line.message };
}
