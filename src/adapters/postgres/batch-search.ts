import type { ArchivedBatch, BatchQuery, Scored } from '../../ports/archive-lookup.ts';
import { BATCH_COLUMNS, IS_LIVE, IS_LIVE_IN, takeDistinct, toArchivedBatch } from '../archive/read/lookup.ts';
import { readInteger, readText } from '../archive/rows.ts';
import { byNewest, byScore } from '../archive/search.ts';
import { POSTGRES } from './dialect.ts';
import { BATCH_PASSES, filterValues } from './lookup-sql.ts';
import type { Query } from '../archive/sql/query.ts';
import { indexWords, phraseQuery, queryWords } from './words.ts';

// Okapi BM25 as SQLite's FTS5 computes it, so that both engines give the same scores.
const K1 = 1.2;
const B = 0.75;
const LEAST_RARITY = 1e-6;

const MEASURE = 'SELECT count(*) AS count, coalesce(avg(word_count), 1)::float8 AS mean FROM batch_words';
const LIST_HITS = `
SELECT t.batch_id AS id, w.word_count, t.count FROM batch_terms AS t JOIN batch_words AS w ON w.batch_id = t.batch_id WHERE t.word = :word`;
const LIST_PHRASE_HITS =
  'SELECT batch_id AS id, word_count, 1 AS count FROM batch_words WHERE words @@ :match::tsquery';
const LIST_CONTENTS = 'SELECT id, content FROM batches WHERE id = ANY(:ids::bigint[])';
/** A phrase that more batches have than this says little; in the others it counts as said once. */
const MAX_COUNTED = 500;

/** How often batches have a term. */
type TermHits = ReadonlyMap<number, { readonly count: number; readonly wordCount: number }>;

/** Ids of the batches with any of the terms, best first, with their scores. */
async function rankBatches(query: Query, terms: readonly string[]): Promise<ReadonlyMap<number, number>> {
  const [measured] = await query(MEASURE);
  const [total, mean] = [readInteger(measured ?? {}, 'count'), Number(measured?.['mean'] ?? 1)];
  const scores = new Map<number, number>();
  for (const term of terms) {
    const hits = await listHits(query, term);
    const rarity = Math.max(LEAST_RARITY, Math.log((total - hits.size + 0.5) / (hits.size + 0.5)));
    for (const [id, { count, wordCount }] of hits) {
      const norm = K1 * (1 - B + (B * wordCount) / mean);
      scores.set(id, (scores.get(id) ?? 0) + (rarity * count * (K1 + 1)) / (count + norm));
    }
  }
  return new Map([...scores].toSorted((a, b) => b[1] - a[1] || a[0] - b[0]));
}

async function listHits(query: Query, term: string): Promise<TermHits> {
  const match = phraseQuery(term);
  if (match === null) return new Map();
  const words = queryWords(term);
  const [word] = words;
  const rows = words.length === 1 ? await query(LIST_HITS, { word }) : await query(LIST_PHRASE_HITS, { match });
  const ids = rows.map((row) => readInteger(row, 'id'));
  const phrases = words.length === 1 ? null : await countPhrase(query, words, ids.slice(0, MAX_COUNTED));
  return new Map(
    rows.map((row) => {
      const id = readInteger(row, 'id');
      return [
        id,
        { count: phrases?.get(id) ?? readInteger(row, 'count'), wordCount: readInteger(row, 'word_count') },
      ] as const;
    }),
  );
}

async function countPhrase(
  query: Query,
  words: readonly string[],
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const phrase = ` ${words.join(' ')} `;
  return new Map(
    (await query(LIST_CONTENTS, { ids })).map((row) => {
      const text = ` ${indexWords(readText(row, 'content')).join(' ')} `;
      let count = 0;
      for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) count += 1;
      return [readInteger(row, 'id'), Math.max(1, count)] as const;
    }),
  );
}

const loadBatches = (isLive: 0 | 1, condition: string): string => `
SELECT ${BATCH_COLUMNS}, ${isLive} AS is_live FROM batches AS b ${POSTGRES.batchJoins}
WHERE b.id = ANY(:ids::bigint[]) AND ${condition} AND ${BATCH_PASSES}`;
const IS_REPLACED = `
c.status = 'applied' AND (:conversation::text IS NULL OR y.conversation_id = :conversation)
AND EXISTS (SELECT 1 FROM batch_sources AS r WHERE r.source_id = b.id) AND NOT ${IS_LIVE}`;
const [LOAD_LIVE, LOAD_LIVE_IN, LOAD_REPLACED] = [
  loadBatches(1, IS_LIVE),
  loadBatches(1, IS_LIVE_IN),
  loadBatches(0, IS_REPLACED),
];

/** Whether batch :id contains a term that no later batch made from it contains. */
const HAS_UNIQUE_TERM = `
WITH RECURSIVE later (id) AS (
  SELECT batch_id FROM batch_sources WHERE source_id = :id UNION SELECT s.batch_id FROM later JOIN batch_sources AS s ON s.source_id = later.id
)
SELECT 1 AS found FROM unnest(:matches::text[]) AS term
WHERE EXISTS (SELECT 1 FROM batch_words WHERE batch_id = :id AND words @@ term::tsquery) AND NOT EXISTS (
  SELECT 1 FROM later JOIN batches AS b ON b.id = later.id ${POSTGRES.batchJoins} JOIN batch_words AS w ON w.batch_id = b.id
  WHERE c.status = 'applied' AND w.words @@ term::tsquery) LIMIT 1`;

const LIST_REPLACED = 'SELECT DISTINCT source_id AS id FROM batch_sources WHERE source_id = ANY(:ids::bigint[])';

/** Batches that are loaded in one go. */
const PAGE = 25;

export function createBatchSearch(query: Query): (asked: BatchQuery) => Promise<readonly Scored<ArchivedBatch>[]> {
  return async ({ terms, filter, order, limit }) => {
    if (terms.length === 0 || limit < 1) return [];
    const scores = await rankBatches(query, terms);
    const ids = order === 'newest' ? [...scores.keys()].toSorted((a, b) => b - a) : [...scores.keys()];
    const matches = terms.flatMap((term) => phraseQuery(term) ?? []);
    const scored = (batch: ArchivedBatch): Scored<ArchivedBatch> => ({
      ...batch,
      score: order === 'newest' ? null : (scores.get(batch.id) ?? 0),
    });

    /** The first of them, each text of a conversation once. */
    const take = async (
      sql: string,
      ids: readonly number[],
      isWanted: (id: number) => Promise<boolean>,
    ): Promise<readonly Scored<ArchivedBatch>[]> => {
      const found: Scored<ArchivedBatch>[] = [];
      const distinct = (): readonly Scored<ArchivedBatch>[] =>
        takeDistinct(found, { hashOf: ({ contentSha256 }) => contentSha256, limit });
      for (let first = 0; first < ids.length && distinct().length < limit; first += PAGE) {
        const page = ids.slice(first, first + PAGE);
        const rows = await query(sql, { ...filterValues(filter), ids: page });
        const byId = new Map(rows.map((row) => [readInteger(row, 'id'), row]));
        for (const id of page) {
          const row = byId.get(id);
          if (row !== undefined && (await isWanted(id))) found.push(scored(toArchivedBatch(row)));
        }
      }
      return distinct();
    };
    const live = await take(filter.conversationId === null ? LOAD_LIVE : LOAD_LIVE_IN, ids, async () => true);
    const hasUniqueTerm = async (id: number): Promise<boolean> =>
      (await query(HAS_UNIQUE_TERM, { id, matches })).length > 0;
    const sources = new Set((await query(LIST_REPLACED, { ids })).map((row) => readInteger(row, 'id')));
    const replaced = await take(
      LOAD_REPLACED,
      ids.filter((id) => sources.has(id)),
      hasUniqueTerm,
    );
    if (replaced.length === 0) return live;
    const best = order === 'newest' ? byNewest : byScore;
    return [...live, ...replaced].toSorted(best).slice(0, limit);
  };
}
