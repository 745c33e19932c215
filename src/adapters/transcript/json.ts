import { parseJson } from '../../core/result.ts';
import type { Json } from '../../ports/codec.ts';

export type JsonRecord = { readonly [key: string]: Json };

export function isRecord(value: Json | undefined): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** The value under a path of keys; undefined: there is none. */
export function valueAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let inner = value;
  for (const key of path) inner = isRecord(inner) ? inner[key] : undefined;
  return inner;
}

/** The string under a path of keys; undefined for anything else. */
export function stringAt(value: Json | undefined, ...path: readonly string[]): string | undefined {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

/** The object under a path of keys; an empty one for anything else. */
export function recordAt(value: Json | undefined, ...path: readonly string[]): JsonRecord {
  const found = valueAt(value, ...path);
  return isRecord(found) ? found : {};
}

/** The list under a path of keys; an empty one for anything else. */
export function listAt(value: Json | undefined, ...path: readonly string[]): readonly Json[] {
  const found = valueAt(value, ...path);
  return isList(found) ? found : [];
}

/** A list as it is; any other value as the only element of one. */
export function listOf(value: Json | undefined): readonly (Json | undefined)[] {
  return isList(value) ? value : [value];
}

/** The objects in the list under a path of keys. */
export function recordsAt(value: Json | undefined, ...path: readonly string[]): readonly JsonRecord[] {
  return listAt(value, ...path).filter(isRecord);
}

/** What is found in the first value that has it. */
export function firstIn<T, Found>(values: Iterable<T>, find: (value: T) => Found | null): Found | null {
  for (const value of values) {
    const found = find(value);
    if (found !== null) return found;
  }
  return null;
}

/** An id as a string: databases number their rows. */
export function idAt(record: JsonRecord, key: string): string | undefined {
  const value = record[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

type Known<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The object without the keys that have no value. */
export function known<T extends object>(record: T): Known<T> {
  const found = {} as Known<T> & { -readonly [K in keyof T]?: T[K] };
  for (const key in record) if (record[key] !== undefined) found[key] = record[key];
  return found;
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

/** null: it is no time. */
export function validDate(date: Date): Date | null {
  return Number.isNaN(date.getTime()) ? null : date;
}

/** Reads the string under a path of keys in a record. */
export function textReader(...keys: readonly string[]): (record: Json) => string | null {
  return (record) => stringAt(record, ...keys) ?? null;
}

/** The value of a JSON text; undefined: it is not JSON. */
export function parseText(text: string): Json | undefined {
  return parseJson(text) as Json | undefined;
}
