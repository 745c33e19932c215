import type { Row } from '../rows.ts';

const INDEX = 'message_vector_search';

/** The index over the vectors' signs, which the extension makes. */
export function vectorIndexSql(bits: number): string {
  return `CREATE VIRTUAL TABLE ${INDEX} USING vec0 (line_id INTEGER PRIMARY KEY, signs bit[${bits}])`;
}

/**
 * What the extension (sqlite-vec 0.1) keeps of the index. It is not there to ask when an archive is opened, so its SQL is written down here;
 * a test holds it equal to what it makes.
 */
const TABLES: readonly (readonly [type: string, name: string, table: string, sql: string | null])[] = [
  ['table', `${INDEX}_info`, `${INDEX}_info`, `CREATE TABLE "${INDEX}_info" (key text primary key, value any)`],
  ['index', `sqlite_autoindex_${INDEX}_info_1`, `${INDEX}_info`, null],
  [
    'table',
    `${INDEX}_chunks`,
    `${INDEX}_chunks`,
    `CREATE TABLE "${INDEX}_chunks"(chunk_id INTEGER PRIMARY KEY AUTOINCREMENT,size INTEGER NOT NULL,validity BLOB NOT NULL,rowids BLOB NOT NULL)`,
  ],
  [
    'table',
    `${INDEX}_rowids`,
    `${INDEX}_rowids`,
    `CREATE TABLE "${INDEX}_rowids"(rowid INTEGER PRIMARY KEY AUTOINCREMENT,id,chunk_id INTEGER,chunk_offset INTEGER)`,
  ],
  [
    'table',
    `${INDEX}_vector_chunks00`,
    `${INDEX}_vector_chunks00`,
    `CREATE TABLE "${INDEX}_vector_chunks00"(rowid PRIMARY KEY,vectors BLOB NOT NULL)`,
  ],
  ['index', `sqlite_autoindex_${INDEX}_vector_chunks00_1`, `${INDEX}_vector_chunks00`, null],
];
const TEXTS = new Set(TABLES.map((entry) => JSON.stringify(entry)));

/** Whether an entry of `sqlite_schema` is the index, for vectors of any length, or a table behind it. */
export function isVectorIndexEntry({ type, name, tbl_name: table, sql }: Row): boolean {
  if (TEXTS.has(JSON.stringify([type, name, table, sql]))) return true;
  const bits = /bit\[(\d{1,4})\]/.exec(String(sql))?.[1];
  return (
    bits !== undefined && type === 'table' && name === INDEX && table === INDEX && sql === vectorIndexSql(Number(bits))
  );
}
