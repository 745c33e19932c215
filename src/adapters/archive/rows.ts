import type { SummaryLevel } from '../../core/batch.ts';
import type { LineFate } from '../../ports/archive.ts';
import { FATES, LEVELS } from './columns.ts';
import { DamageError } from './failure.ts';

/**
 * A row as SQLite gives it. STRICT tables hold their types, so a value of another one is damage, which the readers throw.
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

/** A plain Uint8Array, not a Buffer. */
export function readBytes(row: Row, column: string): Uint8Array {
  const value = row[column];
  return value instanceof Uint8Array
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : damaged(column);
}

/** Hex. */
export function readHash(row: Row, column: string): string {
  return toHex(readBytes(row, column));
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

export function readTime(row: Row, column: string): Date | null {
  const ms = readOptionalInteger(row, column);
  return ms === null ? null : new Date(ms);
}

export function readFate(row: Row, column: string): LineFate {
  return FATES[readInteger(row, column)] ?? damaged(column);
}

export function readLevel(row: Row, column: string): SummaryLevel {
  return LEVELS[readInteger(row, column)] ?? damaged(column);
}

function damaged(column: string): never {
  throw new DamageError(`a row's ${column} is not what was stored`);
}
