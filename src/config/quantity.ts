import { err, ok, type Result } from '../core/result.ts';

/**
 * How people write quantities, on the command line and in the configuration. Each error is a sentence that says what is
 * accepted.
 */

/** Digits (`_` or commas may group them), a fraction and a unit. Number() would also accept '', '1e3' and '0x10'. */
const QUANTITY = /^(\d{1,3}(?:,\d{3})+|\d+(?:_\d+)*)?(\.\d+)? ?([a-z]*)$/i;

/** The amount in the smallest of the units; null: no quantity, or not in these units. */
function readQuantity(text: string, units: ReadonlyMap<string, number>): number | null {
  const [, whole = '', fraction = '', unit = ''] = QUANTITY.exec(text.trim()) ?? [];
  const digits = whole.replaceAll(/[_,]/g, '') + fraction;
  const factor = units.get(unit);
  return digits === '' || factor === undefined ? null : Number(digits) * factor;
}

const COUNTS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['k', 1e3],
  ['m', 1e6],
  ['g', 1e9],
]);

const countParser = (least: 0 | 1) => (text: string) => {
  // 1.1 * 1000 is 1100.0000000000002.
  const count = Number((readQuantity(text.toLowerCase(), COUNTS) ?? Number.NaN).toFixed(6));
  if (Number.isSafeInteger(count) && count >= least) return ok(count);
  return err(`It must be a whole number of ${least} or more: 30000, 100_000, 30k, 1.5M.`);
};

/** '30000', '30_000', '30,000', '30k' or '1.5M' as a whole number of 1 or more. */
export const parseCount = countParser(1);
export const parseCountOrZero = countParser(0);

const BYTES: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['b', 1],
  ...['k', 'm', 'g', 't'].flatMap((prefix, at): readonly (readonly [string, number])[] => [
    [prefix, 1000 ** (at + 1)],
    [`${prefix}b`, 1000 ** (at + 1)],
    [`${prefix}ib`, 1024 ** (at + 1)],
  ]),
]);

/** '5MB', '1.5 GiB' or '500_000' as bytes, in any case: 1 kB is 1,000, 1 KiB is 1,024, and no unit means bytes. */
export function parseBytes(text: string): Result<number, string> {
  const bytes = readQuantity(text.toLowerCase(), BYTES);
  return bytes === null ? err('It must be a size: 500000, 500kB, 5MB, 1.5GB, 5MiB.') : ok(Math.round(bytes));
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A month counts as 30 days and a year as 365. */
const AGES: ReadonlyMap<string, number> = new Map(
  (
    [
      ['min', 'minute', HOUR_MS / 60],
      ['h', 'hour', HOUR_MS],
      ['d', 'day', DAY_MS],
      ['w', 'week', 7 * DAY_MS],
      ['mo', 'month', 30 * DAY_MS],
      ['y', 'year', 365 * DAY_MS],
    ] as const
  ).flatMap(([short, long, ms]) => [short, long, `${long}s`].map((name) => [name, ms])),
);
const MINUTES_OR_MONTHS: ReadonlyMap<string, number> = new Map([['m', 1]]);

/** '12h', '30d', '2w', '6mo', '1y', '3 days' as milliseconds. */
export function parseAge(text: string): Result<number, string> {
  if (readQuantity(text, MINUTES_OR_MONTHS) !== null) {
    const digits = text.trim().replace(/ ?m$/, '');
    return err(`${text.trim()} could be minutes or months: write ${digits}min or ${digits}mo.`);
  }
  const ms = readQuantity(text, AGES);
  return ms === null ? err('It must be an age: 12h, 30d, 2w, 6mo, 1y.') : ok(Math.round(ms));
}

/** '5.00', in the currency of the prices. */
export function parseAmount(text: string): Result<number, string> {
  const amount = readQuantity(text, new Map([['', 1]]));
  return amount === null ? err('It must be an amount of money, without a currency: 5, 0.50, 1,000.') : ok(amount);
}

/** '10m', '90s' or '2h' as milliseconds: times so short that m means minutes. */
export function parseDuration(text: string): Result<number, string> {
  const ms = readQuantity(text.toLowerCase(), SHORT_TIMES);
  return ms === null ? err('It must be a time: 90s, 10m, 2h, 1d.') : ok(Math.round(ms));
}

const SHORT_TIMES: ReadonlyMap<string, number> = new Map([
  ['s', 1000],
  ['m', HOUR_MS / 60],
  ['min', HOUR_MS / 60],
  ['h', HOUR_MS],
  ['d', DAY_MS],
]);

/** '0.9' or '90%', as a share. */
export function parseShare(text: string): Result<number, string> {
  const [, digits = '', percent] = /^(\d+(?:\.\d+)?|\.\d+) ?(%?)$/.exec(text.trim()) ?? [];
  const share = Number(digits) / (percent === '%' ? 100 : 1);
  return digits === '' || share > 1 ? err('It must be a share from 0 to 1, or a percentage: 0.9 or 90%.') : ok(share);
}

/** '20%' or '0.2' as a share below 1, or a size ('500kB') as bytes, of which there is at least one. */
export function parseSaving(text: string): Result<number, string> {
  const share = parseShare(text);
  if (share.ok && share.value < 1) return share;
  const bytes = parseBytes(text);
  if (bytes.ok && bytes.value >= 1 && !text.includes('%')) return bytes;
  return err('It must be a share of the tokens or a size on disk: 20%, 0.2, 500kB, 1MB.');
}

/** A point or span of time in Unix milliseconds: a day lasts from its start to its end, anything else is an instant. */
type Moment = { readonly fromMs: number; readonly toMs: number };

const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:?\d\d)?)?$/i;

/**
 * '2026-03-02', 'today', 'yesterday', '2026-03-02T09:30Z', or an age: '7d' is a week ago. Without a zone it is UTC,
 * like all times that are shown.
 */
function parseMoment(text: string, nowMs: number): Result<Moment, string> {
  const words = text.trim().toLowerCase();
  const today = nowMs - (nowMs % DAY_MS);
  if (words === 'today') return ok(day(today));
  if (words === 'yesterday') return ok(day(today - DAY_MS));
  const calendar = parseCalendar(text.trim());
  if (calendar !== null) return ok(calendar);
  const age = parseAge(words.replace(/ ago$/, ''));
  if (age.ok) return ok({ fromMs: nowMs - age.value, toMs: nowMs - age.value });
  if (/\d ?m$/.test(words)) return age; // could be minutes or months
  return err('It must be a day (2026-03-02, yesterday), a time (2026-03-02T09:30Z) or an age (12h, 7d, 2w, 6mo, 1y).');
}

/** Null: neither a day nor a time. */
function parseCalendar(text: string): Moment | null {
  const [, date = '', clock, zone = 'Z'] = TIME.exec(text) ?? [];
  const startMs = Date.parse(`${date}T00:00Z`);
  // Date.parse turns the 30th of February into the 2nd of March.
  if (Number.isNaN(startMs) || new Date(startMs).toISOString().slice(0, 10) !== date) return null;
  if (clock === undefined) return day(startMs);
  const ms = Date.parse(`${date}T${clock}${zone.toUpperCase()}`);
  return Number.isNaN(ms) ? null : { fromMs: ms, toMs: ms };
}

function day(startMs: number): Moment {
  return { fromMs: startMs, toMs: startMs + DAY_MS };
}

const momentParser = (edge: keyof Moment) => (text: string, nowMs: number) => {
  const moment = parseMoment(text, nowMs);
  return moment.ok ? ok(moment.value[edge]) : moment;
};

/** The start of a period, in Unix milliseconds; a day counts from its start. */
export const parseSince = momentParser('fromMs');
/** The end of a period, in Unix milliseconds; a day counts to its end. */
export const parseUntil = momentParser('toMs');
