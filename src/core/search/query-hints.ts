import { FUNCTION_WORDS } from '../extract/word-lists.ts';
import { foldAccents, foldLetters } from '../languages/fold.ts';
import { wordsOf } from './question.ts';
import { INDEXED_WORD, isSpaceless } from './words.ts';

/** The kind of answer that a question asks for. Time is separate: see `MessageTraits.mentionsTime`. */
type AnswerKind = 'person' | 'place' | 'number' | 'title' | 'reason';

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

/** A capital letter inside a sentence. */
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

/** The kinds of answer that a query asks for, usually none. English only. */
export function readAnswerKinds(query: string): readonly AnswerKind[] {
  const asked = query.slice(0, MAX_QUERY_CHARS);
  return Object.entries(ASKED_BY).flatMap(([kind, pattern]) => (pattern.test(asked) ? (kind as AnswerKind) : []));
}

/** How many of the kinds a text may answer. */
export function countAnsweredKinds(text: string, kinds: readonly AnswerKind[]): number {
  const answer = text.slice(0, MAX_TEXT_CHARS);
  return kinds.filter((kind) => ANSWERED_BY[kind].test(answer)).length;
}

/** A day, month or year named in a query. Months count from 0, as in `Date`; null means any. */
export type Period = { readonly year: number | null; readonly month: number | null; readonly day: number | null };

/** People report what happened some days later. */
const REPORTED_WITHIN_MS = 7 * 24 * 60 * 60_000;

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const YEAR = String.raw`(?<year>(?:19|20)\d\d)\b`;
const DAY = String.raw`(?<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?\b`;
const MONTH = String.raw`(?<month>${MONTHS.join('|')})\b`;
/** Since `May` and `March` are also other words, a month needs a day, a year or a preposition of time next to it. The first match counts. */
const WRITTEN = [
  String.raw`\b${YEAR}-(?<number>0[1-9]|1[0-2])(?:-${DAY})?`,
  String.raw`\b${DAY}(?: of)? ${MONTH}(?:,? ${YEAR})?`,
  String.raw`\b${MONTH} ${DAY}(?:,? ${YEAR})?`,
  String.raw`\b${MONTH},? (?:of )?${YEAR}`,
  String.raw`\b${anyCase('in|of|on|during|since|by|until|before|after|last|this|early|late|mid|between|and')} ${MONTH}`,
  String.raw`\b${anyCase('in|of|during|since|by|until|before|after|year|spring|summer|autumn|fall|winter')} ${YEAR}`,
].map((pattern) => new RegExp(pattern));

/** The words in capitals too. Node 22 does not know `(?i:…)`. */
function anyCase(words: string): string {
  return `(?:${words.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)})`;
}

/** The first date in a query, or null. Supports English month names and ISO dates. */
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

/** Whether a message is from the period or the week after it. Without a year, the period is in the message's own year or the one before. */
export function isFromPeriod(period: Period, at: Date | null): boolean {
  if (at === null) return false;
  const years = period.year === null ? [at.getUTCFullYear(), at.getUTCFullYear() - 1] : [period.year];
  return years.some((year) => {
    const { since, until } = spanOf(period, year);
    return at >= since && at < until;
  });
}

/** A period of a year, and the week after it. */
export function spanOf({ month, day }: Period, year: number): { readonly since: Date; readonly until: Date } {
  const end = Date.UTC(
    month === null ? year + 1 : year,
    month === null ? 0 : month + (day === null ? 1 : 0),
    day === null ? 1 : day + 1,
  );
  return { since: new Date(Date.UTC(year, month ?? 0, day ?? 1)), until: new Date(end + REPORTED_WITHIN_MS) };
}

const MAX_PHRASES = 4;
const MAX_PHRASE_TEXT_CHARS = 200_000;
/** Text in quotes, or else anything without spaces: a path, a URL, `can't-do`. */
const TOGETHER = /"([^"]{1,400})"|“([^”]{1,400})”|(\S+)/gu;

/** The paths, URLs and quotations in a query. A word with a mere suffix (`Ada's`) does not count. */
export function readPhrases(query: string): readonly string[] {
  return Array.from(query.slice(0, 20_000).matchAll(TOGETHER), (match) =>
    plainWords(match[1] ?? match[2] ?? match[3] ?? ''),
  )
    .filter((phrase) => phrase.split(' ').filter((word) => !FUNCTION_WORDS.has(word)).length > 1)
    .slice(0, MAX_PHRASES);
}

/** With more words around its quotations a query is a question, which a message may answer without them. */
const MAX_WORDS_AROUND = 3;

/** The quotations in a query that has little else, which every result must contain. */
export function readQuoted(query: string): readonly string[] {
  const around = query
    .slice(0, 20_000)
    .replace(TOGETHER, (found, straight, curly) => ((straight ?? curly) ? ' ' : found));
  if (wordsOf(around).length > MAX_WORDS_AROUND) return [];
  return Array.from(query.slice(0, 20_000).matchAll(TOGETHER), (match) => plainWords(match[1] ?? match[2] ?? ''))
    .filter((phrase) => phrase !== '')
    .slice(0, MAX_PHRASES);
}

/** Whether a text contains all quotations. */
export function holdsPhrases(text: string, phrases: readonly string[]): boolean {
  return phrases.length === 0 || sharePhrases(text, phrases) === 1;
}

function plainWords(text: string): string {
  return (foldLetters(text).toLowerCase().match(INDEXED_WORD) ?? []).map(foldAccents).join(' ');
}

/** The share of the phrases that a text contains, word for word but for case, accents and punctuation. */
export function sharePhrases(text: string, phrases: readonly string[]): number {
  const words = ` ${plainWords(text.slice(0, MAX_PHRASE_TEXT_CHARS))} `;
  const held = phrases.filter((phrase) => words.includes(isSpaceless(phrase) ? phrase : ` ${phrase} `));
  return held.length / Math.max(1, phrases.length);
}

/** What ranking needs to know about a message apart from its words. */
export type MessageTraits = {
  /** Ends with a question, so the answer is in another message. */
  readonly isQuestion: boolean;
  /** Says when something happened. */
  readonly mentionsTime: boolean;
};

/** Longer texts are pasted, so only their beginning is checked for dates. */
const MAX_TIME_CHARS = 4000;
const MAX_END_CHARS = 400;

/** A question mark at the end, followed only by attachments and closing marks. */
const QUESTION_END = /[?？؟](?:\s|["'”’)*_]|\[[^\][]{0,300}\])*$/u;
/** Not in Unicode mode, where it takes five times as long. */
const TIME =
  /\b(?:yesterday|today|tomorrow|tonight|ago|last|next|week(?:s|end|ends)?|months?|years?|days?|mornings?|evenings?|recently|soon|since|mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thurs?(?:day)?|fri(?:day)?|satur(?:day)|sunday|january|february|march|april|may|june|july|august|september|october|november|december|(?:1[5-9]|20)\d\d|\d{1,2}(?:st|nd|rd|th))\b|\d{1,2}:\d\d|[年月日号]/i;

export function readTraits(text: string): MessageTraits {
  return {
    isQuestion: QUESTION_END.test(text.slice(-MAX_END_CHARS)),
    mentionsTime: TIME.test(text.slice(0, MAX_TIME_CHARS)),
  };
}
