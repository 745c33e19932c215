import type Database from 'better-sqlite3';
import type { ArchiveCheckStep } from '../../../ports/archive-check.ts';
import { describeDamage, guard } from '../failure.ts';
import type { Row } from '../rows.ts';
import { countBlock } from './block.ts';
import { checkCaptures } from './captures.ts';
import { createCycleCheck } from './cycles.ts';
import {
  attempt,
  checkSettings,
  createTotals,
  type Finding,
  type Head,
  LIST_TOUCHED,
  placeOf,
  progress,
  readHead,
  toCounted,
  type Totals,
  toTouched,
  tryRead,
} from './finding.ts';
import { createInsertedLineCheck } from './inserted-lines.ts';
import { createLineCheck } from './lines.ts';
import type { SyncArchive } from '../sync-archive.ts';
import { checkLeftovers, checkReferences, checkStructure, checkVectors } from './structure.ts';

/**
 * Ids are never reused, so a missing one was discarded. Two statements, so that one unreadable page does not hide the
 * rest.
 */
const LAST_COMPACTIONS = [
  "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'compactions'",
  'SELECT coalesce(max(id), 0) FROM compactions',
];
const GET_COMPACTION = 'SELECT * FROM compactions WHERE id = ?';
const FILE_BYTES = 'SELECT page_count * page_size FROM pragma_page_count, pragma_page_size';

/** Checks everything that is stored, in one snapshot of the archive. */
export function createCheck(db: Database.Database, path: string): SyncArchive['check'] {
  return function* check() {
    const isOwnTransaction = !db.inTransaction;
    if (isOwnTransaction) guard(path, () => db.exec('BEGIN'));
    try {
      yield* guarded(path, steps(db, path));
    } finally {
      if (isOwnTransaction && db.inTransaction) db.exec('ROLLBACK');
    }
  };
}

/** Each step may fail as any method of an archive may. */
function* guarded<T>(path: string, values: Iterator<T>): Generator<T> {
  for (let next = guard(path, () => values.next()); next.done !== true; next = guard(path, () => values.next()))
    yield next.value;
}

function* steps(db: Database.Database, path: string): Generator<ArchiveCheckStep> {
  const filesOf = createFileFinder(db);
  const checkOne = createCompactionCheck(db);
  const totals = createTotals();

  // One unreadable page affects many rows, but is reported once.
  const told = { message: '' };
  function* tell({ kind, message, compactionIds }: Finding): Generator<ArchiveCheckStep> {
    if (message !== told.message) yield { kind: 'damage', damage: { kind, message, files: filesOf(compactionIds) } };
    told.message = message;
  }

  const lasts = LAST_COMPACTIONS.map((sql) =>
    tryRead({ name: 'the list of compactions', compactionIds: [] }, () => db.prepare<[], number>(sql).pluck().get()),
  );
  const last = Math.max(...lasts.map(({ value }) => value ?? 0));

  for (const found of lasts.flatMap(({ findings }) => findings)) yield* tell(found);
  yield progress('checking the file', 0, 2);
  for (const found of checkStructure(db)) yield* tell(found);
  yield progress('checking the file', 1, 2);
  for (const found of checkReferences(db)) yield* tell(found);
  for (let id = 1; id <= last; id += 1) {
    yield progress('checking what is stored', id - 1, last);
    for (const found of checkOne(id, totals)) {
      if (found === null) yield progress('checking what is stored', id - 1, last);
      else if ('isPrepared' in found) {
        if (found.isPrepared) yield { kind: 'prepared', files: filesOf([id]) };
      } else yield* tell(found);
    }
  }
  for (const damage of checkCaptures(db, { totals, path })) {
    if (damage === null) yield progress('checking captured files', 0, 1);
    else yield { kind: 'damage', damage };
  }
  for (const found of checkLeftovers(db)) {
    if (found === null) yield progress('checking the search index', 0, 1);
    else yield* tell(found);
  }
  for (const found of checkVectors(db)) {
    if (found === null) yield progress('checking the vectors', 0, 1);
    else yield* tell(found);
  }
  yield toCounted(totals, db.prepare<[], number>(FILE_BYTES).pluck().get() ?? 0);
}

/** Checks one compaction: yields its head, its findings, and now and then null to give control back. */
function createCompactionCheck(
  db: Database.Database,
): (id: number, totals: Totals) => Generator<Finding | Head | null> {
  const getCompaction = db.prepare<[number], Row>(GET_COMPACTION);
  const checkLines = createLineCheck(db);
  const checkInsertedLines = createInsertedLineCheck(db);
  const checkCycles = createCycleCheck(db);

  return function* checkCompaction(id, totals) {
    const heads: Head[] = [];
    yield* attempt(placeOf(id), function* () {
      const row = getCompaction.get(id);
      if (row === undefined) return;
      const head = readHead(row);
      heads.push(head);
      yield* checkSettings(row, head);
    });
    for (const head of heads) {
      if (head.isErased) continue;
      totals.compactions += 1;
      yield head;
      const lines = yield* checkLines(head, (block) => countBlock(totals, block));
      yield* checkInsertedLines(head, lines);
      yield* checkCycles(head, lines, () => {
        totals.batches += 1;
      });
    }
  };
}

/** Lists the files affected by damage in compactions, each once, as far as they can still be read. */
function createFileFinder(db: Database.Database): (compactionIds: readonly number[]) => readonly string[] {
  const listTouched = db.prepare<[{ readonly id: number }], Row>(LIST_TOUCHED);
  const find = (id: number): readonly string[] => {
    try {
      return listTouched.all({ id }).flatMap(toTouched);
    } catch (error) {
      if (describeDamage(error) === null) throw error;
      return [];
    }
  };
  // Findings about one compaction come in a row, so the last answer is kept.
  const last: { id: number; files: readonly string[] } = { id: -1, files: [] };
  const findOnce = (id: number): readonly string[] => {
    if (last.id !== id) {
      last.files = find(id);
      last.id = id;
    }
    return last.files;
  };
  return (compactionIds) => [...new Set(compactionIds.flatMap(findOnce))];
}
