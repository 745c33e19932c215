import { hash } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { SummaryLevel } from '../../core/batch.ts';
import { lazilyFor } from '../../core/lazy.ts';
import type { Role } from '../../core/message.ts';
import type { MessageTraits } from '../../core/search/query-hints.ts';
import type { ArchivedOutcome } from '../../ports/archive-lookup.ts';
import type { Caller } from '../../ports/archive.ts';
import type { CaptureChange } from '../../ports/captures.ts';
import { DamageError } from './failure.ts';

/**
 * A row as SQLite returns it. STRICT tables enforce types, so the readers below throw a `DamageError` for a value of
 * another type.
 */
export type Row = Readonly<Record<string, unknown>>;

export function readInteger(row: Row, column: string): number {
  const value = row[column];
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : damaged(column);
}

export function readOptionalInteger(row: Row, column: string): number | null {
  return row[column] === null ? null : readInteger(row, column);
}

export function readText(row: Row, column: string): string {
  const value = row[column];
  if (typeof value === 'string') return value;
  return Buffer.from(readBytes(row, column)).toString('utf16le');
}

export function readOptionalText(row: Row, column: string): string | null {
  return row[column] === null ? null : readText(row, column);
}

/** A list of texts in JSON. */
export function readTexts(row: Row, column: string): readonly string[] {
  const texts: unknown = JSON.parse(readText(row, column));
  if (Array.isArray(texts) && texts.every((text) => typeof text === 'string')) return texts;
  throw new DamageError(`the column ${column} has no list of texts`);
}

/** A plain Uint8Array, not a Buffer. */
export function readBytes(row: Row, column: string): Uint8Array {
  const value = row[column];
  return value instanceof Uint8Array
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : damaged(column);
}

export function readCaller(row: Row): Caller {
  return { user: readText(row, 'user_name'), host: readText(row, 'host'), version: readText(row, 'version') };
}

/** Hex. */
export function readHash(row: Row, column: string): string {
  return toHex(readBytes(row, column));
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

/** The time in the column with this name and `_ms`. */
export function readTime(row: Row, name: string): Date | null {
  const ms = readOptionalInteger(row, `${name}_ms`);
  return ms === null ? null : new Date(ms);
}

/** The same where there always is one. */
export function readMoment(row: Row, name: string): Date {
  return readTime(row, name) ?? new Date(Number.NaN);
}

export const readOutcome = (row: Row, column: string): ArchivedOutcome => readName(OUTCOMES, row, column);
export const readLevel = (row: Row, column: string): SummaryLevel => readName(LEVELS, row, column);
export const readRole = (row: Row, column: string): Role => readName(ROLES, row, column);
export const readChange = (row: Row, column: string): CaptureChange => readName(CHANGES, row, column);

function readName<Name>(names: readonly Name[], row: Row, column: string): Name {
  return names[readInteger(row, column)] ?? damaged(column);
}

/** The property `sizeBytes` has the column `size_bytes`. */
const columnOf = lazilyFor((name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

/** Reads several columns as properties of the same names. */
export function readFields<Readers extends Readonly<Record<string, (row: Row, column: string) => unknown>>>(
  row: Row,
  readers: Readers,
) {
  const fields = Object.entries(readers).map(([name, read]) => [name, read(row, columnOf(name))] as const);
  return Object.fromEntries(fields) as { readonly [Name in keyof Readers]: ReturnType<Readers[Name]> };
}

/** The same the other way round. */
export function toColumns(fields: Row): Row {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [columnOf(name), value]));
}

function damaged(column: string): never {
  throw new DamageError(`a row's ${column} is not what was stored`);
}

/** How values are stored in columns; the readers above are the inverse. */

/** Codes by position. They are stored, so only append names. */
export const OUTCOMES = ['summarized', 'other', 'quoted'] as const satisfies readonly ArchivedOutcome[];
export const LEVELS = ['plain', 'feedback', 'halved', 'fallback'] as const satisfies readonly SummaryLevel[];
export const CHANGES = [
  'new',
  'rewritten',
  'shortened',
  'gone',
  'returned',
] as const satisfies readonly CaptureChange[];
export const ROLES = ['user', 'assistant', 'system', 'tool'] as const satisfies readonly Role[];

/** Exact: text with lone surrogates has no UTF-8 form and is stored as UTF-16LE. Equal texts give equal values. */
export function textColumn(text: string): string | Uint8Array {
  return text.isWellFormed() ? text : Buffer.from(text, 'utf16le');
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;
const UUID_MARK = '\u0002';

/** The id of a message. Most are UUIDs, which take 36 characters, and here 23. */
export function messageIdColumn(id: string): string {
  if (UUID.test(id)) return UUID_MARK + Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
  return id.startsWith(UUID_MARK) ? UUID_MARK + id : id;
}

export function readMessageId(row: Row, column: string): string | null {
  const stored = readOptionalText(row, column);
  if (stored === null || !stored.startsWith(UUID_MARK)) return stored;
  if (stored.startsWith(UUID_MARK, 1)) return stored.slice(1);
  const hex = Buffer.from(stored.slice(1), 'base64url').toString('hex');
  return [0, 8, 12, 16, 20].map((start, at, all) => hex.slice(start, all[at + 1])).join('-');
}

/** The 32 bytes of a sha256 in hex, or the 16 of the hash of a line. */
export function hashColumn(hex: string): Uint8Array {
  if (!/^(?:[\da-f]{32}){1,2}$/.test(hex)) throw new TypeError(`not a sha256 in hex: ${JSON.stringify(hex)}`);
  return Buffer.from(hex, 'hex');
}

/**
 * The first half of the sha256 of a line: a whole one takes as much room as a short line itself when both are compressed. Nobody finds another
 * line with the hash of a given one (2^128 attempts). Whoever writes both lines could make them equal (2^64 attempts), so a line is left out as
 * stored already only if its bytes are the same. A whole file is proven by a whole sha256.
 */
export function hashLine(line: Uint8Array): Uint8Array {
  return hash('sha256', line, 'buffer').subarray(0, 16);
}

/** The same in hex, which takes half the time. */
export function hashLineHex(line: Uint8Array): string {
  return hash('sha256', line).slice(0, 32);
}

/** Unix milliseconds; null for no time or an invalid one. */
export function timeColumn(time: Date | null): number | null {
  const ms = time === null ? Number.NaN : time.getTime();
  return Number.isNaN(ms) ? null : ms;
}

const [IS_QUESTION, NAMES_TIME] = [1, 2];

export function traitsColumn({ isQuestion, mentionsTime }: MessageTraits): number {
  return (isQuestion ? IS_QUESTION : 0) + (mentionsTime ? NAMES_TIME : 0);
}

export function readStoredTraits(row: Row, column: string): MessageTraits {
  const traits = readInteger(row, column);
  return { isQuestion: (traits & IS_QUESTION) !== 0, mentionsTime: (traits & NAMES_TIME) !== 0 };
}

/** Prepares statements with named values on first use: a run needs only a few of them, but often. */
export function createStatements(db: Database.Database): (sql: string) => Database.Statement<[object], Row> {
  const prepared = new Map<string, Database.Statement<[object], Row>>();
  return (sql) => {
    const statement = prepared.get(sql) ?? db.prepare<[object], Row>(sql);
    prepared.set(sql, statement);
    return statement;
  };
}
