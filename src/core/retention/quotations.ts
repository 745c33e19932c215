import { readConversation } from '../handover/turns.ts';
import { hasInstructions } from '../extract/summary-lines.ts';
import type { ConversationMessage } from '../message.ts';
import { HAND_OVER_HEADINGS } from '../quoted-text.ts';
import type { Fact } from './facts.ts';

/** A quotation that a summary attributes to the user, but that no message of the user contains. */
export type FalseQuotation = {
  /** The text between the quotation marks. */
  readonly text: string;
  /** Its range in the summary, without the marks. */
  readonly start: number;
  readonly end: number;
};

type QuotationInput = {
  readonly summary: string;
  readonly messages: readonly ConversationMessage[];
  /** Texts whose words may be quoted, because they were checked before. */
  readonly checked?: readonly string[];
};

const MARKS: readonly (readonly [string, string])[] = [
  ['"', '"'],
  ['“', '”'],
  ['„', '“'],
  ['«', '»'],
  ['「', '」'],
  ['『', '』'],
];
const QUOTATION = new RegExp(
  MARKS.map(([open, close]) => `${open}[^${open}${close}\\n]{1,600}${close}`).join('|'),
  'g',
);
const USER = String.raw`\b(?:the )?(?:user|human|customer|client)\b|(?:der|die|den) (?:Be)?Nutzer(?:in)?\b|l['’]utilisat(?:eur|rice)\b|(?:el|la) usuari[oa]\b|用户|用戶|ユーザー`;
const SAYING = String.raw`\b(?:sa(?:id|ys|ying)|ask(?:s|ed|ing)?|want(?:s|ed)?|request(?:s|ed)?|stat(?:es|ed)|insist(?:s|ed)?|told|tells|wrote|writes|repl(?:ies|ied)|answer(?:s|ed)|demand(?:s|ed)?|specif(?:ies|ied)|instruct(?:s|ed)?|confirm(?:s|ed)?|complain(?:s|ed)?|report(?:s|ed)?|prefer(?:s|red)?|emphasi[sz](?:es|ed)|words?|quote|message|puts? it|phrased?|sagte?|bat|will|wollte|schrieb|dit|demand[eé]e?|veut|voulait|dijo|pid(?:e|ió)|quiere|quería)\b|说|說|要求|言っ|述べ`;
const BEFORE = new RegExp(
  `(?:${USER})[^.!?。！？\\n]{0,120}?(?:(?:${SAYING})[^.!?。！？"“«「\\n]{0,60}|['’]s [^.!?\\n]{0,40}|[:：] ?)$`,
  'iu',
);
const OTHERS = String.raw`\b(?:assistant|agent|model|reviewer|copilot|claude|gpt|bot)`;
/** What stands between the user and a quotation if it quotes somebody or something else: a speaker with a verb, or a source without one. */
const OTHER_SOURCE = new RegExp(
  `(?:${OTHERS}(?:['’]s\\b|(?: (?:had|has|then|also|\\w+ly)){0,2} (?:${SAYING}))|\\b(?:output|error|log|file|test|command|commit|prints?|printed|failed|fails|[0-9a-f]{7,40})\\b(?: message\\b)?)(?:(?!${USER}|${SAYING}).)*$`,
  'iu',
);
const AFTER = new RegExp(`^[,.]?\\s{0,3}(?:(?:${USER})[^.!?\\n]{0,20}(?:${SAYING})|(?:${SAYING}) (?:${USER}))`, 'iu');
const CONTEXT_CHARS = 220;
// One or two words in quotation marks are a name, or irony.
const MIN_WORDS = 3;
const MIN_UNSPACED_CHARS = 6;

/**
 * Finds quotations that the user did not say, in order. Ignores case, white space, the style of quotes, and punctuation at the ends; `…`
 * matches anything.
 */
export function findFalseQuotations(input: QuotationInput): readonly FalseQuotation[] {
  const { summary, messages, checked = [] } = input;
  const found = [...summary.matchAll(QUOTATION)].flatMap((match): readonly FalseQuotation[] => {
    const text = match[0].slice(1, -1);
    const start = match.index + 1;
    const end = start + text.length;
    const isChecked = isLongEnough(text) && isOfUser(summary, { start: match.index, end: end + 1 });
    return isChecked ? [{ text, start, end }] : [];
  });
  if (found.length === 0) return [];
  const typed = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  // Clients put the user's reason for a refusal into the result of the call.
  const replies = readConversation(messages).turns.flatMap((turn) => turn.replies.map(({ text }) => text));
  const said = [...typed, ...replies, ...checked].map(plain);
  return found.filter(({ text }) => !said.some((source) => standsIn(text, source)));
}

/** What a checked summary quotes. A hand-over consists of quotations; of what a model wrote, only the text in quotation marks is one. */
export function quotedIn(summary: string): readonly string[] {
  if (HAND_OVER_HEADINGS.some((heading) => summary.includes(`${heading}\n`))) return [summary];
  return summary.match(QUOTATION) ?? [];
}

function isLongEnough(text: string): boolean {
  const isUnspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text);
  return isUnspaced ? text.length >= MIN_UNSPACED_CHARS : text.trim().split(/\s+/).length >= MIN_WORDS;
}

function isOfUser(summary: string, { start, end }: { start: number; end: number }): boolean {
  const before = summary.slice(Math.max(0, start - CONTEXT_CHARS), start).replace(/"[^"\n]{0,600}"/g, '…');
  const [attribution] = BEFORE.exec(before) ?? [];
  return (
    (attribution !== undefined && !OTHER_SOURCE.test(attribution)) ||
    AFTER.test(summary.slice(end, end + CONTEXT_CHARS))
  );
}

/** Whether a source contains the parts between ellipses, in order. */
function standsIn(quotation: string, source: string): boolean {
  let from = 0;
  for (const part of quotation.split(/\s*(?:\[?(?:…|\.{3})\]?|\[[^\]]{1,60}\])\s*/)) {
    const words = plain(part);
    if (words === '') continue;
    const at = source.indexOf(words, from);
    if (at < 0) return false;
    from = at + words.length;
  }
  return true;
}

function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[“”„«»「」『』"`*_]/g, '')
    .replace(/[’‘]/g, "'")
    .replace(/[\s ]+/g, ' ')
    .replace(/^[\s,.;:!?'()-]+|[\s,.;:!?'()-]+$/g, '');
}

/** Removes the quotation marks of false quotations, and adds a note to each if `maxChars` leaves room. */
export function markQuotations(summary: string, quotations: readonly FalseQuotation[], maxChars: number): string {
  const note = ' (not the exact words)';
  const isNoted = summary.length + quotations.length * (note.length - 2) <= maxChars;
  let marked = '';
  let from = 0;
  for (const { start, end } of quotations) {
    marked += summary.slice(from, start - 1) + summary.slice(start, end) + (isNoted ? note : '');
    from = end + 1;
  }
  return marked + summary.slice(from);
}

// A few examples are enough; all of them would make a second summary.
const MAX_QUOTATIONS = 5;
const MAX_FACTS = 30;
const MAX_CHARS = 120;

/**
 * Tells a model what is wrong with its summary, to complete "it could not be used: …". Transcript text is encoded as JSON strings, and text
 * with instructions is left out.
 */
export function describeFlaws({
  quotations,
  lost,
}: {
  quotations: readonly FalseQuotation[];
  lost: readonly Fact[];
}): string {
  const words = listed(quotations.map(({ text }) => text).slice(0, MAX_QUOTATIONS));
  const facts = listed(
    lost
      .map(({ text }) => text)
      .filter((text) => !hasInstructions(text))
      .slice(0, MAX_FACTS),
  );
  const flaws = [
    ...(quotations.length === 0
      ? []
      : [
          `it quotes the user with words that no message of the user has (${words}): quote exactly what was said, or tell it without quotation marks`,
        ]),
    ...(lost.length === 0 ? [] : [`it leaves out what is needed later${facts === '' ? '' : `, such as ${facts}`}`]),
  ];
  return flaws.join('; and ');
}

function listed(texts: readonly string[]): string {
  return texts
    .map((text) => JSON.stringify(text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}…`))
    .join(', ');
}
