import { safeCut } from '../extract/character.ts';
import { quoteText } from '../quoted-text.ts';
import { keepNewestWording } from './overrides.ts';
import { findRuleSentences } from './sentences.ts';

/** What a person typed in one message. */
export type TypedMessage = {
  /** 1-based, over the conversation's life. */
  readonly index: number;
  readonly text: string;
};

/** A standing rule of the user. */
export type Rule = {
  readonly text: string;
  /** The message that it stands in, as `TypedMessage.index`. Null: the user added it by a flag or a setting. */
  readonly index: number | null;
};

/**
 * The standing rules in what was typed, oldest first. Of equal rules the latest stays, and of those that contradict each other the newer.
 * `earlier`: rules that are known from before, older than all messages. `shownBefore`: a permission among them took back a rule that may no longer
 * be known.
 */
export function findRules(
  messages: Iterable<TypedMessage>,
  earlier: readonly Rule[] = [],
  shownBefore: readonly Rule[] = earlier,
): readonly Rule[] {
  const shown = new Set(shownBefore.map(({ text }) => text));
  const found = earlier.map((rule) => ({ ...rule, isPermission: false }));
  for (const { index, text } of messages) {
    for (const sentence of findRuleSentences(text)) {
      found.push({ text: sentence.text, index, isPermission: sentence.isPermission && !shown.has(sentence.text) });
    }
  }
  return keepNewestWording(found).map(({ text, index }) => ({ text, index }));
}

/** Whether a person stated a standing rule in this text. */
export function statesRule(text: string): boolean {
  return findRuleSentences(text).some(({ isPermission }) => !isPermission);
}

/** Rules that the user adds, and parts of rules that the user drops. */
type RulesByHand = { readonly add: readonly string[]; readonly drop: readonly string[] };

/** `rules` without those that hold one of the dropped texts (in any case), then those that the user added. */
export function applyByHand(rules: readonly Rule[], { add, drop }: RulesByHand): readonly Rule[] {
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

/** A longer rule is cut: it would push out the others. */
const MAX_RULE_CHARS = 400;
/** The rules may take this much, or a share of the summary where that is more. */
const MIN_SECTION_CHARS = 2_000;
const SECTION_SHARE = 0.05;
const CHARS_PER_TOKEN = 4;

const BY_HAND = '(added by hand)';
const DROPPED = '(dropped by hand: ';
const MAX_DROPPED = 20;
const MAX_DROPPED_CHARS = 120;
const MESSAGE = /^(.*) \(message (\d{1,15})\)$/;

/** Characters that the section may take beside a summary of so many tokens. */
export function rulesBudget(summaryTokens: number): number {
  return Math.max(MIN_SECTION_CHARS, Math.floor(summaryTokens * CHARS_PER_TOKEN * SECTION_SHARE));
}

/**
 * The rules as a section of a clip-archive, each with the message that leads back to it; null where there is none. Those that do not fit are
 * counted: rules that the user added come first, then the newest.
 */
export function formatRules(
  rules: readonly Rule[],
  { maxChars, dropped = [] }: { readonly maxChars: number; readonly dropped?: readonly string[] },
): string | null {
  const notes = formatDropped(dropped);
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

/** What was dropped by hand, so that it stays dropped: the rules are found anew at each compaction. */
function formatDropped(dropped: readonly string[]): readonly string[] {
  const texts = dropped
    .map((text) => quoteText(oneLine(text)).slice(0, MAX_DROPPED_CHARS))
    .filter((text) => text !== '');
  return [...new Set(texts)].slice(-MAX_DROPPED).map((text) => `${DROPPED}${text})`);
}

function formatRule({ text, index }: Rule): string {
  const said = quoteText(oneLine(text));
  return `- ${shorten(said)} ${index === null ? BY_HAND : `(message ${index})`}`;
}

/** Cut behind a word, with the count of what is missing. */
function shorten(text: string): string {
  if (text.length <= MAX_RULE_CHARS) return text;
  const cut = safeCut(text, MAX_RULE_CHARS);
  const space = text.lastIndexOf(' ', cut);
  const end = space > MAX_RULE_CHARS / 2 ? space : cut;
  return `${text.slice(0, end)} … (${text.length - end} more characters)`;
}

/** A clip-archive's rules, what was dropped of them, and its text without both. */
export type ParsedRules = {
  readonly rules: readonly Rule[];
  readonly dropped: readonly string[];
  readonly rest: string;
};

/** Reads the section where `formatRules` puts it: at the beginning of what follows a clip-archive's first line. */
export function parseRules(body: string): ParsedRules {
  if (!body.startsWith(`${RULES_HEADING}\n`)) return { rules: [], dropped: [], rest: body };
  const end = body.indexOf('\n\n');
  const section = end < 0 ? body : body.slice(0, end);
  const lines = section.split('\n').slice(1);
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
