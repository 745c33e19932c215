/** A day, a month or a year that a query names. Month from 0, as in `Date`; null: any. */
export type Period = { readonly year: number | null; readonly month: number | null; readonly day: number | null };

/** What a message from the named time gains, as a share of the best score by words. */
export const PERIOD_SHARE = 0.4;
/** People tell of what happened some days later. */
const TOLD_WITHIN_MS = 7 * 24 * 60 * 60_000;
const MAX_QUERY_CHARS = 500;

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;
const YEAR = String.raw`(?<year>(?:19|20)\d\d)\b`;
const DAY = String.raw`(?<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?\b`;
const MONTH = String.raw`(?<month>${MONTHS.join('|')})\b`;
/** `May` and `March` are words too: a month has a day, a year, or a word of time beside it. The first that fits is taken. */
const WRITTEN = [
  String.raw`\b${YEAR}-(?<number>0[1-9]|1[0-2])(?:-${DAY})?`,
  String.raw`\b${DAY}(?: of)? ${MONTH}(?:,? ${YEAR})?`,
  String.raw`\b${MONTH} ${DAY}(?:,? ${YEAR})?`,
  String.raw`\b${MONTH},? (?:of )?${YEAR}`,
  String.raw`\b(?i:in|of|on|during|since|by|until|before|after|last|this|early|late|mid|between|and) ${MONTH}`,
  String.raw`\b(?i:in|of|during|since|by|until|before|after|year|spring|summer|autumn|fall|winter) ${YEAR}`,
].map((pattern) => new RegExp(pattern));

/** The first time that a query names by its date; null: none. English names of months, and ISO dates. */
export function readPeriod(query: string): Period | null {
  const asked = query.slice(0, MAX_QUERY_CHARS);
  const found = WRITTEN.map((pattern) => pattern.exec(asked)).find((match) => match !== null);
  if (found === undefined) return null;
  const { year, month, number, day } = found.groups ?? {};
  const named = MONTHS.findIndex((name) => name === month);
  return {
    year: year === undefined ? null : Number(year),
    month: number === undefined ? (named < 0 ? null : named) : Number(number) - 1,
    day: day === undefined ? null : Number(day),
  };
}

/** Whether a message is from that time or from the week after it. A period without a year is that of the message's own year, or of the one before. */
export function isToldOf(period: Period, at: Date | null): boolean {
  if (at === null) return false;
  const years = period.year === null ? [at.getUTCFullYear(), at.getUTCFullYear() - 1] : [period.year];
  return years.some((year) => {
    const { month, day } = period;
    const start = Date.UTC(year, month ?? 0, day ?? 1);
    const end = Date.UTC(
      month === null ? year + 1 : year,
      month === null ? 0 : month + (day === null ? 1 : 0),
      day === null ? 1 : day + 1,
    );
    return at.getTime() >= start && at.getTime() < end + TOLD_WITHIN_MS;
  });
}
