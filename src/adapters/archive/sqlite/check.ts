import { readInteger, readOptionalInteger, readText } from '../rows.ts';
import type { EngineCheck } from '../check/check.ts';
import { attempt, finding, type Finding, type Place, tryRead } from '../check/finding.ts';
import type { Query } from '../sql/query.ts';

/** Checks pages, indexes, constraints and the full-text indexes. SQLite stops after 100 errors. */
const INTEGRITY = 'PRAGMA integrity_check';
const LIST_ROOTS = 'SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0';
const LIST_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";

const WHOLE = { name: 'the database', compactionIds: [] };

/**
 * What SQLite itself finds wrong with the file. The transcripts that a page belongs to show when their rows are read.
 */
async function* checkStructure(query: Query): AsyncGenerator<Finding> {
  let isReadable = false;
  yield* attempt(WHOLE, async function* () {
    yield* checkIntegrity(query, { sql: INTEGRITY, place: WHOLE });
    isReadable = true;
  });
  // A damaged page stopped the check, so every table is checked on its own.
  if (isReadable) return;
  yield* attempt(WHOLE, async function* () {
    for (const row of await query(LIST_TABLES)) {
      const table = readText(row, 'name');
      const place = { name: `table ${table}`, compactionIds: [] };
      yield* attempt(place, () => checkIntegrity(query, { sql: `${INTEGRITY}("${table}")`, place }));
    }
  });
}

async function* checkIntegrity(
  query: Query,
  { sql, place }: { readonly sql: string; readonly place: Place },
): AsyncGenerator<Finding> {
  const roots = new Map(
    (await query(LIST_ROOTS)).map((row) => [readInteger(row, 'rootpage'), readText(row, 'name')] as const),
  );
  const messages = (await query(sql)).map((row) => readText(row, 'integrity_check'));
  for (const line of messages.flatMap((message) => message.split('\n'))) {
    if (line !== 'ok' && !line.startsWith('***')) yield finding('structure', place, nameTree(line, roots));
  }
}

/** SQLite refers to a table or index by its root page. */
function nameTree(line: string, roots: ReadonlyMap<number, string>): string {
  return line.replace(/^Tree (\d+)/, (tree, page: string) => roots.get(Number(page)) ?? tree);
}

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
const LIST_REFERRING = `
SELECT t.name FROM sqlite_schema AS t WHERE t.type = 'table' AND EXISTS (SELECT 1 FROM pragma_foreign_key_list(t.name)) ORDER BY t.rowid`;
const LIST_VIOLATED = 'SELECT DISTINCT fkid FROM pragma_foreign_key_check(:table)';
const GET_REFERENCE = 'SELECT "table" AS parent, "from" AS column FROM pragma_foreign_key_list(:table) WHERE id = :id';
/** Beyond this many compactions with the same damage, the other checks report the rest. */
const MAX_OWNERS = 20;

/** Finds rows that refer to missing rows, with SQLite's own check. Each finding names the compaction that owns them. */
async function* checkReferences(query: Query): AsyncGenerator<Finding> {
  const tables = await tryRead({ name: 'the list of tables', compactionIds: [] }, () => query(LIST_REFERRING));
  yield* tables.findings;
  for (const one of tables.value ?? []) {
    const table = readText(one, 'name');
    const owner = OWNERS[table] ?? 'NULL';
    yield* attempt({ name: `table ${table}`, compactionIds: [] }, async function* () {
      for (const { fkid } of await query(LIST_VIOLATED, { table })) {
        const [reference] = await query(GET_REFERENCE, { table, id: fkid });
        if (reference === undefined) continue;
        const [parent, column] = [readText(reference, 'parent'), readText(reference, 'column')];
        for (const row of await query(listOrphans({ table, owner, parent, column }))) {
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
WHERE t.${of.column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${of.parent} WHERE id = t.${of.column}) GROUP BY 1 LIMIT ${MAX_OWNERS}`;
}

/** Rows of an index that are checked in one go. */
const WINDOW_IDS = 50_000;

const INDEXES = [
  { name: 'the search index of messages', table: 'message_search', owned: 'lines AS o WHERE o.role IS NOT NULL AND' },
  { name: 'the search index of batches', table: 'batch_search', owned: "batches AS o WHERE o.content <> '' AND" },
] as const;

/** Finds rows of the full-text indexes that lead to nothing; yields null between windows of rows. */
async function* checkLeftovers(query: Query): AsyncGenerator<Finding | null> {
  for (const { name, table, owned } of INDEXES) {
    const place = { name, compactionIds: [] };
    // A contentless index lists its rows in its docsize table.
    const getLast = `SELECT coalesce(max(id), 0) AS id FROM ${table}_docsize`;
    const listLeftovers = `
SELECT d.id FROM ${table}_docsize AS d
WHERE d.id > :from AND d.id <= :to AND NOT EXISTS (SELECT 1 FROM ${owned} o.id = d.id) ORDER BY d.id`;
    yield* attempt(place, async function* (): AsyncGenerator<Finding | null> {
      const last = readInteger((await query(getLast))[0] ?? {}, 'id');
      for (let from = 0; from < last; from += WINDOW_IDS) {
        yield null;
        const rows = await query(listLeftovers, { from, to: from + WINDOW_IDS });
        const [first] = rows;
        if (first === undefined) continue;
        const what = `${rows.length} of its rows ${rows.length === 1 ? 'leads' : 'lead'} to nothing (the first is ${readInteger(first, 'id')})`;
        yield finding('search', place, what);
      }
    });
  }
}

const PLACE = { name: 'the vectors', compactionIds: [] } as const;
const INDEX = { name: 'the search index of vectors', compactionIds: [] } as const;
const DIMENSIONS = 'SELECT coalesce((SELECT dimensions FROM vector_model), -1) AS dimensions';
const COUNT_WRONG = `
SELECT
  (SELECT count(*) FROM message_vectors WHERE length(vector) <> :dimensions) +
  (SELECT count(*) FROM batch_vectors WHERE length(vector) <> :dimensions) AS wrong`;
/** A table of the index that can be read without the extension. */
const HAS_INDEX =
  "SELECT count(*) AS count FROM sqlite_schema WHERE type = 'table' AND name = 'message_vector_search_rowids'";
const COUNT_UNINDEXED = `
SELECT
  (SELECT count(*) FROM message_vectors AS v WHERE v.vector IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM message_vector_search_rowids AS i WHERE i.rowid = v.line_id)) AS missing,
  (SELECT count(*) FROM message_vector_search_rowids AS i
    WHERE NOT EXISTS (SELECT 1 FROM message_vectors AS v WHERE v.line_id = i.rowid AND v.vector IS NOT NULL)) AS leftover`;

/**
 * Finds vectors with the wrong length, missing from the index, or of nothing that is archived; yields null in between.
 */
async function* checkVectors(query: Query): AsyncGenerator<Finding | null> {
  yield null;
  yield* attempt<Finding | null>(PLACE, async function* () {
    const dimensions = readInteger((await query(DIMENSIONS))[0] ?? {}, 'dimensions');
    const wrong = readInteger((await query(COUNT_WRONG, { dimensions }))[0] ?? {}, 'wrong');
    if (wrong > 0) yield finding('wrong-count', PLACE, `of another length than their model gives: ${wrong}`);
    yield null;
    if (dimensions < 0) return;
    if (readInteger((await query(HAS_INDEX))[0] ?? {}, 'count') !== 1) {
      yield finding('search', INDEX, 'it is gone');
      return;
    }
    const [row = {}] = await query(COUNT_UNINDEXED);
    const [missing, leftover] = [readInteger(row, 'missing'), readInteger(row, 'leftover')];
    if (missing > 0) yield finding('search', INDEX, `not in it, and so never found: ${missing}`);
    if (leftover > 0) yield finding('search', INDEX, `rows that lead to nothing: ${leftover}`);
  });
}

export const SQLITE_CHECK: EngineCheck = {
  structure: async function* structure({ query }) {
    yield* checkStructure(query);
    yield null;
    yield* checkReferences(query);
  },
  derived: async function* derived({ query }) {
    yield* checkLeftovers(query);
    yield* checkVectors(query);
  },
  lastIds: [
    "SELECT coalesce(max(seq), 0) AS id FROM sqlite_sequence WHERE name = 'compactions'",
    'SELECT coalesce(max(id), 0) AS id FROM compactions',
  ],
  fileBytes: 'SELECT page_count * page_size AS size FROM pragma_page_count, pragma_page_size',
};
