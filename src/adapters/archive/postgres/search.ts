import type { QueryTerm } from '../../../core/search/question.ts';
import { readInteger, type Row } from '../rows.ts';
import type { SearchEngine } from '../search/engine.ts';
import type { Query } from '../sql/query.ts';
import { POSTGRES } from './sql.ts';
import { CAPTURED_MONTH } from './schema.ts';
import { messageQuery, messageVectors, phraseQuery } from './words.ts';

const ADD_MESSAGES = `
INSERT INTO message_words (line_id, month, part, words)
SELECT u.line_id, coalesce(l.month, ${CAPTURED_MONTH}), u.part, u.words::tsvector
FROM unnest(:ids::bigint[], :parts::int[], :words::text[]) AS u (line_id, part, words) LEFT JOIN lines AS l ON l.id = u.line_id`;
const LIST_HITS_AMONG = `
SELECT DISTINCT line_id AS id FROM message_words WHERE line_id = ANY(:ids::bigint[]) AND words @@ :match::tsquery ORDER BY line_id`;
/** For each query in `:matches`. One row for each, because a row for each hit would cost far more. */
const forEachQuery = (select: string): string => `
SELECT h.found FROM unnest(:matches::text[]) WITH ORDINALITY AS u (match, position) CROSS JOIN LATERAL (${select}) AS h ORDER BY u.position`;
const COUNT_HITS = forEachQuery(
  'SELECT count(*) AS found FROM (SELECT 1 FROM message_words AS w WHERE w.words @@ u.match::tsquery LIMIT :atMost) AS f',
);
const LIST_HITS = forEachQuery(`
  SELECT string_agg(int8send(w.line_id), ''::bytea) AS found FROM message_words AS w
  WHERE w.words @@ u.match::tsquery AND (w.line_id < 0 OR w.line_id BETWEEN :first AND :last)`);
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

/** Whether batch :id contains a term that no later batch made from it contains. */
const HAS_UNIQUE_TERM = `
WITH RECURSIVE later (id) AS (
  SELECT batch_id FROM batch_sources WHERE source_id = :id UNION SELECT s.batch_id FROM later JOIN batch_sources AS s ON s.source_id = later.id
)
SELECT 1 AS found FROM unnest(:matches::text[]) AS term
WHERE EXISTS (SELECT 1 FROM batch_words WHERE batch_id = :id AND words @@ term::tsquery) AND NOT EXISTS (
  SELECT 1 FROM later JOIN batches AS b ON b.id = later.id ${POSTGRES.batchJoins} JOIN batch_words AS w ON w.batch_id = b.id
  WHERE c.status = 'applied' AND w.words @@ term::tsquery) LIMIT 1`;

/** Full text by the server's own index. */
export const POSTGRES_SEARCH: SearchEngine = {
  // A message without words has an entry too, so that `archive check` misses no message.
  toEntry: (text) => {
    const vectors = messageVectors(text);
    return vectors.length === 0 ? [''] : vectors;
  },
  addMessages: async (query, messages) => {
    const rows = messages.flatMap(({ id, parts }) => parts.map((words, part) => ({ id, part, words })));
    const columns = { ids: rows.map(({ id }) => id), parts: rows.map(({ part }) => part) };
    if (rows.length > 0) await query(ADD_MESSAGES, { ...columns, words: rows.map(({ words }) => words) });
  },
  countMessages:
    'SELECT CASE WHEN is_called THEN last_value ELSE 0 END + (SELECT coalesce(max(captured_id), 0) FROM captured_messages) AS count FROM line_ids',
  countHits: (query, words, atMost) =>
    askEach(words, { none: 0, ask: (matches) => query(COUNT_HITS, { matches, atMost }), read: Number }),
  listHits: (query, words, range) =>
    askEach(words, { none: [], ask: (matches) => query(LIST_HITS, { matches, ...range }), read: readIds }),
  listHitsAmong: async (query, word, ids) => {
    const match = messageQuery(word);
    return match === null ? [] : query.numbers(LIST_HITS_AMONG, { ids, match });
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

/** An answer for each word. `none`: that of a word that cannot be found. */
async function askEach<T>(
  words: readonly QueryTerm[],
  how: {
    readonly none: T;
    readonly ask: (matches: readonly string[]) => Promise<readonly Row[]>;
    readonly read: (found: Row[string]) => T;
  },
): Promise<readonly T[]> {
  const matches = words.map(messageQuery);
  const asked = matches.filter((match) => match !== null);
  const found = (asked.length === 0 ? [] : await how.ask(asked)).values();
  return matches.map((match) => (match === null ? how.none : how.read(found.next().value?.['found'])));
}

const ID_BYTES = 8;

/** Ids, each once, ascending. */
function readIds(found: Row[string]): readonly number[] {
  if (!(found instanceof Uint8Array)) return [];
  const bytes = Buffer.from(found.buffer, found.byteOffset, found.byteLength);
  const readId = (_: unknown, at: number): number => Number(bytes.readBigInt64BE(at * ID_BYTES));
  const ids = Float64Array.from({ length: bytes.length / ID_BYTES }, readId).sort();
  return Array.from(ids.filter((id, at) => id !== ids[at - 1]));
}

/** Of Okapi BM25: long summaries count less. */
const B = 0.75;
const LEAST_RARITY = 1e-6;

const MEASURE = 'SELECT count(*) AS count, coalesce(avg(word_count), 1)::float8 AS mean FROM batch_words';
const SCORE = `
SELECT batch_id AS id, word_count, ts_rank(words, :match::tsquery)::float8 AS rank FROM batch_words WHERE words @@ :match::tsquery`;

/** Ids of the batches with any of the terms, best first, with their scores: the server's rank for each term, and how rare the term is. */
async function scoreBatches(query: Query, terms: readonly string[]): Promise<ReadonlyMap<number, number>> {
  const [measured] = await query(MEASURE);
  const [total, mean] = [readInteger(measured ?? {}, 'count'), Number(measured?.['mean'] ?? 1)];
  const scores = new Map<number, number>();
  for (const match of terms.flatMap((term) => phraseQuery(term) ?? [])) {
    const hits = await query(SCORE, { match });
    const rarity = Math.max(LEAST_RARITY, Math.log((total - hits.length + 0.5) / (hits.length + 0.5)));
    for (const row of hits) {
      const id = readInteger(row, 'id');
      const norm = 1 - B + (B * readInteger(row, 'word_count')) / mean;
      scores.set(id, (scores.get(id) ?? 0) + (rarity * Number(row['rank'])) / norm);
    }
  }
  return new Map([...scores].toSorted((a, b) => b[1] - a[1] || a[0] - b[0]));
}
