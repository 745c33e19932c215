import { err, ok, type Result } from '../core/result.ts';
import { parseAge } from './quantity.ts';

/** What a text about time means, in Unix milliseconds: a day from its beginning to its end, anything else an instant. */
type Moment = { readonly fromMs: number; readonly toMs: number };

const DAY_MS = 24 * 60 * 60_000;
const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:?\d\d)?)?$/i;

/** '2026-03-02', 'today', 'yesterday', '2026-03-02T09:30Z', or an age: '7d' is a week ago. Without a zone it is UTC, as all times that are shown. */
function parseMoment(text: string, nowMs: number): Result<Moment, string> {
  const words = text.trim().toLowerCase();
  const today = nowMs - (nowMs % DAY_MS);
  if (words === 'today') return ok(day(today));
  if (words === 'yesterday') return ok(day(today - DAY_MS));
  const calendar = parseCalendar(text.trim());
  if (calendar !== null) return ok(calendar);
  const age = parseAge(words.replace(/ ago$/, ''));
  if (age.ok) return ok({ fromMs: nowMs - age.value, toMs: nowMs - age.value });
  if (/\d ?m$/.test(words)) return age; // minutes or months
  return err('It must be a day (2026-03-02, yesterday), a time (2026-03-02T09:30Z) or an age (12h, 7d, 2w, 6mo, 1y).');
}

/** Null: it is neither a day nor a time. */
function parseCalendar(text: string): Moment | null {
  const [, date = '', clock, zone = 'Z'] = TIME.exec(text) ?? [];
  const startMs = Date.parse(`${date}T00:00Z`);
  // Date.parse takes the 30th of February for the 2nd of March.
  if (Number.isNaN(startMs) || new Date(startMs).toISOString().slice(0, 10) !== date) return null;
  if (clock === undefined) return day(startMs);
  const ms = Date.parse(`${date}T${clock}${zone.toUpperCase()}`);
  return Number.isNaN(ms) ? null : { fromMs: ms, toMs: ms };
}

function day(startMs: number): Moment {
  return { fromMs: startMs, toMs: startMs + DAY_MS };
}

/** When something may begin: a day counts from its beginning. Unix milliseconds. */
export function parseSince(text: string, nowMs: number): Result<number, string> {
  const moment = parseMoment(text, nowMs);
  return moment.ok ? ok(moment.value.fromMs) : moment;
}

/** Until when something may be: a day counts to its end. */
export function parseUntil(text: string, nowMs: number): Result<number, string> {
  const moment = parseMoment(text, nowMs);
  return moment.ok ? ok(moment.value.toMs) : moment;
}
