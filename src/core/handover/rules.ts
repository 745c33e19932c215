import { keepNewestWording } from './rule-overrides.ts';
import { findRuleSentences } from './rule-sentences.ts';

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
export function holdsRule(text: string): boolean {
  return findRuleSentences(text).some(({ isPermission }) => !isPermission);
}

/** Rules that the user adds, and parts of rules that the user drops. */
export type RulesByHand = { readonly add: readonly string[]; readonly drop: readonly string[] };

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
