import type { ArchivedBatch, ArchiveLookup, Scored } from '../../../ports/archive-lookup.ts';
import { BATCH_COLUMNS, IS_LIVE, IS_LIVE_IN, createDistinct, toArchivedBatch } from '../read/lookup.ts';
import { readInteger } from '../rows.ts';
import { type Reading, withTexts } from '../texts.ts';
import { BATCH_PASSES, filterValues, type SearchEngine } from './engine.ts';

const IS_REPLACED = `
c.status = 'applied' AND (CAST(:conversation AS text) IS NULL OR y.conversation_id = :conversation)
AND EXISTS (SELECT 1 FROM batch_sources AS r WHERE r.source_id = b.id) AND NOT ${IS_LIVE}`;
/** Summaries that are loaded in one go. */
const PAGE = 25;

/** Finds summaries by words. Replaced ones are found by what none that was made from them says. */
export function createBatchSearch(
  { query, dialect, unpack }: Reading,
  engine: SearchEngine,
): ArchiveLookup['searchBatches'] {
  const load = (isLive: 0 | 1, condition: string): string => `
SELECT ${BATCH_COLUMNS}, ${isLive} AS is_live FROM batches AS b ${dialect.batchJoins}
WHERE ${dialect.isAmong('b.id', 'ids')} AND ${condition} AND ${BATCH_PASSES}`;
  const [loadLive, loadLiveIn, loadReplaced] = [load(1, IS_LIVE), load(1, IS_LIVE_IN), load(0, IS_REPLACED)];
  const listReplaced = `SELECT DISTINCT source_id AS id FROM batch_sources WHERE ${dialect.isAmong('source_id', 'ids')}`;
  return async ({ terms, filter, order, limit }) => {
    if (terms.length === 0 || limit < 1) return [];
    const scores = await engine.scoreBatches(query, terms);
    const ids = order === 'newest' ? [...scores.keys()].toSorted((a, b) => b - a) : [...scores.keys()];
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
      const distinct = createDistinct<Scored<ArchivedBatch>>(({ contentSha256 }) => contentSha256, limit);
      for (let first = 0; first < ids.length && !distinct.isFull(); first += PAGE) {
        const page = ids.slice(first, first + PAGE);
        const rows = await withTexts(
          { query, dialect, unpack },
          await query(sql, { ...filterValues(filter), ids: page }),
        );
        const byId = new Map(rows.map((row) => [readInteger(row, 'id'), row]));
        for (const id of page) {
          const row = byId.get(id);
          if (row !== undefined && (await isWanted(id))) distinct.add(scored(toArchivedBatch(row)));
        }
      }
      return distinct.list();
    };
    const live = await take(filter.conversationId === null ? loadLive : loadLiveIn, ids, async () => true);
    const sources = new Set((await query(listReplaced, { ids })).map((row) => readInteger(row, 'id')));
    const replaced = await take(
      loadReplaced,
      ids.filter((id) => sources.has(id)),
      (id) => engine.hasUniqueTerm(query, id, terms),
    );
    if (replaced.length === 0) return live;
    return [...live, ...replaced].toSorted(order === 'newest' ? (a, b) => b.id - a.id : byScore).slice(0, limit);
  };
}

function byScore(a: Scored<ArchivedBatch>, b: Scored<ArchivedBatch>): number {
  return (b.score ?? 0) - (a.score ?? 0);
}
