import { readInteger, readOptionalInteger } from '../rows.ts';
import type { Query } from '../sql/query.ts';
import { type Reference, referencesOf } from '../sql/definitions.ts';
import { attempt, type CheckSource, type Finding, finding, nowhere, placeOf } from './finding.ts';

const VIA_CYCLE = '(SELECT compaction_id FROM cycles WHERE id = t.cycle_id)';
const VIA_BATCH =
  '(SELECT c.compaction_id FROM batches AS b JOIN cycles AS c ON c.id = b.cycle_id WHERE b.id = t.batch_id)';
/** SQL for the compaction that a row t of a table belongs to. */
const OWNERS: Readonly<Record<string, string>> = {
  cycles: 't.compaction_id',
  batches: VIA_CYCLE,
  batch_sources: VIA_BATCH,
  live_batches: VIA_CYCLE,
  blocks: 't.compaction_id',
  lines: `coalesce((SELECT compaction_id FROM blocks WHERE id = t.block_id), ${VIA_CYCLE}, ${VIA_BATCH})`,
  carried_lines: VIA_CYCLE,
  inserted_lines: 't.compaction_id',
  kept_runs: 't.compaction_id',
  run_files: 't.compaction_id',
};
/** Beyond this many compactions with the same damage, the other checks report the rest. */
const MAX_OWNERS = 20;

/** A database does not tell of rows that refer to missing rows where something has damaged it, or where it does not know the reference. */
const listOrphans = ({ table, column, parent }: Reference): string => `
SELECT ${OWNERS[table] ?? 'CAST(NULL AS bigint)'} AS owner, count(*) AS count, min(t.${column}) AS missing FROM ${table} AS t
WHERE t.${column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${parent} WHERE id = t.${column}) GROUP BY 1 ORDER BY 1 LIMIT ${MAX_OWNERS}`;

/** Finds rows that refer to missing rows. Each finding names the compaction that owns them. Yields null between tables. */
export async function* checkReferences({ query, dialect }: CheckSource): AsyncGenerator<Finding | null> {
  for (const reference of referencesOf(dialect.name)) {
    const { table, parent } = reference;
    yield* attempt(nowhere(`table ${table}`), async function* () {
      for (const row of await query(listOrphans(reference))) {
        const id = readOptionalInteger(row, 'owner');
        const count = readInteger(row, 'count');
        const what = `${count} of its ${table} ${count === 1 ? 'belongs' : 'belong'} to ${parent} that are gone (the first to ${readInteger(row, 'missing')})`;
        yield finding('reference', id === null ? nowhere(`table ${table}`) : placeOf(id), what);
      }
    });
    yield null;
  }
}

const COUNT_WRONG = ['message_vectors', 'batch_vectors'].map(
  (table) =>
    `(SELECT count(*) FROM ${table} WHERE length(vector) <> coalesce((SELECT dimensions FROM vector_model), -1))`,
);

/** Finds vectors of another length than those of their model. */
export async function* checkVectors({ query }: CheckSource): AsyncGenerator<Finding> {
  const place = nowhere('the vectors');
  yield* attempt(place, async function* () {
    const wrong = await readCount(query, `SELECT ${COUNT_WRONG.join(' + ')} AS count`);
    if (wrong > 0) yield finding('wrong-count', place, `of another length than their model gives: ${wrong}`);
  });
}

/** The number that a statement gives as `count`. */
export async function readCount(query: Query, sql: string): Promise<number> {
  return readInteger((await query(sql))[0] ?? {}, 'count');
}
