/** A unit as it stands in the summary. */
export type Line = {
  readonly text: string;
  /** `8 May 2023`, or null where no time is known. */
  readonly day: string | null;
  /** Empty: nobody's, such as a model's prose. */
  readonly speaker: string;
  /** Its speaker is named even if the line before was theirs: it could be read as a head, a label or an order. */
  readonly isNamed: boolean;
  /** It stands in quotation marks: it gives orders, and must read as somebody's words. */
  readonly isQuoted: boolean;
};

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const UNDATED = 'no date';

/** The day in UTC, as a summary writes it. */
export function dayOf(at: Date | null): string | null {
  if (at === null || Number.isNaN(at.getTime())) return null;
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()] ?? ''} ${at.getUTCFullYear()}`;
}

const HEADER = /^\[(?:(\d{1,2}) ([A-Z][a-z]+) (-?\d{1,6})|no date)\]$/;

/** A day header read back: its day (null: `[no date]`); undefined where the line is no header. */
export function parseHeader(line: string): string | null | undefined {
  const match = HEADER.exec(line);
  if (match === null) return undefined;
  if (match[2] === undefined) return null;
  return MONTHS.includes(match[2]) ? line.slice(1, -1) : undefined;
}

/** A number that grows with the day, for days that `dayOf` wrote. */
export function dayOrder(day: string): number {
  const [date = '', month = '', year = ''] = day.split(' ');
  return Number(year) * 400 + MONTHS.indexOf(month) * 32 + Number(date);
}

/** Exact characters that a line adds after `previous`: its head, itself, its line end. */
export function costOf(line: Line, previous: Line | null): number {
  const headerChars = hasHeader(line, previous) ? (line.day ?? UNDATED).length + 3 : 0;
  const labelChars = hasLabel(line, previous) ? line.speaker.length + 2 : 0;
  return headerChars + labelChars + line.text.length + (line.isQuoted ? 2 : 0) + 1;
}

/** The lines in their order: a day header where the day changes, a speaker where it changes. As long as their costs add up to, less one. */
export function renderLines(lines: readonly Line[]): string {
  return lines
    .map((line, index) => {
      const previous = lines[index - 1] ?? null;
      const header = hasHeader(line, previous) ? `[${line.day ?? UNDATED}]\n` : '';
      const label = hasLabel(line, previous) ? `${line.speaker}: ` : '';
      return header + label + (line.isQuoted ? `"${line.text}"` : line.text);
    })
    .join('\n');
}

function hasHeader(line: Line, previous: Line | null): boolean {
  return line.day !== (previous === null ? null : previous.day);
}

function hasLabel(line: Line, previous: Line | null): boolean {
  if (line.speaker === '') return false;
  return line.isNamed || previous === null || line.speaker !== previous.speaker || line.day !== previous.day;
}
