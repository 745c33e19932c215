import { readInteger } from '../rows.ts';
import { ALL_LINES, filterValues, OF_SOURCE, type SearchEngine } from '../search/engine.ts';
import type { Query } from '../sql/query.ts';
import { POSTGRES } from './dialect.ts';
import { createWordHits } from './word-hits.ts';
import { messageQuery, phraseQuery, queryWords } from './words.ts';

const LIST_HITS_AMONG = `
SELECT DISTINCT line_id AS id FROM message_words WHERE line_id = ANY(:ids::bigint[]) AND words @@ :match::tsquery ORDER BY line_id`;
/** Other lines may be in between. */
const next = (isBefore: boolean): string => `(
  SELECT l.id, l.size_bytes, l.traits FROM lines AS l
  WHERE l.month = a.month AND l.role IS NOT NULL
    AND coalesce(l.cycle_id, (SELECT o.cycle_id FROM batches AS o WHERE o.id = l.batch_id)) IS NOT DISTINCT FROM a.cycle_id
    AND ${isBefore ? 'l.id < a.id AND l.id >= a.id - 40' : 'l.id > a.id AND l.id <= a.id + 40'}
  ORDER BY l.id ${isBefore ? 'DESC' : 'ASC'} LIMIT 2)`;
const LIST_NEAR = `
SELECT a.id AS of, l.id, l.size_bytes, l.traits
FROM unnest(:ids::bigint[], :months::date[], :cycles::bigint[]) AS a (id, month, cycle_id)
CROSS JOIN LATERAL (${next(true)} UNION ALL ${next(false)}) AS l ORDER BY l.id`;

const FIND_RANGE = `
SELECT min(c.first_line_id) AS first, max(c.last_line_id) AS last FROM compactions AS c
WHERE ${OF_SOURCE} AND (CAST(:conversation AS text) IS NULL OR EXISTS (
  SELECT 1 FROM cycles AS y WHERE y.compaction_id = c.id AND y.conversation_id = :conversation))`;

/** Whether batch :id contains a term that no later batch made from it contains. */
const HAS_UNIQUE_TERM = `
WITH RECURSIVE later (id) AS (
  SELECT batch_id FROM batch_sources WHERE source_id = :id UNION SELECT s.batch_id FROM later JOIN batch_sources AS s ON s.source_id = later.id
)
SELECT 1 AS found FROM unnest(:matches::text[]) AS term
WHERE EXISTS (SELECT 1 FROM batch_words WHERE batch_id = :id AND words @@ term::tsquery) AND NOT EXISTS (
  SELECT 1 FROM later JOIN batches AS b ON b.id = later.id ${POSTGRES.batchJoins} JOIN batch_words AS w ON w.batch_id = b.id
  WHERE c.status = 'applied' AND w.words @@ term::tsquery) LIMIT 1`;

/** Full text by tables of words, and by tsvectors where words must follow each other. */
export const POSTGRES_SEARCH: SearchEngine = {
  countMessages: 'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS count FROM line_ids',
  countHits: (query, words, atMost) => createWordHits(query).count(words, atMost),
  listHits: (query, words, range) => createWordHits(query).list(words, range),
  listHitsAmong: async (query, word, ids) => {
    const match = messageQuery(word);
    return match === null ? [] : query.numbers(LIST_HITS_AMONG, { ids, match });
  },
  findLineRange: async (query, filter) => {
    if (filter.source === null && filter.conversationId === null) return ALL_LINES;
    const [row] = await query(FIND_RANGE, filterValues(filter));
    return { first: Number(row?.['first'] ?? 1), last: Number(row?.['last'] ?? 0) };
  },
  listNear: (query, lines) =>
    query(LIST_NEAR, {
      ids: lines.map((row) => row['id']),
      months: lines.map((row) => row['month']),
      cycles: lines.map((row) => row['its_cycle_id']),
    }),
  scoreBatches,
  hasUniqueTerm: async (query, id, terms) => {
    const matches = terms.flatMap((term) => phraseQuery(term) ?? []);
    return (await query(HAS_UNIQUE_TERM, { id, matches })).length > 0;
  },
};

// Okapi BM25, as SQLite's FTS5 computes it.
const K1 = 1.2;
const B = 0.75;
const LEAST_RARITY = 1e-6;

const MEASURE = 'SELECT count(*) AS count, coalesce(avg(word_count), 1)::float8 AS mean FROM batch_words';
const LIST_HITS = `
SELECT t.batch_id AS id, w.word_count, t.count FROM batch_terms AS t JOIN batch_words AS w ON w.batch_id = t.batch_id WHERE t.word = :word`;
const LIST_PHRASE_HITS =
  'SELECT batch_id AS id, word_count, 1 AS count FROM batch_words WHERE words @@ :match::tsquery';

/** Ids of the batches with any of the terms, best first, with their scores. A phrase counts as said once. */
async function scoreBatches(query: Query, terms: readonly string[]): Promise<ReadonlyMap<number, number>> {
  const [measured] = await query(MEASURE);
  const [total, mean] = [readInteger(measured ?? {}, 'count'), Number(measured?.['mean'] ?? 1)];
  const scores = new Map<number, number>();
  for (const term of terms) {
    const words = queryWords(term);
    const [word] = words;
    if (word === undefined) continue;
    const hits =
      words.length === 1
        ? await query(LIST_HITS, { word })
        : await query(LIST_PHRASE_HITS, { match: phraseQuery(term) });
    const rarity = Math.max(LEAST_RARITY, Math.log((total - hits.length + 0.5) / (hits.length + 0.5)));
    for (const row of hits) {
      const [id, count] = [readInteger(row, 'id'), readInteger(row, 'count')];
      const norm = K1 * (1 - B + (B * readInteger(row, 'word_count')) / mean);
      scores.set(id, (scores.get(id) ?? 0) + (rarity * count * (K1 + 1)) / (count + norm));
    }
  }
  return new Map([...scores].toSorted((a, b) => b[1] - a[1] || a[0] - b[0]));
}
