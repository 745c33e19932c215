import type Database from 'better-sqlite3';
import { type CheckedLine, nameLines } from './block.ts';
import { attempt, finding, type Finding, type Place } from './finding.ts';

const GET_CYCLE_OF_BATCH = 'SELECT cycle_id FROM batches WHERE id = ?';
const GET_COMPACTION_OF_CYCLE = 'SELECT compaction_id FROM cycles WHERE id = ?';
const IS_FINDABLE = 'SELECT 1 FROM message_search_docsize WHERE id = :id';

type Of = { readonly compactionId: number; readonly place: Place };

/** What the lines of a block belong to: a summarized one to a batch, any other to none, all of their own compaction; and a message is in the index. */
export function createBelongingCheck(
  db: Database.Database,
): (lines: readonly CheckedLine[], of: Of) => Iterable<Finding> {
  const getCycle = db.prepare<[number], number>(GET_CYCLE_OF_BATCH).pluck();
  const getCompaction = db.prepare<[number], number>(GET_COMPACTION_OF_CYCLE).pluck();
  const isFindable = db.prepare<[object], number>(IS_FINDABLE).pluck();

  const ownerOf = ({ batchId, cycleId }: CheckedLine): number | null => {
    const cycle = batchId === null ? cycleId : (getCycle.get(batchId) ?? null);
    return cycle === null ? null : (getCompaction.get(cycle) ?? null);
  };

  function* checkOwners(lines: readonly CheckedLine[], { compactionId, place }: Of): Generator<Finding> {
    const stray = lines.filter((line) => {
      if (line.isSummarized !== (line.batchId !== null)) return true;
      const owner = ownerOf(line);
      return owner !== null && owner !== compactionId; // one that is gone is SQLite's to notice
    });
    const named = nameLines(stray.map(({ line }) => line));
    if (named !== null) yield finding('reference', place, `${named} not with a batch or conversation of its own`);
  }

  function* checkIndex(lines: readonly CheckedLine[], { place }: Of): Generator<Finding> {
    const lost = lines.filter(({ id, isMessage }) => isMessage && isFindable.get({ id }) === undefined);
    const named = nameLines(lost.map(({ line }) => line));
    if (named !== null)
      yield finding('search', place, `${named} not in the search index, and thus not found by its words`);
  }

  return function* checkBelonging(lines, of) {
    yield* attempt({ ...of.place, name: `${of.place.name}, batches of its lines` }, () => checkOwners(lines, of));
    yield* attempt({ ...of.place, name: `${of.place.name}, search index` }, () => checkIndex(lines, of));
  };
}
