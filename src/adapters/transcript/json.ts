import type { Json } from '../../ports/codec.ts';

export type JsonRecord = { readonly [key: string]: Json };

export function isRecord(value: Json | undefined): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** The string under a key; undefined for anything else. */
export function stringAt(record: JsonRecord, key: string): string | undefined {
  const value = record[key];
  return typeof value === 'string' ? value : undefined;
}

/** An id as text: databases number their rows. */
export function idAt(record: JsonRecord, key: string): string | undefined {
  const value = record[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
