import type { ConversationMessage, MessagePart } from '../message.ts';
import { safeCut } from '../extract/character.ts';

const HEAD_SHARE = 0.7;

/**
 * The messages with no more than a hand-over uses of them, about `maxChars` in all: requests and the assistant's words before calls and results,
 * of which the head and the tail stay. Messages that are short already stay as they are.
 */
export function condenseMessages(
  messages: readonly ConversationMessage[],
  maxChars: number,
): readonly ConversationMessage[] {
  const lengths = messages.flatMap((message) => partsOf(message).map((part) => textOf(part).length));
  if (lengths.reduce((sum, length) => sum + length, 0) <= maxChars) return messages;
  const cap = capFor(lengths, maxChars);
  return messages.map((message) => condensed(message, cap));
}

/** The length at which longer texts are cut so that all together have `maxChars`. */
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

function condensed(message: ConversationMessage, cap: number): ConversationMessage {
  if (message.parts === undefined) {
    return message.content.length <= cap ? message : { ...message, content: headAndTail(message.content, cap) };
  }
  if (message.parts.every((part) => textOf(part).length <= cap)) return message;
  const parts = message.parts.map((part): MessagePart => {
    if (part.kind === 'call') return { ...part, arguments: headAndTail(part.arguments, cap) };
    return { ...part, text: headAndTail(part.text, cap) };
  });
  return { ...message, parts, content: parts.map(textOf).join('\n') };
}

function headAndTail(text: string, cap: number): string {
  if (text.length <= cap) return text;
  const head = text.slice(0, safeCut(text, Math.floor(cap * HEAD_SHARE)));
  const tail = text.slice(safeCut(text, text.length - Math.floor(cap * (1 - HEAD_SHARE))));
  return `${head}\n${tail}`;
}
