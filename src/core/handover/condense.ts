import { safeCut } from '../extract/character.ts';
import { callsOf, type ConversationMessage, type MessagePart } from '../message.ts';
import { parseJson } from '../result.ts';

// A shorter piece of text says little, so other messages are kept whole instead.
const MIN_TEXT_CHARS = 240;
const HEAD_SHARE = 0.7;
const MAX_DEPTH = 6;

/** The share for what people and the assistant wrote. Calls and results get the rest. */
const WORDS_SHARE = 0.7;

/**
 * Shortens messages to what a hand-over needs of them, about `maxChars` in all, in the same order. Long texts are cut in the middle, long
 * calls inside their arguments. If that would leave too little of each, messages are dropped, oldest first: results and calls, then the
 * assistant's words, then requests.
 */
export function condenseMessages(
  messages: readonly ConversationMessage[],
  maxChars: number,
): readonly ConversationMessage[] {
  if (messages.reduce((sum, message) => sum + charsOf(message), 0) <= maxChars) return messages;
  const words = condenseEach(messages.filter(isWords), Math.floor(maxChars * WORDS_SHARE));
  const wordChars = words.reduce((sum, message) => sum + (message === null ? 0 : charsOf(message)), 0);
  const others = messages.filter((message) => !isWords(message));
  const rest = condenseEach(others, Math.max(0, maxChars - wordChars));
  const [nextWords, nextOther] = [words.values(), rest.values()];
  return messages.flatMap((message) => (isWords(message) ? nextWords : nextOther).next().value ?? []);
}

/** Collects messages within bounds. */
type Condenser = {
  readonly add: (message: ConversationMessage) => void;
  /** What is left of the added messages, in order. */
  readonly messages: () => readonly ConversationMessage[];
};

/**
 * Creates a condenser that condenses its messages to half of `maxChars` whenever they have more. From then on, it cuts calls and results to
 * the length that was left of others as soon as they are added.
 */
export function createCondenser(maxChars: number): Condenser {
  let held: ConversationMessage[] = [];
  let chars = 0;
  let maxToolChars = Infinity;
  return {
    add: (message) => {
      const kept = isWords(message) ? message : condensed(message, maxToolChars);
      held.push(kept);
      chars += charsOf(kept);
      if (chars <= maxChars) return;
      held = [...condenseMessages(held, Math.floor(maxChars / 2))];
      chars = held.reduce((sum, one) => sum + charsOf(one), 0);
      maxToolChars = held.reduce(
        (most, one) => (isWords(one) ? most : Math.max(most, ...lengthsOf(one))),
        MIN_TEXT_CHARS,
      );
    },
    messages: () => held,
  };
}

function isWords({ typed, role, parts = [], tool_calls: calls = [] }: ConversationMessage): boolean {
  if (typed !== undefined) return true;
  return role !== 'tool' && calls.length === 0 && parts.every(({ kind }) => kind === 'text');
}

function charsOf(message: ConversationMessage): number {
  return lengthsOf(message).reduce((sum, length) => sum + length, 0);
}

function lengthsOf(message: ConversationMessage): readonly number[] {
  return partsOf(message).map((part) => textOf(part).length);
}

/** Null: the message is dropped. */
function condenseEach(
  messages: readonly ConversationMessage[],
  maxChars: number,
): readonly (ConversationMessage | null)[] {
  const lengths = messages.flatMap(lengthsOf);
  if (lengths.reduce((sum, length) => sum + length, 0) <= maxChars) return messages;
  const cap = capFor(lengths, maxChars);
  const shorter = messages.map((message) => condensed(message, Math.max(cap, MIN_TEXT_CHARS)));
  return cap >= MIN_TEXT_CHARS ? shorter : mostImportant(shorter, maxChars);
}

/** The length to which longer texts must be cut so that all of them add up to `maxChars`. */
function capFor(lengths: readonly number[], maxChars: number): number {
  let left = maxChars;
  const sorted = lengths.toSorted((a, b) => a - b);
  for (const [index, length] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - index));
    if (length > share) return share;
    left -= length;
  }
  return maxChars;
}

function partsOf(message: ConversationMessage): readonly MessagePart[] {
  return message.parts ?? [{ kind: 'text', text: message.content }];
}

function textOf(part: MessagePart): string {
  return part.kind === 'call' ? part.arguments : part.text;
}

/** Drops the least important messages, the oldest first within each rank. */
function mostImportant(
  messages: readonly ConversationMessage[],
  maxChars: number,
): readonly (ConversationMessage | null)[] {
  const ranked = messages.map((message, index) => ({ index, rank: rankOf(message, messages[index + 1]) }));
  const kept = new Set<number>();
  let left = maxChars;
  for (const { index } of ranked.toSorted((a, b) => b.rank - a.rank || b.index - a.index)) {
    const size = messages[index]?.content.length ?? 0;
    if (size > left) continue;
    left -= size;
    kept.add(index);
  }
  return messages.map((message, index) => (kept.has(index) ? message : null));
}

/** Ranks typed messages first, then the assistant's last words before them, its other words, calls, results. */
function rankOf(message: ConversationMessage, next: ConversationMessage | undefined): number {
  if (message.typed !== undefined) return 4;
  if (message.role === 'tool' || partsOf(message).some(({ kind }) => kind === 'result')) return 0;
  if ((message.tool_calls ?? []).length > 0 || partsOf(message).some(({ kind }) => kind === 'call')) return 1;
  return next?.typed === undefined ? 2 : 3;
}

function condensed(message: ConversationMessage, cap: number): ConversationMessage {
  if (message.parts === undefined) {
    const short = withShortCalls(message, cap);
    return message.content.length <= cap ? short : { ...short, content: headAndTail(message.content, cap) };
  }
  if (message.parts.every((part) => textOf(part).length <= cap)) return message;
  const parts = message.parts.map((part): MessagePart =>
    part.kind === 'call'
      ? { ...part, arguments: condensedArguments(part.arguments, cap) }
      : { ...part, text: headAndTail(part.text, cap) },
  );
  const typed = message.typed === undefined ? {} : { typed: headAndTail(message.typed, cap) };
  return { ...withShortCalls(message, cap), ...typed, parts, content: parts.map(textOf).join('\n') };
}

function withShortCalls(message: ConversationMessage, cap: number): ConversationMessage {
  const calls = callsOf(message);
  if (calls.every(({ arguments: written }) => written.length <= cap)) return message;
  const short = calls.map((call) => ({ ...call, arguments: condensedArguments(call.arguments, cap) }));
  return { ...message, tool_calls: short };
}

/** Arguments stay valid JSON: long strings are cut, short ones such as file names stay. */
function condensedArguments(written: string, cap: number): string {
  if (written.length <= cap) return written;
  const value = parseJson(written);
  if (typeof value !== 'object' || value === null) return headAndTail(written, cap);
  const texts = textLengths(value, 0);
  const shorter = JSON.stringify(withShortTexts(value, { cap: capFor(texts, Math.floor(cap / 2)), depth: 0 }));
  return shorter.length <= 2 * cap ? shorter : headAndTail(written, cap);
}

function textLengths(value: unknown, depth: number): readonly number[] {
  if (typeof value === 'string') return [value.length];
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  return Object.values(value).flatMap((inner) => textLengths(inner, depth + 1));
}

function withShortTexts(value: unknown, { cap, depth }: { readonly cap: number; readonly depth: number }): unknown {
  if (typeof value === 'string') return headAndTail(value, cap);
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  const shorten = (inner: unknown): unknown => withShortTexts(inner, { cap, depth: depth + 1 });
  if (Array.isArray(value)) return value.map(shorten);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shorten(inner)]));
}

function headAndTail(text: string, cap: number): string {
  if (text.length <= cap) return text;
  const head = text.slice(0, safeCut(text, Math.floor(cap * HEAD_SHARE)));
  const tail = text.slice(safeCut(text, text.length - Math.floor(cap * (1 - HEAD_SHARE))));
  const short = `${head}\n${tail}`;
  // Until a character of it is read, V8 only notes where the pieces are, and keeps the long text for them.
  return Number.isNaN(short.charCodeAt(0)) ? '' : short;
}
