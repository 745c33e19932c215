import type { Role } from '../message.ts';
import { quoteText } from '../quoted-text.ts';
import { safeCut } from './character.ts';

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

/** Who speaks where prose without a speaker stands beside lines with one, or gives orders. */
export const SUMMARY_SPEAKER = 'summary';
const ROLE_WORDS: readonly string[] = ['user', 'assistant', 'tool', 'system', SUMMARY_SPEAKER] satisfies readonly (
  | Role
  | 'summary'
)[];

const MAX_LABEL_CHARS = 40;
const LABEL = /^([\p{L}\p{N}][^:"`{}[\]()<>=/\\*#|]{0,39}): /u;

/** Text that tells a reader what to do instead of telling what was said. It may also be harmless: it is quoted, not removed. */
const INSTRUCTIONS: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,60}\b(?:above|previous|prior|earlier|preceding|instructions?|directives?|prompts?|rules|guidelines|everything)\b/i,
  /\b(?:you are now|act as if|pretend (?:to be|you|that)|from now on,? you|new instructions?|system prompt|developer message|your (?:new |only |real )?(?:task|role|job|instructions?) (?:is|are))\b/i,
  /\b(?:do not|don't|never|stop) (?:summari[sz]e|summari[sz]ing|follow|obey)\b/i,
  /\b(?:respond|reply|answer|output|write|print|say) (?:only|just|nothing but|exactly|with only)\b/i,
  /<\/?(?:system|instructions?|assistant|user|human|important)\b|\[\/?(?:INST|SYS(?:TEM)?)\]|<\|[a-z_]+\|>|\b(?:system|developer) ?(?:message|override)?:\s/i,
];

export function hasInstructions(text: string): boolean {
  return INSTRUCTIONS.some((pattern) => pattern.test(text));
}

/** A unit as a line of the summary, named and quoted where it could be taken for something else. */
export function toLine(
  text: string,
  { day, speaker }: { readonly day: string | null; readonly speaker: string },
): Line {
  const isQuoted = hasInstructions(text);
  const isNamed = isQuoted || LABEL.test(text) || parseHeader(text) !== undefined || text.startsWith('"');
  return {
    text: quoteText(text),
    day,
    speaker: isQuoted && speaker === '' ? SUMMARY_SPEAKER : speaker,
    isNamed,
    isQuoted,
  };
}

/** The speaker's label: the name where there is one, as far as it cannot be taken for another role or break the line. */
export function labelOf(role: Role, name: string | undefined): string {
  if (role === 'tool' || name === undefined) return role;
  const clean = name.replace(/^[^\p{L}\p{N}]+|[\s:"'`{}[\]()<>=/\\*#|\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  const short = clean.slice(0, safeCut(clean, Math.min(clean.length, MAX_LABEL_CHARS))).trim();
  return short === '' || ROLE_WORDS.includes(short.toLowerCase()) ? role : short;
}

/** The label at the head of a line of a summary, and where the text after it begins. */
export function parseLabel(line: string): { readonly speaker: string; readonly textStart: number } | null {
  const match = LABEL.exec(line);
  return match === null ? null : { speaker: match[1] ?? '', textStart: match[0].length };
}

export function isRoleWord(label: string): boolean {
  return ROLE_WORDS.includes(label);
}
