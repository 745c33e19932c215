import type { Json } from '../../ports/json.ts';

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

/** An id as a string: databases number their rows. */
export function idAt(record: JsonRecord, key: string): string | undefined {
  const value = record[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(?:Z|[+-]\d\d:\d\d)$/;

/**
 * An ISO time with its offset, as most producers write it. null for anything else, since it would be read in the local
 * time zone.
 */
export function readIsoTime(value: Json | undefined): Date | null {
  return typeof value === 'string' && ISO_TIME.test(value) ? validDate(new Date(value)) : null;
}

/** A time in seconds since 1970, with a fraction. */
export function readSeconds(value: Json | undefined): Date | null {
  return typeof value === 'number' ? validDate(new Date(value * 1000)) : null;
}

/** A time in milliseconds since 1970. */
export function readMilliseconds(value: Json | undefined): Date | null {
  return typeof value === 'number' ? validDate(new Date(value)) : null;
}

function validDate(date: Date): Date | null {
  return Number.isNaN(date.getTime()) ? null : date;
}

/** Finds the first record with a `cwd` under `keys`: the records at the start of a file may have none. */
export function findWorkingFolder(...keys: readonly string[]): (sample: readonly Json[]) => string | null {
  return (sample) => {
    for (const record of sample) {
      const holder = keys.reduce<Json | undefined>((value, key) => (isRecord(value) ? value[key] : undefined), record);
      const folder = isRecord(holder) ? stringAt(holder, 'cwd') : undefined;
      if (folder !== undefined) return folder;
    }
    return null;
  };
}
