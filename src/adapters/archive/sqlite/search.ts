import { spaceOut } from '../../../core/search/words.ts';
import type { QueryTerm } from '../../../core/search/question.ts';
import { isSqliteError } from '../failure.ts';
import { readInteger, type Row } from '../rows.ts';
import { ALL_LINES, cutForSearch, type LineRange, type SearchEngine } from '../search/engine.ts';
import type { Query } from '../sql/query.ts';
import { SQLITE } from './dialect.ts';

const COUNT_HITS =
  'SELECT count(*) FROM (SELECT 1 FROM message_search WHERE message_search MATCH :match LIMIT :atMost)';
const LIST_HITS =
  'SELECT rowid FROM message_search WHERE message_search MATCH :match AND rowid BETWEEN :first AND :last ORDER BY rowid';
const LIST_HITS_AMONG = `
SELECT m.value FROM json_each(:ids) AS m CROSS JOIN message_search AS s ON s.rowid = m.value WHERE message_search MATCH :match`;

const listNear = (isBefore: boolean): string => `
SELECT :id AS of, l.id, l.size_bytes, l.traits FROM lines AS l LEFT JOIN batches AS o ON o.id = l.batch_id
WHERE l.role IS NOT NULL AND coalesce(l.cycle_id, o.cycle_id) IS :cycle
AND ${isBefore ? 'l.id < :id AND l.id >= :id - 40 ORDER BY l.id DESC' : 'l.id > :id AND l.id <= :id + 40 ORDER BY l.id'} LIMIT 2`;
const [LIST_BEFORE, LIST_AFTER] = [listNear(true), listNear(false)];

/** FTS5 ranks by bm25, where less is better. */
const SCORE_BATCHES =
  'SELECT rowid AS id, -rank AS score FROM batch_search WHERE batch_search MATCH :match ORDER BY rank, rowid';
const HAS_UNIQUE_TERM = `
WITH RECURSIVE later (id) AS (
  SELECT batch_id FROM batch_sources WHERE source_id = :id UNION SELECT s.batch_id FROM later JOIN batch_sources AS s ON s.source_id = later.id
)
SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM batch_search WHERE batch_search MATCH :term AND rowid = :id) AND NOT EXISTS (
  SELECT 1 FROM batch_search WHERE batch_search MATCH :term AND rowid IN (
    SELECT b.id FROM later JOIN batches AS b ON b.id = later.id ${SQLITE.batchJoins} WHERE c.status = 'applied'))`;

/** Full text by FTS5. */
export const SQLITE_SEARCH: SearchEngine = {
  // The index has no use for half characters, which would make it bytes instead of text.
  toEntry: (text) => [spaceOut(cutForSearch(text)).toWellFormed()],
  addMessages: (query, messages) =>
    query.insert(
      'message_search',
      messages.map(({ id, parts }) => ({ rowid: id, text: parts[0] })),
    ),
  countMessages:
    'SELECT (SELECT coalesce(max(id), 0) FROM lines) + (SELECT coalesce(max(captured_id), 0) FROM captured_messages) AS count',
  countHits: async (query, words, atMost) => {
    const counts: number[] = [];
    for (const word of words) {
      const [count = 0] = await listNumbers(query, COUNT_HITS, { match: matchTerm(word), atMost });
      counts.push(count);
    }
    return counts;
  },
  listHits: async (query, words, range) => {
    const hits: (readonly number[])[] = [];
    const list = (word: QueryTerm, of: LineRange): Promise<readonly number[]> =>
      listNumbers(query, LIST_HITS, { match: matchTerm(word), ...of });
    for (const word of words) {
      const captured = range.first > 0 ? await list(word, { ...ALL_LINES, last: -1 }) : [];
      hits.push([...captured, ...(await list(word, range))]);
    }
    return hits;
  },
  listHitsAmong: (query, word, ids) => listNumbers(query, LIST_HITS_AMONG, { match: matchTerm(word), ids }),
  listNear: async (query, lines) => {
    const near: Row[] = [];
    for (const { id, its_cycle_id: cycle } of lines) {
      near.push(...(await query(LIST_BEFORE, { id, cycle })).toReversed());
      near.push(...(await query(LIST_AFTER, { id, cycle })));
    }
    return near;
  },
  scoreBatches: async (query, terms) => {
    const rows = await query(SCORE_BATCHES, { match: matchAny(terms) });
    return new Map(rows.map((row) => [readInteger(row, 'id'), Number(row['score'])]));
  },
  hasUniqueTerm: async (query, id, terms) => {
    for (const term of terms)
      if ((await query(HAS_UNIQUE_TERM, { id, term: matchAny([term]) })).length > 0) return true;
    return false;
  },
};

/** An FTS5 expression for any of these terms. Between quotes everything is text, except a quote, NUL and half a character. */
function matchAny(terms: readonly string[]): string {
  return terms.map(quote).join(' OR ');
}

function matchTerm({ forms, isBeginning }: QueryTerm): string {
  return isBeginning ? forms.map((form) => `${quote(form)} *`).join(' OR ') : matchAny(forms);
}

function quote(term: string): string {
  return `"${term.toWellFormed().replaceAll('\0', ' ').replaceAll('"', '""')}"`;
}

/**
 * None for a word that SQLite's tokenizer splits, at letters newer than its Unicode tables: an index without positions cannot search for adjacent
 * words.
 */
async function listNumbers(query: Query, sql: string, values: object): Promise<readonly number[]> {
  try {
    return await query.numbers(sql, { ...values });
  } catch (error) {
    if (isSqliteError(error) && error.message.startsWith('fts5: phrase queries are not supported')) return [];
    throw error;
  }
}
