import type { QueryTerm } from '../../core/search/question.ts';
import type { FoundMessage, MessageIndex, SearchFilter, StoredCandidate } from '../../ports/archive-lookup.ts';
import { LINE_COLUMNS, takeDistinct } from '../archive/lookup-rows.ts';
import { readInteger, readText, type Row } from '../archive/rows.ts';
import { toCandidate, toFoundMessage, toNear } from '../archive/search.ts';
import { filterValues, findLineRange, LINE_JOINS, LINE_PASSES } from './lookup-sql.ts';
import type { Query } from './sql.ts';
import { messageQuery } from './words.ts';

const COUNT_MESSAGES = 'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS count FROM line_ids';
const MAX_SPEAKERS = 5000;
const LIST_SPEAKERS = `SELECT name FROM speakers ORDER BY name LIMIT ${MAX_SPEAKERS}`;
const COUNT_HITS = `
SELECT count(*) AS count FROM (SELECT 1 FROM message_words WHERE words @@ :match::tsquery LIMIT :atMost) AS found`;
const LIST_HITS = `
SELECT DISTINCT line_id AS id FROM message_words
WHERE words @@ :match::tsquery AND line_id BETWEEN :first::bigint AND :last::bigint ORDER BY line_id`;
const LIST_HITS_AMONG = `
SELECT DISTINCT line_id AS id FROM message_words WHERE line_id = ANY(:ids::bigint[]) AND words @@ :match::tsquery ORDER BY line_id`;
const LIST_NEWEST = `
SELECT ${LINE_COLUMNS} FROM lines AS l ${LINE_JOINS} WHERE l.id = ANY(:ids::bigint[]) AND (${LINE_PASSES} OR l.role IS NULL) ORDER BY l.id DESC`;
/** Lines that are looked at in one go. */
const NEWEST_PAGE = 500;

const LOAD_CANDIDATES = `
SELECT l.id, l.month::text AS month, l.at_ms, l.size_bytes, l.traits, l.name, l.sha256, y.conversation_id, y.id AS cycle_id
FROM lines AS l ${LINE_JOINS} WHERE l.id = ANY(:ids::bigint[]) AND ${LINE_PASSES} ORDER BY l.id`;
/** Messages of one cycle, and thus of one conversation; other lines may be in between. */
const near = (isBefore: boolean): string => `
SELECT a.id AS of, l.id, l.size_bytes, l.traits
FROM unnest(:ids::bigint[], :months::date[], :cycles::bigint[]) AS a (id, month, cycle_id) CROSS JOIN LATERAL (
  SELECT l.id, l.size_bytes, l.traits FROM lines AS l LEFT JOIN batches AS o ON o.id = l.batch_id
  WHERE l.month = a.month AND l.role IS NOT NULL AND coalesce(l.cycle_id, o.cycle_id) IS NOT DISTINCT FROM a.cycle_id
    AND ${isBefore ? 'l.id < a.id AND l.id >= a.id - 40' : 'l.id > a.id AND l.id <= a.id + 40'}
  ORDER BY l.id ${isBefore ? 'DESC' : 'ASC'} LIMIT 2) AS l`;
const [LIST_BEFORE, LIST_AFTER] = [near(true), near(false)];

export function createMessageIndex(query: Query): MessageIndex {
  const listIds = async (
    sql: string,
    term: QueryTerm,
    values: Readonly<Record<string, unknown>>,
  ): Promise<readonly number[]> => {
    const match = messageQuery(term);
    return match === null ? [] : (await query(sql, { ...values, match })).map((row) => readInteger(row, 'id'));
  };

  const listNear = async (rows: readonly Row[]): Promise<(id: number) => StoredCandidate['near']> => {
    const values = {
      ids: rows.map((row) => row['id']),
      months: rows.map((row) => row['month']),
      cycles: rows.map((row) => row['cycle_id']),
    };
    const before = Map.groupBy(await query(LIST_BEFORE, values), (row) => readInteger(row, 'of'));
    const after = Map.groupBy(await query(LIST_AFTER, values), (row) => readInteger(row, 'of'));
    return (id) => [
      ...(before.get(id) ?? []).map((row, at) => toNear(row, -1 - at)),
      ...(after.get(id) ?? []).map((row, at) => toNear(row, 1 + at)),
    ];
  };

  /** Newest first, a page at a time, because most readers want only the first few. */
  async function* newestMessages(words: readonly QueryTerm[], filter: SearchFilter): AsyncGenerator<FoundMessage> {
    const range = await findLineRange(query, filter);
    const hits = new Set<number>();
    for (const word of words) for (const id of await listIds(LIST_HITS, word, range)) hits.add(id);
    const ids = [...hits].toSorted((a, b) => b - a);
    for (let first = 0; first < ids.length; first += NEWEST_PAGE) {
      const values = { ...filterValues(filter), ids: ids.slice(first, first + NEWEST_PAGE) };
      for (const row of await query(LIST_NEWEST, values)) yield toFoundMessage(row);
    }
  }

  return {
    countMessages: async () => readInteger((await query(COUNT_MESSAGES))[0] ?? {}, 'count'),
    listSpeakers: async () => (await query(LIST_SPEAKERS)).map((row) => readText(row, 'name')),
    countHits: async (word, atMost) => {
      const match = messageQuery(word);
      return match === null ? 0 : readInteger((await query(COUNT_HITS, { match, atMost }))[0] ?? {}, 'count');
    },
    listHits: async (word, filter) => listIds(LIST_HITS, word, await findLineRange(query, filter)),
    listHitsAmong: (word, ids) => listIds(LIST_HITS_AMONG, word, { ids }),
    loadCandidates: async (ids, filter) => {
      if (ids.length === 0) return [];
      const rows = await query(LOAD_CANDIDATES, { ...filterValues(filter), ids });
      const nearOf = await listNear(rows);
      return rows.map((row) => toCandidate(row, nearOf));
    },
    listNewest: async (words, { filter, limit }) => {
      if (words.length === 0 || limit < 1) return [];
      const found: FoundMessage[] = [];
      const distinct = (): readonly FoundMessage[] => takeDistinct(found, { hashOf: ({ sha256 }) => sha256, limit });
      for await (const message of newestMessages(words, filter)) {
        found.push(message);
        if (found.length >= limit && distinct().length >= limit) break;
      }
      return distinct();
    },
  };
}
