import type Database from 'better-sqlite3';
import { readInteger, readOptionalInteger, readText, type Row } from '../rows.ts';
import { attempt, finding, type Finding, tryRead } from './finding.ts';

const VIA_CYCLE = '(SELECT compaction_id FROM cycles WHERE id = t.cycle_id)';
const VIA_BATCH =
  '(SELECT c.compaction_id FROM batches AS b JOIN cycles AS c ON c.id = b.cycle_id WHERE b.id = t.batch_id)';
/** Which compaction a row t of a table belongs to. */
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
};
const LIST_REFERRING = `
SELECT t.name FROM sqlite_schema AS t WHERE t.type = 'table' AND EXISTS (SELECT 1 FROM pragma_foreign_key_list(t.name)) ORDER BY t.rowid`;
const LIST_VIOLATED = 'SELECT DISTINCT fkid FROM pragma_foreign_key_check(?)';
const GET_REFERENCE = 'SELECT "table" AS parent, "from" AS column FROM pragma_foreign_key_list(?) WHERE id = ?';
/** More compactions than this with the same damage are told of by the other checks. */
const MAX_OWNERS = 20;

/** Rows that name others that are gone, by SQLite's own check; each finding names the compaction that has them. */
export function* checkReferences(db: Database.Database): Generator<Finding> {
  const listViolated = db.prepare<[string], number>(LIST_VIOLATED).pluck();
  const getReference = db.prepare<[string, number], Row>(GET_REFERENCE);
  const tables = tryRead({ name: 'the list of tables', compactionIds: [] }, () =>
    db.prepare<[], string>(LIST_REFERRING).pluck().all(),
  );
  yield* tables.findings;
  for (const table of tables.value ?? []) {
    const owner = OWNERS[table] ?? 'NULL';
    yield* attempt({ name: `table ${table}`, compactionIds: [] }, function* () {
      for (const id of listViolated.all(table)) {
        const reference = getReference.get(table, id);
        if (reference === undefined) continue;
        const [parent, column] = [readText(reference, 'parent'), readText(reference, 'column')];
        for (const row of db.prepare<[number], Row>(listOrphans({ table, owner, parent, column })).all(MAX_OWNERS)) {
          const id = readOptionalInteger(row, 'owner');
          const name = id === null ? `table ${table}` : `compaction ${id}`;
          const count = readInteger(row, 'count');
          const what = `${count} of its ${table} ${count === 1 ? 'belongs' : 'belong'} to ${parent} that are gone (the first to ${readInteger(row, 'missing')})`;
          yield finding('reference', { name, compactionIds: id === null ? [] : [id] }, what);
        }
      }
    });
  }
}

function listOrphans(of: {
  readonly table: string;
  readonly owner: string;
  readonly parent: string;
  readonly column: string;
}): string {
  return `
SELECT ${of.owner} AS owner, count(*) AS count, min(t.${of.column}) AS missing FROM ${of.table} AS t
WHERE t.${of.column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${of.parent} WHERE id = t.${of.column}) GROUP BY 1 LIMIT ?`;
}
