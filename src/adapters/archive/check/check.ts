import { hash } from 'node:crypto';
import { isWithoutTexts } from '../erase/settings.ts';
import type { ArchiveCheckStep, Archive } from '../../../ports/archive.ts';
import { createUnpack } from '../blocks.ts';
import { GET_COMPACTION, readHead } from '../read/compactions.ts';
import { readHash, readInteger, readOptionalText, readText } from '../rows.ts';
import type { Sql } from '../sql/query.ts';
import { checkCaptures } from './captures.ts';
import { checkCycles } from './cycles.ts';
import {
  attempt,
  type CheckSource,
  type Finding,
  finding,
  type Head,
  nowhere,
  placeOf,
  type Totals,
  tryRead,
} from './finding.ts';
import { checkInsertedLines } from './inserted-lines.ts';
import { checkLines } from './lines.ts';
import { checkReferences, checkVectors } from './references.ts';

/** What only one engine has to check. Null says that a check is still at work. */
export type EngineCheck = {
  /** Pages and indexes, before anything else is read. */
  readonly structure: (source: CheckSource) => AsyncIterable<Finding | null>;
  /** The search indexes, which are derived from the rest. */
  readonly derived: (source: CheckSource) => AsyncIterable<Finding | null>;
  /** The highest ids of compactions, as `id`: each statement may find one that another one misses. */
  readonly lastIds: readonly string[];
  /** What the archive takes on disk, as `size`. */
  readonly fileBytes: string;
};

/** A compaction's own files and those of later cycles: they show its batches and need it to restore the original. */
const LIST_TOUCHED = `
WITH RECURSIVE touched (id) AS (
  SELECT id FROM cycles WHERE compaction_id = :id
  UNION SELECT c.id FROM touched JOIN cycles AS c ON c.parent_cycle_id = touched.id
)
SELECT source_path, output_path FROM compactions
WHERE id = :id OR id IN (SELECT c.compaction_id FROM touched JOIN cycles AS c ON c.id = touched.id) ORDER BY id`;

/** Checks everything that is stored, in one snapshot of the archive. `path`: of the archive, for messages. */
export function createCheck(sql: Sql, path: string, engine: EngineCheck): Archive['check'] {
  return async function* check() {
    const { query, rollback } = await sql.begin('snapshot');
    try {
      yield* steps({ query, dialect: sql.dialect, unpack: createUnpack() }, path, engine);
    } finally {
      await rollback(); // nothing was written
    }
  };
}

async function* steps(source: CheckSource, path: string, engine: EngineCheck): AsyncGenerator<ArchiveCheckStep> {
  const { query } = source;
  const filesOf = createFileFinder(source);
  const totals: Totals = { compactions: 0, batches: 0, captured: 0, lines: 0, blocks: 0, original: 0, compressed: 0 };

  // One unreadable page affects many rows, but is reported once.
  const told = { message: '' };
  async function* tell({ kind, message, compactionIds, files }: Finding): AsyncGenerator<ArchiveCheckStep> {
    if (message !== told.message)
      yield { kind: 'damage', damage: { kind, message, files: files ?? (await filesOf(compactionIds)) } };
    told.message = message;
  }
  async function* tellAll(
    progress: Omit<Extract<ArchiveCheckStep, { readonly kind: 'progress' }>, 'kind'>,
    findings: AsyncIterable<Finding | Head | null>,
  ): AsyncGenerator<ArchiveCheckStep> {
    yield { kind: 'progress', ...progress };
    for await (const found of findings) {
      if (found === null) yield { kind: 'progress', ...progress };
      else if (!('isPrepared' in found)) yield* tell(found);
      else if (found.isPrepared) yield { kind: 'prepared', files: await filesOf([found.id]) };
    }
  }
  async function* inTurn(
    ...checks: readonly ((source: CheckSource) => AsyncIterable<Finding | null>)[]
  ): AsyncGenerator<Finding | null> {
    for (const [at, check] of checks.entries()) {
      if (at > 0) yield null;
      yield* check(source);
    }
  }

  // Ids are never reused, so a missing one was discarded. With damage, one statement may miss what another one finds.
  let last = 0;
  for (const sql of engine.lastIds) {
    const { value, damage } = await tryRead(async () => readInteger((await query(sql))[0] ?? {}, 'id'));
    if (damage === null) last = Math.max(last, value);
    else yield* tell(finding('unreadable', nowhere('the list of compactions'), damage));
  }
  const whole = { done: 0, total: 1 };
  yield* tellAll({ stage: 'checking the database', ...whole }, inTurn(engine.structure, checkReferences));
  for (let id = 1; id <= last; id += 1) {
    const progress = { stage: 'checking what is stored', done: id - 1, total: last };
    yield* tellAll(progress, checkCompaction(source, id, totals));
  }
  yield* tellAll({ stage: 'checking captured files', ...whole }, checkCaptures(source, path, totals));
  yield* tellAll({ stage: 'checking the search index', ...whole }, inTurn(checkVectors, engine.derived));
  const [file = {}] = await query(engine.fileBytes);
  const { original, compressed, ...counts } = totals;
  yield { kind: 'counted', counts: { ...counts, bytes: { original, compressed, file: readInteger(file, 'size') } } };
}

/** Checks one compaction: yields its head, its findings, and now and then null to give control back. */
async function* checkCompaction(
  source: CheckSource,
  id: number,
  totals: Totals,
): AsyncGenerator<Finding | Head | null> {
  const { query } = source;
  const heads: Head[] = [];
  const place = placeOf(id);
  yield* attempt(place, async function* () {
    for (const row of await query(GET_COMPACTION, { id })) {
      const status = readText(row, 'status');
      if (status !== 'erased') heads.push({ ...readHead(row), id, place, isPrepared: status === 'prepared' });
      const settings = readText(row, 'settings');
      if (hash('sha256', settings) !== readHash(row, 'settings_sha256') && !isWithoutTexts(settings))
        yield finding('wrong-hash', place, 'its settings differ from their hash');
    }
  });
  for (const head of heads) {
    totals.compactions += 1;
    yield head;
    const lines = yield* checkLines(source, head, totals);
    yield* checkInsertedLines(source, head, lines);
    yield* checkCycles(source, { head, lines, totals });
  }
}

/** Lists the files affected by damage in compactions, each once, as far as they can still be read. */
function createFileFinder({ query }: CheckSource): (compactionIds: readonly number[]) => Promise<readonly string[]> {
  const find = async (id: number): Promise<readonly string[]> => {
    const { value } = await tryRead(async () =>
      (await query(LIST_TOUCHED, { id })).flatMap((row) =>
        [readText(row, 'source_path'), readOptionalText(row, 'output_path')].filter((path) => path !== null),
      ),
    );
    return value ?? [];
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
