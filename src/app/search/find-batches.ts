import { weighMeaning } from '../../core/search/meaning.ts';
import type { ArchivedBatch, BatchQuery, Scored } from '../../ports/archive-lookup.ts';
import type { Archive } from '../../ports/archive.ts';

/** So many are compared with a query by what they mean. */
const MAX_NEAREST = 20;

/** Batches that have the words of a query, or with a vector of it those that are about the same; what speaks for both is added up. */
export function findBatches(
  { searchBatches, vectors }: Pick<Archive, 'searchBatches' | 'vectors'>,
  query: BatchQuery,
  vector: Float32Array | null,
): readonly Scored<ArchivedBatch>[] {
  if (vector === null) return searchBatches(query);
  const count = Math.max(MAX_NEAREST, query.limit);
  const byWords = searchBatches({ ...query, limit: count });
  const nearest = vectors.nearestBatches(vector, { filter: query.filter, limit: count });
  const likeness = weighMeaning(new Map(nearest.map(({ id, score }) => [id, score ?? 0])));
  const best = byWords[0]?.score ?? 1;
  const wordScores = new Map(byWords.map(({ id, score }) => [id, score ?? 0]));
  const all = new Map([...byWords, ...nearest].map((batch) => [batch.id, batch]));
  return [...all.values()]
    .map((batch) => ({ ...batch, score: (wordScores.get(batch.id) ?? 0) + likeness(batch.id) * best }))
    .toSorted((a, b) => b.score - a.score || a.id - b.id)
    .slice(0, query.limit);
}
