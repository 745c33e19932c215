import { FUNCTION_WORDS } from '../extract/word-lists.ts';
import { wordsOf } from './question.ts';

/** What a question wants to be answer. Questions about time are a trait of their own: `MessageTraits.mentionsTime`. */
type AnswerKind = 'person' | 'place' | 'number' | 'title' | 'reason';

/** What a message of the wanted kind gains, as a share of the best score by words. */
export const KIND_SHARE = 0.2;
/** So many of the best by words are read for it. */
export const KIND_MESSAGES = 30;
const MAX_QUERY_CHARS = 500;
const MAX_TEXT_CHARS = 4000;

const ASKED_BY: { readonly [kind in AnswerKind]: RegExp } = {
  person: /\bwho\b|\bnames?\b/i,
  place:
    /\bwhere\b|\b(?:which|what) (?:\w{1,20} )?(?:place|city|cities|country|countries|state|town|park|location|area)/i,
  number: /\bhow (?:many|much|often|old|far|long)\b|\bnumber of\b/i,
  title: /\b(?:which|what)\b.*\b(?:book|movie|film|song|novel|game|band|show|series|name|title)s?\b/i,
  reason: /\bwhy\b|\breason\b/i,
};

/** A capital inside a sentence. */
const NAME = String.raw`(?<=[a-z,;] )(?!I\b)[A-Z][a-z]`;

const ANSWERED_BY: { readonly [kind in AnswerKind]: RegExp } = {
  person: new RegExp(
    String.raw`${NAME}|\b(?:mom|dad|mother|father|sister|brother|husband|wife|friend|son|daughter|family|aunt|uncle|cousin|grandma|boss|coach|teacher|neighbor|colleague)s?\b`,
  ),
  place: /\b(?:in|at|to|from|near|around|visit(?:ed|ing)?) (?:the )?[A-Z][a-z]/,
  number:
    /\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|dozen|once|twice|second|third|fourth|fifth|few|couple|several|every|weekly|daily)\b/i,
  title: new RegExp(String.raw`["“][^"”]{2,60}["”]|${NAME}`),
  reason: /\b(?:because|since|so that|to help|reason|inspired|made me|wanted to|that's why|in order)\b/i,
};

const KINDS = ['person', 'place', 'number', 'title', 'reason'] as const satisfies readonly AnswerKind[];

/** The kinds of answer that a query asks for; none for most. English only. */
export function readAnswerKinds(query: string): readonly AnswerKind[] {
  const asked = query.slice(0, MAX_QUERY_CHARS);
  return KINDS.filter((kind) => ASKED_BY[kind].test(asked));
}

/** Of how many of the kinds a text tells something. */
export function countAnsweredKinds(text: string, kinds: readonly AnswerKind[]): number {
  const answer = text.slice(0, MAX_TEXT_CHARS);
  return kinds.filter((kind) => ANSWERED_BY[kind].test(answer)).length;
}

/** A day, a month or a year that a query names. Month from 0, as in `Date`; null: any. */
type Period = { readonly year: number | null; readonly month: number | null; readonly day: number | null };

/** What a message from the named time gains, as a share of the best score by words. */
export const PERIOD_SHARE = 0.4;
/** People tell of what happened some days later. */
const REPORTED_WITHIN_MS = 7 * 24 * 60 * 60_000;

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
export function isFromPeriod(period: Period, at: Date | null): boolean {
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
    return at.getTime() >= start && at.getTime() < end + REPORTED_WITHIN_MS;
  });
}

/** Words that stand together in what is asked for, as a text would hold them. */
type Phrase = readonly string[];

/** How much a message gains that holds a phrase, beside the best of all by its words. */
export const PHRASE_SHARE = 0.3;
/** So many of the best are read for it. */
export const PHRASE_MESSAGES = 20;
const MAX_PHRASES = 4;
const MAX_PHRASE_WORDS = 12;
const MAX_PHRASE_TEXT_CHARS = 200_000;
/** Between quotes, else what has no space in it: a path, an address, `can't-do`. */
const TOGETHER = /"([^"]{1,400})"|“([^”]{1,400})”|(\S+)/gu;

/** The paths, addresses and quotations of a question; a word with a mere ending (`Ada's`) is none. */
export function readPhrases(query: string): readonly Phrase[] {
  const phrases = Array.from(query.slice(0, 20_000).matchAll(TOGETHER), (match) =>
    wordsOf(match[1] ?? match[2] ?? match[3] ?? '').slice(0, MAX_PHRASE_WORDS),
  );
  return phrases.filter((words) => words.filter((word) => !FUNCTION_WORDS.has(word)).length > 1).slice(0, MAX_PHRASES);
}

/** How many of the phrases a text holds, as a share. */
export function sharePhrases(text: string, phrases: readonly Phrase[]): number {
  const words = ` ${wordsOf(text.slice(0, MAX_PHRASE_TEXT_CHARS)).join(' ')} `;
  const held = phrases.filter((phrase) => words.includes(` ${phrase.join(' ')} `));
  return held.length / Math.max(1, phrases.length);
}

/** What ranking wants to know of a message besides its words. */
export type MessageTraits = {
  /** It ends as a question: what is asked there is answered elsewhere. */
  readonly isQuestion: boolean;
  /** It says when. */
  readonly mentionsTime: boolean;
};

/** Beyond this nobody tells when: it was pasted. */
const MAX_TIME_CHARS = 4000;
const MAX_END_CHARS = 400;

/** A question mark at the end, behind which only attachments and closing marks may stand. */
const QUESTION_END = /[?？؟](?:\s|["'”’)*_]|\[[^\][]{0,300}\])*$/u;
const TIME =
  /\b(?:yesterday|today|tomorrow|tonight|ago|last|next|week(?:s|end|ends)?|months?|years?|days?|mornings?|evenings?|recently|soon|since|mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thurs?(?:day)?|fri(?:day)?|satur(?:day)|sunday|january|february|march|april|may|june|july|august|september|october|november|december|(?:1[5-9]|20)\d\d|\d{1,2}(?:st|nd|rd|th))\b|\d{1,2}:\d\d|[年月日号]/iu;

export function readTraits(text: string): MessageTraits {
  return {
    isQuestion: QUESTION_END.test(text.slice(-MAX_END_CHARS)),
    mentionsTime: TIME.test(text.slice(0, MAX_TIME_CHARS)),
  };
}
