import type { QueryTerm } from '../../core/search/question.ts';
import type { FoundMessage, MessageIndex, SearchFilter, StoredCandidate } from '../../ports/archive-lookup.ts';
import { LINE_COLUMNS, takeDistinct } from '../archive/read/lookup.ts';
import { readInteger, readText, type Row } from '../archive/rows.ts';
import { toCandidate, toFoundMessage, toNear } from '../archive/search.ts';
import { POSTGRES } from './dialect.ts';
import { filterValues, findLineRange, LINE_PASSES } from './lookup-sql.ts';
import type { Query } from '../archive/sql/query.ts';
import { createWordHits } from './word-hits.ts';
import { messageQuery } from './words.ts';

const COUNT_MESSAGES = 'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS count FROM line_ids';
const MAX_SPEAKERS = 5000;
const LIST_SPEAKERS = `SELECT name FROM speakers ORDER BY name LIMIT ${MAX_SPEAKERS}`;
const LIST_HITS_AMONG = `
SELECT DISTINCT line_id AS id FROM message_words WHERE line_id = ANY(:ids::bigint[]) AND words @@ :match::tsquery ORDER BY line_id`;
const LIST_NEWEST = `
SELECT ${LINE_COLUMNS} FROM lines AS l ${POSTGRES.lineJoins} WHERE l.id = ANY(:ids::bigint[]) AND (${LINE_PASSES} OR l.role IS NULL) ORDER BY l.id DESC`;
/** Lines that are looked at in one go. */
const NEWEST_PAGE = 500;

/** How many messages before a candidate, and after it, count for it. */
const NEAR = 2;

const LOAD_CANDIDATES = `
SELECT l.id, l.month::text AS month, l.at_ms, l.size_bytes, l.traits, l.name, l.sha256, y.conversation_id, y.id AS cycle_id
FROM lines AS l ${POSTGRES.lineJoins} WHERE l.id = ANY(:ids::bigint[]) AND ${LINE_PASSES} ORDER BY l.id`;
/** Most neighbors have the next ids, and are of the same cycle and thus of the same conversation. */
const LIST_BESIDE = `
SELECT l.id, l.size_bytes, l.traits, coalesce(l.cycle_id, o.cycle_id) AS cycle_id FROM lines AS l LEFT JOIN batches AS o ON o.id = l.batch_id
WHERE l.id = ANY(:ids::bigint[]) AND l.role IS NOT NULL`;
/** The same where other lines may be in between. */
const next = (isBefore: boolean): string => `(
  SELECT l.id, l.size_bytes, l.traits FROM lines AS l
  WHERE l.month = a.month AND l.role IS NOT NULL
    AND coalesce(l.cycle_id, (SELECT o.cycle_id FROM batches AS o WHERE o.id = l.batch_id)) IS NOT DISTINCT FROM a.cycle_id
    AND ${isBefore ? 'l.id < a.id AND l.id >= a.id - 40' : 'l.id > a.id AND l.id <= a.id + 40'}
  ORDER BY l.id ${isBefore ? 'DESC' : 'ASC'} LIMIT ${NEAR})`;
const LIST_FURTHER = `
SELECT a.id AS of, l.id, l.size_bytes, l.traits
FROM unnest(:ids::bigint[], :months::date[], :cycles::bigint[]) AS a (id, month, cycle_id)
CROSS JOIN LATERAL (${next(true)} UNION ALL ${next(false)}) AS l ORDER BY l.id`;

export function createMessageIndex(query: Query): MessageIndex {
  const hits = createWordHits(query);
  const listHits: MessageIndex['listHits'] = async (words, filter) =>
    hits.list(words, await findLineRange(query, filter));

  const listNear = async (rows: readonly Row[]): Promise<(id: number) => StoredCandidate['near']> => {
    const besideOf = (row: Row): readonly number[] =>
      Array.from({ length: 2 * NEAR + 1 }, (_, at) => readInteger(row, 'id') + at - NEAR);
    const beside = await query(LIST_BESIDE, { ids: [...new Set(rows.flatMap(besideOf))] });
    const byId = new Map(beside.map((row) => [row['id'], row]));
    const near = new Map(
      rows.map((row): readonly [unknown, readonly Row[]] => {
        const around = besideOf(row).flatMap((id): readonly Row[] => {
          const one = id === row['id'] ? undefined : byId.get(id);
          return one === undefined ? [] : [one];
        });
        return [row['id'], around.filter((one) => one['cycle_id'] === row['cycle_id'])];
      }),
    );
    const open = rows.filter((row) => (near.get(row['id'])?.length ?? 0) < 2 * NEAR);
    if (open.length > 0) {
      const further = await query(LIST_FURTHER, {
        ids: open.map((row) => row['id']),
        months: open.map((row) => row['month']),
        cycles: open.map((row) => row['cycle_id']),
      });
      const found = Map.groupBy(further, (row) => row['of']);
      for (const { id } of open) near.set(id, found.get(id) ?? []);
    }
    return (id) => {
      const around = near.get(id) ?? [];
      const before = around.filter((row) => readInteger(row, 'id') < id).toReversed();
      return [
        ...before.map((row, at) => toNear(row, -1 - at)),
        ...around.slice(before.length).map((row, at) => toNear(row, 1 + at)),
      ];
    };
  };

  /** Newest first, a page at a time, because most readers want only the first few. */
  async function* newestMessages(words: readonly QueryTerm[], filter: SearchFilter): AsyncGenerator<FoundMessage> {
    const ids = [...new Set((await listHits(words, filter)).flat())].toSorted((a, b) => b - a);
    for (let first = 0; first < ids.length; first += NEWEST_PAGE) {
      const values = { ...filterValues(filter), ids: ids.slice(first, first + NEWEST_PAGE) };
      for (const row of await query(LIST_NEWEST, values)) yield toFoundMessage(row);
    }
  }

  return {
    countMessages: async () => readInteger((await query(COUNT_MESSAGES))[0] ?? {}, 'count'),
    listSpeakers: async () => (await query(LIST_SPEAKERS)).map((row) => readText(row, 'name')),
    countHits: hits.count,
    listHits,
    listHitsAmong: async (word, ids) => {
      const match = messageQuery(word);
      return match === null ? [] : (await query(LIST_HITS_AMONG, { ids, match })).map((row) => readInteger(row, 'id'));
    },
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
