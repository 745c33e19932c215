import { readInteger, readText } from '../rows.ts';
import type { EngineCheck } from '../check/check.ts';
import { attempt, finding, type Finding, nowhere, type Place } from '../check/finding.ts';
import { countRows, type Query } from '../sql/query.ts';

/** Checks pages, indexes, constraints and the full-text indexes. SQLite stops after 100 errors. */
const INTEGRITY = 'PRAGMA integrity_check';
const LIST_ROOTS = 'SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0';
const LIST_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";

const WHOLE = nowhere('the database');

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
      const place = nowhere(`table ${table}`);
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
    // SQLite refers to a table or index by its root page.
    const what = line.replace(/^Tree (\d+)/, (tree, page: string) => roots.get(Number(page)) ?? tree);
    if (line !== 'ok' && !line.startsWith('***')) yield finding('structure', place, what);
  }
}

/** Rows of an index that are checked in one go. */
const WINDOW_IDS = 50_000;

const MESSAGES = `
SELECT 1 FROM lines AS o WHERE o.role IS NOT NULL AND o.id = d.id
UNION ALL SELECT 1 FROM captured_messages AS o WHERE o.line_id IS NULL AND o.captured_id = -d.id`;
const INDEXES = [
  { name: 'the search index of messages', table: 'message_search', owned: MESSAGES },
  {
    name: 'the search index of batches',
    table: 'batch_search',
    owned: 'SELECT 1 FROM batches AS o WHERE o.text_size > 0 AND o.id = d.id',
  },
] as const;

/** Finds rows of the full-text indexes that lead to nothing; yields null between windows of rows. */
async function* checkLeftovers(query: Query): AsyncGenerator<Finding | null> {
  for (const { name, table, owned } of INDEXES) {
    const place = nowhere(name);
    // A contentless index lists its rows in its docsize table.
    const getEnds = `SELECT coalesce(min(id), 1) AS first, coalesce(max(id), 0) AS last FROM ${table}_docsize`;
    const listLeftovers = `
SELECT d.id FROM ${table}_docsize AS d
WHERE d.id > :from AND d.id <= :to AND NOT EXISTS (${owned}) ORDER BY d.id`;
    yield* attempt(place, async function* (): AsyncGenerator<Finding | null> {
      const [ends = {}] = await query(getEnds);
      const last = readInteger(ends, 'last');
      for (let from = readInteger(ends, 'first') - 1; from < last; from += WINDOW_IDS) {
        yield null;
        const ids = await query.numbers(listLeftovers, { from, to: from + WINDOW_IDS });
        const what = `${ids.length} of its rows ${ids.length === 1 ? 'leads' : 'lead'} to nothing (the first is ${ids[0]})`;
        if (ids.length > 0) yield finding('search', place, what);
      }
    });
  }
}

const VECTORS = nowhere('the search index of vectors');
/** A table of the index that can be read without the extension. */
const INDEX = "sqlite_schema WHERE type = 'table' AND name = 'message_vector_search_rowids'";
const MISSING = `
message_vectors AS v
WHERE v.vector IS NOT NULL AND NOT EXISTS (SELECT 1 FROM message_vector_search_rowids AS i WHERE i.rowid = v.line_id)`;
const LEFTOVER = `
message_vector_search_rowids AS i
WHERE NOT EXISTS (SELECT 1 FROM message_vectors AS v WHERE v.line_id = i.rowid AND v.vector IS NOT NULL)`;

/** Finds vectors that are missing from the index, or of nothing that is archived; yields null before. */
async function* checkVectorIndex(query: Query): AsyncGenerator<Finding | null> {
  yield null;
  yield* attempt<Finding | null>(nowhere('the vectors'), async function* () {
    if ((await countRows(query, 'vector_model')) === 0) return;
    if ((await countRows(query, INDEX)) !== 1) {
      yield finding('search', VECTORS, 'it is gone');
      return;
    }
    const [missing, leftover] = [await countRows(query, MISSING), await countRows(query, LEFTOVER)];
    if (missing > 0) yield finding('search', VECTORS, `not in it, and so never found: ${missing}`);
    if (leftover > 0) yield finding('search', VECTORS, `rows that lead to nothing: ${leftover}`);
  });
}

export const SQLITE_CHECK: EngineCheck = {
  structure: ({ query }) => checkStructure(query),
  derived: async function* derived({ query }) {
    yield* checkLeftovers(query);
    yield* checkVectorIndex(query);
  },
  lastIds: [
    "SELECT coalesce(max(seq), 0) AS id FROM sqlite_sequence WHERE name = 'compactions'",
    'SELECT coalesce(max(id), 0) AS id FROM compactions',
  ],
  fileBytes: 'SELECT page_count * page_size AS size FROM pragma_page_count, pragma_page_size',
};
