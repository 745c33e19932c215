import type { Role } from '../message.ts';
import { quoteText } from '../quoted-text.ts';
import { safeCut } from './character.ts';
import { type Line, parseHeader } from './layout.ts';

/** Who speaks where prose without a speaker stands beside lines with one, or gives orders. */
export const SUMMARY_SPEAKER = 'summary';
const ROLE_WORDS: readonly string[] = ['user', 'assistant', 'tool', 'system', SUMMARY_SPEAKER] satisfies readonly (
  | Role
  | 'summary'
)[];

const MAX_LABEL_CHARS = 40;
const LABEL = /^([\p{L}\p{N}][^:"`{}[\]()<>=/\\*#|]{0,39}): /u;

/** Text that tells a reader what to do instead of telling what was said. It may also be harmless: it is quoted, not removed. */
const ORDERS: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,60}\b(?:above|previous|prior|earlier|preceding|instructions?|directives?|prompts?|rules|guidelines|everything)\b/i,
  /\b(?:you are now|act as if|pretend (?:to be|you|that)|from now on,? you|new instructions?|system prompt|developer message|your (?:new |only |real )?(?:task|role|job|instructions?) (?:is|are))\b/i,
  /\b(?:do not|don't|never|stop) (?:summari[sz]e|summari[sz]ing|follow|obey)\b/i,
  /\b(?:respond|reply|answer|output|write|print|say) (?:only|just|nothing but|exactly|with only)\b/i,
  /<\/?(?:system|instructions?|assistant|user|human|important)\b|\[\/?(?:INST|SYS(?:TEM)?)\]|<\|[a-z_]+\|>|\b(?:system|developer) ?(?:message|override)?:\s/i,
];

export function givesOrders(text: string): boolean {
  return ORDERS.some((pattern) => pattern.test(text));
}

/** A unit as a line of the summary, named and quoted where it could be taken for something else. */
export function asLine(
  text: string,
  { day, speaker }: { readonly day: string | null; readonly speaker: string },
): Line {
  const isQuoted = givesOrders(text);
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
