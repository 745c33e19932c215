import { readInteger, readText, type Row } from '../rows.ts';
import { POSTGRES } from './sql.ts';
import { filterValues, LINE_PASSES, type VectorEngine } from '../search/engine.ts';
import { type Query, readNumber } from '../sql/query.ts';

/**
 * The extension pgvector keeps a copy of each message's vector in a column that Postgres makes itself, so whatever stores, merges or erases
 * vectors knows nothing of it. The server then finds candidates, and the caller compares them exactly.
 */
const FIND_EXTENSION = `
SELECT quote_ident(n.nspname) AS home,
  (CASE WHEN has_schema_privilege(n.oid, 'USAGE') THEN to_regtype(quote_ident(n.nspname) || '.halfvec') IS NOT NULL ELSE false END)::int AS has_type,
  EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = t.oid AND attname = 'near' AND NOT attisdropped)::int AS has_column,
  (pg_has_role(t.relowner, 'USAGE') AND has_schema_privilege(t.relnamespace, 'CREATE'))::int AS may_add
FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace, pg_class AS t
WHERE e.extname = 'vector' AND t.oid = 'message_vectors'::regclass`;

/** halfvec came with pgvector 0.7. It has all integers up to 2048, so it has stored vectors exactly; and at most 16,000 numbers. */
const addColumn = (home: string): readonly string[] => [
  `CREATE OR REPLACE FUNCTION near_vector(stored bytea) RETURNS ${home}.halfvec LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN (
SELECT array_agg((get_byte(stored, at) + 128) % 256 - 128 ORDER BY at)::real[]::${home}.halfvec
FROM generate_series(0, length(stored) - 1) AS at WHERE length(stored) <= 16000)`,
  `ALTER TABLE message_vectors ADD COLUMN near ${home}.halfvec GENERATED ALWAYS AS (near_vector(vector)) STORED`,
  'ALTER TABLE message_vectors ALTER COLUMN near SET STATISTICS 0',
];

/** Copying a vector takes about 2 ms, during which nobody can read the table. */
const MAX_COPIED_VECTORS = 5000;
const COUNT_VECTORS = `SELECT count(*)::int AS found FROM (SELECT FROM message_vectors LIMIT ${MAX_COPIED_VECTORS + 1}) AS counted`;

/**
 * Adds the column if pgvector is installed, nobody has added it, this user may, and few vectors are stored already: they are copied. Runs in a
 * transaction that holds the lock of the vectors.
 */
async function addNearColumn(query: Query): Promise<void> {
  const [row] = await query(FIND_EXTENSION);
  if (row?.['has_type'] !== 1 || row['has_column'] !== 0 || row['may_add'] !== 1) return;
  if ((await readNumber(query, COUNT_VECTORS)) > MAX_COPIED_VECTORS) return;
  for (const statement of addColumn(readText(row, 'home'))) await query(statement);
}

/** As many as are compared exactly in any case. */
const MIN_CANDIDATES = 1000;
/** Zero vectors have no distance: nothing in common. A vector of another length may be anything. */
const distance = (home: string): string => `
coalesce(nullif(CASE WHEN length(v.vector) = :dimensions AND v.near IS NOT NULL THEN v.near OPERATOR(${home}.<=>) :vector::${home}.halfvec ELSE -1 END, 'NaN'), 1)`;
const listNearest = (home: string): string => `
SELECT v.line_id AS id, ${distance(home)} AS distance FROM message_vectors AS v WHERE v.vector IS NOT NULL ORDER BY 2, 1 LIMIT :count`;
const listNearestPassing = (home: string): string => `
SELECT l.id, ${distance(home)} AS distance FROM message_vectors AS v JOIN lines AS l ON l.id = v.line_id ${POSTGRES.lineJoins}
WHERE v.vector IS NOT NULL AND ${LINE_PASSES} ORDER BY 2, 1 LIMIT :count`;

type Found = { readonly id: number; readonly distance: number };
/**
 * Ids of messages that pass the filter, among them all of the nearest; `listPassing` says which of them pass. Null: the server cannot tell,
 * so every vector must be compared.
 */
const findCandidates: VectorEngine['findCandidates'] = async (query, vector, { filter, limit, listPassing }) => {
  const [extension] = await query(FIND_EXTENSION);
  const text = halfVector(vector);
  if (extension === undefined || readInteger(extension, 'has_column') === 0 || text === null) return null;
  const home = readText(extension, 'home');
  const count = MIN_CANDIDATES + 2 * limit;
  const values = { vector: text, dimensions: vector.length, count };
  const nearest = toFound(await query(listNearest(home), values));
  const passing = await listPassing(nearest.map(({ id }) => id));
  const asked = { limit, count, tolerance: toleranceOf(vector.length) };
  const passed = nearest.filter(({ id }) => passing.has(id));
  const found = chooseCandidates(nearest, passed, asked);
  if (found !== null) return found;
  // The filter leaves few of them, so the server looks only at those.
  const rows = toFound(await query(listNearestPassing(home), { ...values, ...filterValues(filter) }));
  return chooseCandidates(rows, rows, asked);
};

function toFound(rows: readonly Row[]): readonly Found[] {
  return rows.map((row) => ({ id: readInteger(row, 'id'), distance: Number(row['distance']) }));
}

/**
 * Whoever is farther away by twice the tolerance than the last one asked for cannot be among the nearest. Null: the rows end before that, so
 * others may be. `count`: of how many the rows are the nearest.
 */
function chooseCandidates(
  rows: readonly Found[],
  passing: readonly Found[],
  { limit, count, tolerance }: { readonly [name in 'limit' | 'count' | 'tolerance']: number },
) {
  const last = passing[limit - 1];
  const border = last === undefined ? Number.POSITIVE_INFINITY : last.distance + 2 * tolerance;
  const isComplete = rows.length < count || (rows.at(-1)?.distance ?? 0) > border;
  return isComplete ? passing.filter((row) => row.distance <= border).map(({ id }) => id) : null;
}

/**
 * How far the server's distance may be from the exact one: numbers of a query have 11 bits there, which changes a cosine by at most 2^-10, and
 * each of three sums of n products in single precision is off by at most n * 2^-24 of its size. Both are doubled, to be safe.
 */
function toleranceOf(dimensions: number): number {
  return 2 ** -9 + dimensions * 2 ** -21;
}

/** The direction of a vector as pgvector reads it; null: it has none. */
function halfVector(vector: Float32Array): string | null {
  const largest = vector.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  if (largest === 0 || !Number.isFinite(largest)) return null;
  return `[${Array.from(vector, (number) => (number / largest).toFixed(9)).join(',')}]`;
}

export const LOCK_VECTORS = "SELECT pg_advisory_xact_lock(hashtextextended('compact vectors', 0))";

/** Without pgvector, every vector is compared here. */
export const POSTGRES_VECTORS: VectorEngine = {
  prepare: async () => undefined,
  lock: async (query) => void (await query(LOCK_VECTORS)),
  begin: addNearColumn,
  forget: async () => undefined,
  index: async () => undefined, // the server fills the column of pgvector itself
  findCandidates,
};
