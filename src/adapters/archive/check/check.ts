import type { ArchiveCheckStep } from '../../../ports/archive-check.ts';
import type { Archive } from '../../../ports/archive.ts';
import { describeDamage } from '../failure.ts';
import { readInteger } from '../rows.ts';
import type { Sql } from '../sql/query.ts';
import { countBlock } from './block.ts';
import { checkCaptures } from './captures.ts';
import { checkCycles } from './cycles.ts';
import {
  attempt,
  type CheckSource,
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
import { checkInsertedLines } from './inserted-lines.ts';
import { checkLines } from './lines.ts';

/** What only one engine has to check. Null says that a check is still at work. */
export type EngineCheck = {
  /** Pages, indexes and references, before anything else is read. */
  readonly structure: (source: CheckSource) => AsyncIterable<Finding | null>;
  /** What is derived from the rest: the search index and the vectors. */
  readonly derived: (source: CheckSource) => AsyncIterable<Finding | null>;
  /** The highest ids of compactions, as `id`: each statement may find one that another one misses. */
  readonly lastIds: readonly string[];
  /** What the archive takes on disk, as `size`. */
  readonly fileBytes: string;
};

/** Checks everything that is stored, in one snapshot of the archive. `path`: of the archive, for messages. */
export function createCheck(sql: Sql, path: string, engine: EngineCheck): Archive['check'] {
  return async function* check() {
    const { query, rollback } = await sql.begin('snapshot');
    try {
      yield* steps({ query, dialect: sql.dialect }, path, engine);
    } finally {
      await rollback(); // nothing was written
    }
  };
}

async function* steps(source: CheckSource, path: string, engine: EngineCheck): AsyncGenerator<ArchiveCheckStep> {
  const { query } = source;
  const filesOf = createFileFinder(source);
  const totals = createTotals();

  // One unreadable page affects many rows, but is reported once.
  const told = { message: '' };
  async function* tell({ kind, message, compactionIds }: Finding): AsyncGenerator<ArchiveCheckStep> {
    if (message !== told.message)
      yield { kind: 'damage', damage: { kind, message, files: await filesOf(compactionIds) } };
    told.message = message;
  }
  async function* tellAll(stage: string, findings: AsyncIterable<Finding | null>): AsyncGenerator<ArchiveCheckStep> {
    yield progress(stage, 0, 1);
    for await (const found of findings) {
      if (found === null) yield progress(stage, 0, 1);
      else yield* tell(found);
    }
  }

  // Ids are never reused, so a missing one was discarded. With damage, one statement may miss what another one finds.
  let last = 0;
  const list = { name: 'the list of compactions', compactionIds: [] };
  for (const sql of engine.lastIds) {
    const { value, findings } = await tryRead(list, async () => readInteger((await query(sql))[0] ?? {}, 'id'));
    last = Math.max(last, value ?? 0);
    for (const found of findings) yield* tell(found);
  }
  yield* tellAll('checking the database', engine.structure(source));
  for (let id = 1; id <= last; id += 1) {
    yield progress('checking what is stored', id - 1, last);
    for await (const found of checkCompaction(source, id, totals)) {
      if (found === null) yield progress('checking what is stored', id - 1, last);
      else if ('isPrepared' in found) {
        if (found.isPrepared) yield { kind: 'prepared', files: await filesOf([id]) };
      } else yield* tell(found);
    }
  }
  for await (const damage of checkCaptures(source, { totals, path })) {
    if (damage === null) yield progress('checking captured files', 0, 1);
    else yield { kind: 'damage', damage };
  }
  yield* tellAll('checking the search index', engine.derived(source));
  const [file = {}] = await query(engine.fileBytes);
  yield toCounted(totals, readInteger(file, 'size'));
}

/** Checks one compaction: yields its head, its findings, and now and then null to give control back. */
async function* checkCompaction(
  source: CheckSource,
  id: number,
  totals: Totals,
): AsyncGenerator<Finding | Head | null> {
  const { query } = source;
  const heads: Head[] = [];
  yield* attempt(placeOf(id), async function* () {
    for (const row of await query('SELECT * FROM compactions WHERE id = :id', { id })) {
      const head = readHead(row);
      heads.push(head);
      yield* checkSettings(row, head);
    }
  });
  for (const head of heads) {
    if (head.isErased) continue;
    totals.compactions += 1;
    yield head;
    const lines = yield* checkLines(source, head, (block) => countBlock(totals, block));
    yield* checkInsertedLines(query, head, lines);
    const onBatch = (): void => {
      totals.batches += 1;
    };
    yield* checkCycles(source, { head, lines, onBatch });
  }
}

/** Lists the files affected by damage in compactions, each once, as far as they can still be read. */
function createFileFinder({ query }: CheckSource): (compactionIds: readonly number[]) => Promise<readonly string[]> {
  const find = async (id: number): Promise<readonly string[]> => {
    try {
      return (await query(LIST_TOUCHED, { id })).flatMap(toTouched);
    } catch (error) {
      if (describeDamage(error) === null) throw error;
      return [];
    }
  };
  // Findings about one compaction come in a row, so the last answer is kept.
  const last: { id: number; files: readonly string[] } = { id: -1, files: [] };
  return async (compactionIds) => {
    const all = new Set<string>();
    for (const id of compactionIds) {
      if (last.id !== id) {
        last.files = await find(id);
        last.id = id;
      }
      for (const file of last.files) all.add(file);
    }
    return [...all];
  };
}
