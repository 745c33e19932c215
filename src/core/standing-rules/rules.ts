import { safeCut } from '../extract/character.ts';
import { quoteText } from '../quoted-text.ts';
import { keepNewestWording, type Statement } from './overrides.ts';
import { findRuleSentences } from './sentences.ts';
import { CHARS_PER_TOKEN } from '../tokens.ts';

/** The text that a person typed in one message. */
export type TypedMessage = {
  /** Counts messages over the conversation's life, from 1. */
  readonly index: number;
  readonly text: string;
  /** The message, if it may have left the transcript. */
  readonly source?: { readonly id: string; readonly at: Date | null };
};

/** The rules and permissions that a typed message states. */
export type StatingMessage = Pick<TypedMessage, 'index'> & { readonly statements: readonly Statement[] };

/** Null: the message states none. */
export function readStatements({ index, text }: TypedMessage): StatingMessage | null {
  const statements = findRuleSentences(text);
  return statements.length === 0 ? null : { index, statements };
}

export type Rule = {
  readonly text: string;
  /** The index of its message (`TypedMessage.index`); null if the user added it by a flag or setting. */
  readonly index: number | null;
};

/**
 * Finds the standing rules in typed text, oldest first. The latest of equal rules stays, and the newer of contradictory ones. `earlier`:
 * rules found before, older than all messages. `shownBefore`: rules shown before; a permission among them revoked a rule that may no longer
 * be known.
 */
export function findRules(
  messages: Iterable<TypedMessage | StatingMessage>,
  earlier: readonly Rule[] = [],
  shownBefore: readonly Rule[] = earlier,
): readonly Rule[] {
  const shown = new Set(shownBefore.map(({ text }) => text));
  const found = earlier.map((rule) => ({ ...rule, isPermission: false }));
  for (const message of messages) {
    const { index } = message;
    for (const sentence of 'text' in message ? findRuleSentences(message.text) : message.statements) {
      found.push({ text: sentence.text, index, isPermission: sentence.isPermission && !shown.has(sentence.text) });
    }
  }
  return keepNewestWording(found).map(({ text, index }) => ({ text, index }));
}

/** Whether a typed text states a standing rule. */
export function statesRule(text: string): boolean {
  return findRuleSentences(text).some(({ isPermission }) => !isPermission);
}

/** Removes rules that contain a dropped text (in any case) and appends the added ones. */
export function applyByHand(
  rules: readonly Rule[],
  { add, drop }: { add: readonly string[]; drop: readonly string[] },
): readonly Rule[] {
  const added = add.map((text): Rule => ({ text: oneLine(text), index: null })).filter(({ text }) => text !== '');
  const unwanted = drop.map(fold).filter((text) => text !== '');
  const replaced = new Set(added.map(({ text }) => fold(text)));
  const kept = rules.filter((rule) => {
    const text = fold(rule.text);
    return !replaced.has(text) && !unwanted.some((part) => text.includes(part));
  });
  return [...kept, ...added];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function fold(text: string): string {
  return oneLine(text).toLowerCase();
}

export const RULES_HEADING = '## Rules that hold';

/** Longer rules are cut, so that they do not crowd out others. */
const MAX_RULE_CHARS = 400;
/** The section may take this much, or this share of the summary if that is more. */
const MIN_SECTION_CHARS = 2_000;
const SECTION_SHARE = 0.05;

const BY_HAND = '(added by hand)';
const DROPPED = '(dropped by hand: ';
const MAX_DROPPED = 20;
const MAX_DROPPED_CHARS = 120;
const MESSAGE = /^(.*) \(message (\d{1,15})\)$/;

/** The maximum length of the section, in characters, for a summary with a budget of `summaryTokens`. */
export function rulesBudget(summaryTokens: number): number {
  return Math.max(MIN_SECTION_CHARS, Math.floor(summaryTokens * CHARS_PER_TOKEN * SECTION_SHARE));
}

/**
 * Formats the rules as a section of a clip-archive, each with the number of its message; null if there are none. If they do not all fit,
 * rules added by the user come first, then the newest, and the rest is counted.
 */
export function formatRules(
  rules: readonly Rule[],
  { maxChars, dropped = [] }: { maxChars: number; dropped?: readonly string[] },
): string | null {
  // Records what the user dropped, because every compaction finds the rules again.
  const texts = dropped
    .map((text) => quoteText(oneLine(text)).slice(0, MAX_DROPPED_CHARS))
    .filter((text) => text !== '');
  const notes = [...new Set(texts)].slice(-MAX_DROPPED).map((text) => `${DROPPED}${text})`);
  if (rules.length === 0 && notes.length === 0) return null;
  const lines = rules.map(formatRule);
  const byHand = [...lines.keys()].filter((at) => rules[at]?.index === null);
  const found = [...lines.keys()].filter((at) => rules[at]?.index !== null);
  const shown = new Set<number>();
  let room = maxChars;
  for (const at of [...byHand.toReversed(), ...found.toReversed()]) {
    const needed = (lines[at]?.length ?? 0) + 1;
    if (needed > room) break;
    room -= needed;
    shown.add(at);
  }
  const left = lines.length - shown.size;
  const count = left === 0 ? [] : [`(${left} older ${left === 1 ? 'rule is' : 'rules are'} left out)`];
  return [RULES_HEADING, ...count, ...lines.filter((_, at) => shown.has(at)), ...notes].join('\n');
}

function formatRule({ text, index }: Rule): string {
  const said = quoteText(oneLine(text));
  return `- ${shorten(said)} ${index === null ? BY_HAND : `(message ${index})`}`;
}

/** Cuts a rule between words and counts the missing characters. */
function shorten(text: string): string {
  if (text.length <= MAX_RULE_CHARS) return text;
  const cut = safeCut(text, MAX_RULE_CHARS);
  const space = text.lastIndexOf(' ', cut);
  const end = space > MAX_RULE_CHARS / 2 ? space : cut;
  return `${text.slice(0, end)} … (${text.length - end} more characters)`;
}

/** The rules of a clip-archive, the dropped texts, and the rest of its body. */
export type ParsedRules = {
  readonly rules: readonly Rule[];
  readonly dropped: readonly string[];
  readonly rest: string;
};

/** Parses the section that `formatRules` wrote at the beginning of a clip-archive's body. */
export function parseRules(body: string): ParsedRules {
  if (!body.startsWith(`${RULES_HEADING}\n`)) return { rules: [], dropped: [], rest: body };
  const end = body.indexOf('\n\n');
  const lines = (end < 0 ? body : body.slice(0, end)).split('\n').slice(1);
  const dropped = lines.flatMap((line) => (line.startsWith(DROPPED) ? [line.slice(DROPPED.length, -1)] : []));
  return { rules: lines.flatMap(parseRule), dropped, rest: end < 0 ? '' : body.slice(end + 2) };
}

function parseRule(line: string): readonly Rule[] {
  if (!line.startsWith('- ')) return [];
  const said = line.slice(2);
  if (said.endsWith(` ${BY_HAND}`)) return [{ text: said.slice(0, -BY_HAND.length - 1), index: null }];
  const [, text, index] = MESSAGE.exec(said) ?? [];
  return text === undefined || index === undefined ? [] : [{ text, index: Number(index) }];
}

/** Whether a rule contains one of the dropped texts. */
export function isDropped(text: string, dropped: readonly string[]): boolean {
  return applyByHand([{ text, index: 0 }], { add: [], drop: dropped }).length === 0;
}
