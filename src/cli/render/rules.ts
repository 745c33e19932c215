import type { ListedRule, RulesReport } from '../../app/survey/list-rules.ts';
import { safeCut } from '../../core/extract/character.ts';
import { quoteText } from '../../core/quoted-text.ts';
import { safeText } from '../../messages/text.ts';
import type { Theme } from './theme.ts';

/** One line for each rule: when and where it was said, and its words. */
export function renderRules({ conversations, findsTyped }: RulesReport, theme: Theme): readonly string[] {
  const isOne = conversations.length === 1;
  const lines = conversations.flatMap(({ id, rules, dropped }) => [
    ...(isOne || rules.length + dropped.length === 0 ? [] : [theme.strong(safeText(id))]),
    ...rules.map((rule) => `${theme.faint(placeOf(rule))}  ${safeText(rule.text)}`),
    ...dropped.map((text) => theme.faint(`dropped  ${safeText(text)}`)),
  ]);
  const hasNone = conversations.every(({ rules }) => rules.length === 0);
  return [
    ...lines,
    ...(hasNone ? ['no rules; a run with --rule TEXT adds one'] : []),
    ...(findsTyped ? [] : [FINDS_NONE]),
  ];
}

const FINDS_NONE =
  'This format does not say what a person typed: add rules with --rule, or set chats = true in [rules] if you trust the file.';

function placeOf({ origin, at, message, number }: ListedRule): string {
  if (origin === 'added') return 'added by hand';
  const where = message ?? (number === null ? '' : `message ${number}`);
  return [at === null ? '' : at.slice(0, 10), origin === 'summary' ? `${where} (from a summary)` : safeText(where)]
    .filter((part) => part !== '')
    .join('  ');
}

/** What a client is told at most; its context is small after a compaction. */
const MAX_NOTE_CHARS = 1_500;
const MAX_QUOTE_CHARS = 300;
const NOTE_HEADING =
  'What the user said before this conversation was summarized. Each line is a quotation from a message of theirs, with its date; the newest is last:';

/** The rules as quotations with date and message, in at most 1,500 characters: the newest that fit. '' without rules. */
export function writeRulesNote({ conversations }: RulesReport): string {
  const lines = conversations.flatMap(({ rules }) => rules.map(quoteRule));
  if (lines.length === 0) return '';
  const shown: string[] = [];
  let room = MAX_NOTE_CHARS - NOTE_HEADING.length - leftOut(lines.length).length;
  for (const line of lines.toReversed()) {
    room -= line.length + 1;
    if (room < 0) break;
    shown.unshift(line);
  }
  const left = lines.length - shown.length;
  return [NOTE_HEADING, ...(left === 0 ? [] : [leftOut(left)]), ...shown].join('\n');
}

function leftOut(count: number): string {
  return `(older rules that are left out: ${count})`;
}

function quoteRule({ text, origin, number, at }: ListedRule): string {
  const plain = quoteText(text.replace(/\s+/g, ' ').trim()).replaceAll('"', "'");
  const words = plain.length <= MAX_QUOTE_CHARS ? plain : `${plain.slice(0, safeCut(plain, MAX_QUOTE_CHARS))}…`;
  const where = origin === 'added' ? 'added by hand' : number === null ? 'an earlier message' : `message ${number}`;
  return `- ${at === null ? '' : `${at.slice(0, 10)}, `}${where}: "${words}"`;
}
