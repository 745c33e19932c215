import { MONTH_NAMES } from './english.ts';

/** A unit as it stands in the summary. */
export type Line = {
  readonly text: string;
  /** `8 May 2023`, or null where no time is known. */
  readonly day: string | null;
  /** Empty: nobody's, such as a model's prose. */
  readonly speaker: string;
  /** Its speaker is named even if the line before was theirs: it could be read as a head or as an order. */
  readonly isNamed: boolean;
  /** It stands in quotation marks: it gives orders, and must read as somebody's words. */
  readonly isQuoted: boolean;
};

export const UNDATED = 'no date';
/** Who speaks where a summary has prose without a speaker beside lines with one. */
export const SUMMARY_SPEAKER = 'summary';

export function dayOf(at: Date | null): string | null {
  if (at === null || Number.isNaN(at.getTime())) return null;
  return `${at.getUTCDate()} ${MONTH_NAMES[at.getUTCMonth()] ?? ''} ${at.getUTCFullYear()}`;
}

/** What has to be written before a line, given the line before it. */
export function headOf(line: Line, previous: Line | null): string {
  const dayBefore = previous?.day ?? null;
  const header = line.day === dayBefore ? '' : `[${line.day ?? UNDATED}]\n`;
  const isNamed = line.isNamed || header !== '' || line.speaker !== (previous?.speaker ?? '');
  return isNamed ? header + labelOf(line) : header;
}

/** Exact characters of a line with its head and its line end. */
export function costOf(line: Line, previous: Line | null): number {
  const headChars = headCharsOf(line, previous);
  return headChars + line.text.length + (line.isQuoted ? 2 : 0) + 1;
}

/** The lines in their order; its length is the sum of their costs less one. */
export function renderLines(lines: readonly Line[]): string {
  let previous: Line | null = null;
  const out: string[] = [];
  for (const line of lines) {
    out.push(headOf(line, previous) + (line.isQuoted ? `"${line.text}"` : line.text));
    previous = line;
  }
  return out.join('\n');
}

// The same as headOf(…).length without making the text: selection asks for it very often.
function headCharsOf(line: Line, previous: Line | null): number {
  const dayBefore = previous === null ? null : previous.day;
  const headerChars = line.day === dayBefore ? 0 : (line.day ?? UNDATED).length + 3;
  const isNamed = line.isNamed || headerChars > 0 || line.speaker !== (previous === null ? '' : previous.speaker);
  return isNamed ? headerChars + labelCharsOf(line) : headerChars;
}

function labelOf({ speaker }: Line): string {
  return speaker === '' ? '' : `${speaker}: `;
}

function labelCharsOf({ speaker }: Line): number {
  return speaker === '' ? 0 : speaker.length + 2;
}
