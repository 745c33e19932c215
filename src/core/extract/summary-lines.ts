import type { Role } from '../message.ts';
import { quoteText } from '../quoted-text.ts';
import { safeCut } from './character.ts';

/** A unit as a line of the summary. */
export type Line = {
  readonly text: string;
  /** For example `8 May 2023`; null if the time is unknown. */
  readonly day: string | null;
  /** Empty if nobody is named, as in a model's prose. */
  readonly speaker: string;
  /** Always names the speaker, because the line could be read as a header, a label or an instruction. */
  readonly isNamed: boolean;
  /** Puts the line in quotation marks, because it contains instructions and must read as somebody's words. */
  readonly isQuoted: boolean;
};

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const UNDATED = 'no date';

/** The day in UTC, in the format of a summary. */
export function dayOf(at: Date | null): string | null {
  if (at === null || Number.isNaN(at.getTime())) return null;
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()] ?? ''} ${at.getUTCFullYear()}`;
}

const HEADER = /^\[(?:(\d{1,2}) ([A-Z][a-z]+) (-?\d{1,6})|no date)\]$/;

/** Parses a day header: its day, null for `[no date]`, undefined if the line is not a header. */
export function parseHeader(line: string): string | null | undefined {
  const match = HEADER.exec(line);
  if (match === null) return undefined;
  if (match[2] === undefined) return null;
  return MONTHS.includes(match[2]) ? line.slice(1, -1) : undefined;
}

/** A number that sorts days formatted by `dayOf`. */
export function dayOrder(day: string): number {
  const [date = '', month = '', year = ''] = day.split(' ');
  return Number(year) * 400 + MONTHS.indexOf(month) * 32 + Number(date);
}

/** The exact number of characters that a line adds after `previous`: header, label, text and line end. */
export function costOf(line: Line, previous: Line | null): number {
  const headerChars = hasHeader(line, previous) ? (line.day ?? UNDATED).length + 3 : 0;
  const labelChars = hasLabel(line, previous) ? line.speaker.length + 2 : 0;
  return headerChars + labelChars + line.text.length + (line.isQuoted ? 2 : 0) + 1;
}

/**
 * Renders lines in order, with a day header where the day changes and a label where the speaker changes. The length is the sum of `costOf`,
 * minus 1.
 */
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

/** The label for prose without a speaker, where other lines have one or where it contains instructions. */
export const SUMMARY_SPEAKER = 'summary';
const ROLE_WORDS: readonly string[] = ['user', 'assistant', 'tool', 'system', SUMMARY_SPEAKER] satisfies readonly (
  | Role
  | 'summary'
)[];

const MAX_LABEL_CHARS = 40;
const LABEL = /^([\p{L}\p{N}][^:"`{}[\]()<>=/\\*#|]{0,39}): /u;

/** Text that gives the reader instructions. It may be harmless, so it is quoted, not removed. */
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

/** Formats a unit as a line of the summary, named and quoted if it could be mistaken for something else. */
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

/** The speaker's label: the name if there is one and it cannot be mistaken for a role or break the line, else the role. */
export function labelOf(role: Role, name: string | undefined): string {
  if (role === 'tool' || name === undefined) return role;
  const clean = name.replace(/^[^\p{L}\p{N}]+|[\s:"'`{}[\]()<>=/\\*#|\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  const short = clean.slice(0, safeCut(clean, Math.min(clean.length, MAX_LABEL_CHARS))).trim();
  return short === '' || ROLE_WORDS.includes(short.toLowerCase()) ? role : short;
}

/** Parses the label at the start of a summary line. `textStart` is where the text after it begins. */
export function parseLabel(line: string): { readonly speaker: string; readonly textStart: number } | null {
  const match = LABEL.exec(line);
  return match === null ? null : { speaker: match[1] ?? '', textStart: match[0].length };
}

export function isRoleWord(label: string): boolean {
  return ROLE_WORDS.includes(label);
}
