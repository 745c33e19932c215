import type Database from 'better-sqlite3';
import type { Archive } from '../../ports/archive.ts';
import { DamageError, guard } from './failure.ts';

const MARK_APPLIED = "UPDATE compactions SET status = 'applied' WHERE id = ?";
const FIND_PREPARED = "SELECT 1 FROM compactions WHERE id = ? AND status = 'prepared'";

const BATCHES =
  'SELECT batches.id FROM batches JOIN cycles ON cycles.id = batches.cycle_id WHERE cycles.compaction_id = ?';
const CYCLES = 'SELECT id FROM cycles WHERE compaction_id = ?';
const LINES = 'SELECT lines.id FROM lines JOIN blocks ON blocks.id = lines.block_id WHERE blocks.compaction_id = ?';
/** Rows that refer to others go before them. */
const DELETE_COMPACTION = [
  `DELETE FROM message_search WHERE rowid IN (${LINES})`,
  `DELETE FROM earlier_message_search WHERE rowid IN (${LINES})`,
  `DELETE FROM batch_search WHERE rowid IN (${BATCHES})`,
  `DELETE FROM carried_lines WHERE cycle_id IN (${CYCLES})`,
  `DELETE FROM lines WHERE block_id IN (SELECT id FROM blocks WHERE compaction_id = ?)`,
  'DELETE FROM blocks WHERE compaction_id = ?',
  `DELETE FROM live_batches WHERE cycle_id IN (${CYCLES})`,
  `DELETE FROM batch_sources WHERE batch_id IN (${BATCHES})`,
  `DELETE FROM batches WHERE cycle_id IN (${CYCLES})`,
  'DELETE FROM cycles WHERE compaction_id = ?',
  'DELETE FROM inserted_lines WHERE compaction_id = ?',
  'DELETE FROM kept_runs WHERE compaction_id = ?',
  'DELETE FROM compactions WHERE id = ?',
] as const;

export type Settling = Pick<Archive, 'markApplied' | 'discard'>;

/**
 * How a prepared compaction ends. Two processes may settle one at the same time: discarding what is gone or applied does nothing;
 * applying what is gone is damage, for the compacted file then has no archive.
 */
export function createSettling(db: Database.Database, path: string): Settling {
  const markApplied = db.prepare<[number]>(MARK_APPLIED);
  const findPrepared = db.prepare<[number]>(FIND_PREPARED);
  const deletes = DELETE_COMPACTION.map((sql) => db.prepare<[number]>(sql));

  const discard = db.transaction((id: number): void => {
    if (findPrepared.get(id) === undefined) return;
    for (const statement of deletes) statement.run(id);
  });

  return {
    markApplied: (id) =>
      guard(path, () => {
        if (markApplied.run(id).changes === 0)
          throw new DamageError(`compaction ${id} was removed before it was applied`);
      }),
    discard: (id) => guard(path, () => discard.immediate(id)),
  };
}
