import { err, ok } from '../../core/result.ts';
import type { Result } from '../../core/result.ts';

const DAY_MS = 24 * 60 * 60_000;
const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:?\d\d)?)?$/i;

/** A day counts from its beginning. Unix milliseconds; without a zone it is UTC, as all times that are shown. */
export function parseSince(text: string): Result<number, string> {
  return parseTime(text, 0);
}

/** A day counts to its end. */
export function parseUntil(text: string): Result<number, string> {
  return parseTime(text, DAY_MS);
}

function parseTime(text: string, dayMs: number): Result<number, string> {
  const [, day = '', clock, zone = 'Z'] = TIME.exec(text.trim()) ?? [];
  const ms =
    clock === undefined ? Date.parse(`${day}T00:00Z`) + dayMs : Date.parse(`${day}T${clock}${zone.toUpperCase()}`);
  const isRolledOver = !Number.isNaN(ms) && new Date(Date.parse(`${day}T00:00Z`)).toISOString().slice(0, 10) !== day;
  if (Number.isNaN(ms) || isRolledOver) return err('It must be a day, 2026-03-02, or a time, 2026-03-02T09:30Z.');
  return ok(ms);
}
