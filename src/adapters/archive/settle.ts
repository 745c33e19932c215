import type Database from 'better-sqlite3';
import type { Archive } from '../../ports/archive.ts';
import { DamageError, guard } from './failure.ts';
import type { SchemaGuard } from './schema-guard.ts';

const MARK_APPLIED = "UPDATE compactions SET status = 'applied' WHERE id = ?";
const FIND_PREPARED = "SELECT 1 FROM compactions WHERE id = ? AND status = 'prepared'";

const BATCHES =
  'SELECT batches.id FROM batches JOIN cycles ON cycles.id = batches.cycle_id WHERE cycles.compaction_id = ?';
const LINES = 'SELECT lines.id FROM lines JOIN blocks ON blocks.id = lines.block_id WHERE blocks.compaction_id = ?';
/** The schema deletes the rows that belong to a compaction along with it; the full-text indexes know of no owner. */
const DELETE_COMPACTION = [
  `DELETE FROM message_search WHERE rowid IN (${LINES})`,
  `DELETE FROM batch_search WHERE rowid IN (${BATCHES})`,
  'DELETE FROM compactions WHERE id = ?',
] as const;

export type Settling = Pick<Archive, 'markApplied' | 'discard'>;

/**
 * How a prepared compaction ends. Two processes may settle one at the same time: discarding what is gone or applied does nothing;
 * applying what is gone is damage, for the compacted file then has no archive.
 */
export function createSettling(
  db: Database.Database,
  { path, checkSchema }: { readonly path: string; readonly checkSchema: SchemaGuard },
): Settling {
  const setApplied = db.prepare<[number]>(MARK_APPLIED);
  const findPrepared = db.prepare<[number]>(FIND_PREPARED);
  const deletes = DELETE_COMPACTION.map((sql) => db.prepare<[number]>(sql));

  const markApplied = db.transaction((id: number): void => {
    checkSchema();
    if (setApplied.run(id).changes === 0) throw new DamageError(`compaction ${id} was removed before it was applied`);
  });
  const discard = db.transaction((id: number): void => {
    checkSchema();
    if (findPrepared.get(id) === undefined) return;
    for (const statement of deletes) statement.run(id);
  });

  return {
    markApplied: (id) => guard(path, () => markApplied.immediate(id)),
    discard: (id) => guard(path, () => discard.immediate(id)),
  };
}
