import { type Row, toHex } from '../rows.ts';
import {
  type Dialect,
  type Query,
  quoteNames,
  type Sql,
  type Transaction,
  type TransactionKind,
  type Values,
  workIn,
} from '../sql/query.ts';
import { isLost } from './failure.ts';
import { COLUMN_TYPES } from './schema.ts';
import { thisMachine } from '../../runtime/node.ts';

/** What a driver has to offer: positional places ($1), and rows as objects with 64-bit integers as numbers. */
export type Driver = {
  /** On any connection. */
  readonly query: DriverQuery;
  /** A connection for a transaction; `release` must be called. */
  readonly connect: () => Promise<{
    readonly query: DriverQuery;
    /** `isBroken`: the connection is not used again. */
    readonly release: (isBroken: boolean) => void;
  }>;
  /** Runs a statement that may take hours and cannot be in a transaction. It waits only so long for others. */
  readonly maintain: (sql: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

type DriverQuery = (sql: string, values: readonly unknown[]) => Promise<readonly Row[]>;

export type PostgresSql = Sql & Pick<Driver, 'maintain' | 'close'>;

const BEGIN = {
  write: 'BEGIN',
  trial: 'BEGIN',
  snapshot: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
} as const satisfies { readonly [kind in TransactionKind]: string };

/** How calls survive a lost connection; `run` repeats the work or throws its error. */
export type Retry = <T>(work: () => Promise<T>) => Promise<T>;

export function createSql(driver: Driver, retry: Retry): PostgresSql {
  return {
    dialect: POSTGRES,
    query: bound((sql, values) => retry(() => driver.query(sql, values))),
    // Nothing of a transaction is stored before its end, so all of it may be repeated.
    transaction: (kind, work) => retry(() => workIn(begin(driver, kind), work)),
    begin: (kind) => retry(() => begin(driver, kind)),
    maintain: (sql) => retry(() => driver.maintain(sql)),
    close: driver.close,
  };
}

async function begin(driver: Driver, kind: TransactionKind): Promise<Transaction> {
  const { query, release } = await driver.connect();
  const state = { isOpen: true };
  const send = async (statement: 'BEGIN' | 'COMMIT' | 'ROLLBACK'): Promise<void> => {
    if (!state.isOpen) {
      if (statement === 'COMMIT') throw new Error('this transaction has ended');
      return;
    }
    try {
      await query(statement === 'BEGIN' ? BEGIN[kind] : statement, []);
      if (statement !== 'BEGIN') state.isOpen = false;
    } catch (error) {
      state.isOpen = false;
      release(true);
      throw error;
    }
    if (statement !== 'BEGIN') release(false);
  };
  await send('BEGIN');
  return {
    query: bound(async (sql, values) => {
      try {
        return await query(sql, values);
      } catch (error) {
        // A ROLLBACK would wait for an answer that never comes.
        if (state.isOpen && isLost(error)) {
          state.isOpen = false;
          release(true);
        }
        throw error;
      }
    }),
    commit: () => send('COMMIT'),
    rollback: () => send('ROLLBACK').catch(() => undefined), // the connection is gone, and the transaction with it
  };
}

function bound(query: DriverQuery): Query {
  const run = async (sql: string, values: Values = {}): Promise<readonly Row[]> => {
    const { text, names } = numberPlaces(sql);
    const rows = await query(
      text,
      names.map((name) => escapeValue(values[name])),
    );
    return rows.map(unescapeRow);
  };
  const insert: Query['insert'] = async (table, rows) => {
    const names = Object.keys(rows[0] ?? {});
    if (names.length === 0) return;
    const into = `INSERT INTO ${table} (${quoteNames(names)})`;
    if (rows.length === 1) {
      await run(`${into} VALUES (${names.map((name) => `:${name}`).join(', ')})`, rows[0]);
      return;
    }
    const columns = names.map((name) => ({ name, type: COLUMN_TYPES.get(`${table}.${name}`) ?? 'text' }));
    const values = columns.map(({ name, type }) => {
      const ofColumn = rows.map((row) => row[name] ?? null);
      return [
        name,
        type === 'bytea' ? ofColumn.map((value) => (value instanceof Uint8Array ? toHex(value) : value)) : ofColumn,
      ] as const;
    });
    await run(`${into} ${selectRows(columns)}`, Object.fromEntries(values));
  };
  const numbers: Query['numbers'] = async (sql, values = {}) =>
    (await run(sql, values)).flatMap((row) => Object.values(row).map(Number));
  return Object.assign(run, { insert, numbers });
}

type Column = { readonly name: string; readonly type: string };

/** Rows from an array for each column. Arrays of bytes and of words go as text. */
function selectRows(columns: readonly Column[]): string {
  const arrays = columns.map(
    ({ name, type }) => `:${name}::${type === 'bytea' || type === 'tsvector' ? 'text' : type}[]`,
  );
  const values = columns.map(({ name, type }) => {
    if (type === 'bytea') return `decode(u."${name}", 'hex')`;
    return type === 'tsvector' ? `u."${name}"::tsvector` : `u."${name}"`;
  });
  return `SELECT ${values.join(', ')} FROM unnest(${arrays.join(', ')}) AS u (${quoteNames(columns.map(({ name }) => name))})`;
}

const numbered = new Map<string, { readonly text: string; readonly names: readonly string[] }>();

/** `:name` becomes `$1`; `::type` stays. */
function numberPlaces(sql: string): { readonly text: string; readonly names: readonly string[] } {
  const known = numbered.get(sql);
  if (known !== undefined) return known;
  const names: string[] = [];
  const text = sql.replace(/(?<![:\w]):([a-zA-Z]\w*)/g, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  const result = { text, names };
  numbered.set(sql, result);
  return result;
}

/** Starts an escaped character: a control character that hardly any text contains. */
const ESCAPE = '\u0010';
// Postgres has no NUL in text, and no lone surrogates.
// oxlint-disable-next-line no-control-regex
const MUST_ESCAPE = /[\0\u0010]|\p{Surrogate}/gu;

/** Equal texts give equal escaped texts, and different ones different. */
function escapeText(text: string): string {
  return text.replace(MUST_ESCAPE, (character) => `${ESCAPE}${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function unescapeText(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  // oxlint-disable-next-line no-control-regex
  return text.replace(/\u0010([\da-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function escapeValue(value: unknown): unknown {
  if (typeof value === 'string') return escapeText(value);
  if (Array.isArray(value)) return value.map(escapeValue);
  return value === undefined ? null : value;
}

function unescapeRow(row: Row): Row {
  const escaped = Object.entries(row).filter(([, value]) => typeof value === 'string' && value.includes(ESCAPE));
  if (escaped.length === 0) return row;
  return { ...row, ...Object.fromEntries(escaped.map(([name, value]) => [name, unescapeText(String(value))])) };
}

const FIND_LINES = `
SELECT id, block_id, "offset", size_bytes, sha256 FROM captured_lines
WHERE sha256 IN (SELECT substr(:hashes::bytea, n * 16 + 1, 16) FROM generate_series(0, :count::int - 1) AS n) AND erasure_id IS NULL ORDER BY id DESC`;

/** With the month, Postgres looks into one partition. */
export const POSTGRES: Dialect = {
  name: 'postgres',
  isAmong: (column, name) => `${column} = ANY(:${name}::bigint[])`,
  isAmongTexts: (text, name) => `${text} = ANY(:${name}::text[])`,
  hex: (column) => `encode(${column}, 'hex')`,
  lineJoins: `
JOIN blocks AS k ON k.id = l.block_id AND k.month = l.month JOIN compactions AS c ON c.id = k.compaction_id
LEFT JOIN batches AS o ON o.id = l.batch_id LEFT JOIN cycles AS y ON y.id = coalesce(l.cycle_id, o.cycle_id)`,
  batchJoins: 'JOIN cycles AS y ON y.id = b.cycle_id JOIN compactions AS c ON c.id = y.compaction_id',
  onBlock: 'l.block_id = k.id AND l.month = k.month AND l.id BETWEEN k.first_line_id AND k.last_line_id',
  onPack: 'p.id = k.pack_id AND p.month = k.month',
  onCompaction: 'k.compaction_id = c.id AND k.month = c.month',
  blockOfLine: 'JOIN blocks ON blocks.id = lines.block_id AND blocks.month = lines.month',
  words: { messages: { table: 'message_words', id: 'line_id' }, batches: { table: 'batch_words', id: 'batch_id' } },
  wordBytes: `
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint AS size FROM pg_class AS c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname ~ '^(message|batch)_words'`,
  isMessageIndexed: 'EXISTS (SELECT 1 FROM message_words AS w WHERE w.line_id = l.id AND w.month = l.month)',
  isBatchIndexed: 'EXISTS (SELECT 1 FROM batch_words AS w WHERE w.batch_id = b.id)',
  storingLocks: ['LOCK TABLE compactions IN ROW EXCLUSIVE MODE'],
  lockPacks: (order) => `AND p.month = :month::date ${order} FOR UPDATE OF p SKIP LOCKED`,
  partitionOfPack: 'SELECT month::text AS month FROM packs WHERE id = :id',
  capturing: {
    // Their ids are consecutive in a file.
    begin: ["SELECT pg_advisory_xact_lock(hashtextextended('compact captures', 0))"],
    lastIds: 'SELECT last_line_id AS line, last_block_id AS block FROM captured_ids',
    keepIds: 'UPDATE captured_ids SET last_line_id = :line, last_block_id = :block',
    findLines: (query, hashes) => query(FIND_LINES, { hashes: Buffer.concat(hashes), count: hashes.length }),
  },
  thisMachine,
  usedBytes: `
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint AS size FROM pg_class AS c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'`,
};
