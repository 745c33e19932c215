import { callsOf, type ConversationMessage } from '../message.ts';
import { isLineEndCode, safeCut } from './character.ts';

/** prose: what somebody wrote. call: a tool's name and arguments. result: what a tool answered. error: an answer that is a failure. */
export type SegmentKind = 'prose' | 'call' | 'result' | 'error';

/** A stretch of a message's text that is of one kind. */
export type Segment = { readonly kind: SegmentKind; readonly start: number; readonly end: number };

// More than anybody writes: it was pasted.
const MAX_PROSE_CHARS = 200_000;
const HEAD_SHARE = 2 / 3;

/** What units are substrings of: the message's content, and any call of its that the content does not show. */
export function messageText(message: ConversationMessage): string {
  if (message.parts !== undefined) return message.content;
  const missing = callsOf(message)
    .map((call) => callText(call))
    .filter((text) => !message.content.includes(text));
  return message.content === '' ? missing.join('\n') : [message.content, ...missing].join('\n');
}

/**
 * The segments of `messageText(message)` in order. Of a call or result longer than `maxToolChars` its head and tail: they say what it is and
 * how it ended.
 */
export function segmentsOf(message: ConversationMessage, text: string, maxToolChars: number): readonly Segment[] {
  const found: Segment[] = [];
  const rest: SegmentKind = message.role === 'tool' ? 'result' : 'prose';
  let cursor = 0;
  for (const part of partsOf(message)) {
    const at = part.text === '' ? -1 : text.indexOf(part.text, cursor);
    if (at < 0) continue;
    if (at > cursor) found.push({ kind: rest, start: cursor, end: at });
    cursor = at + part.text.length;
    found.push({ kind: part.kind, start: at, end: cursor });
  }
  if (cursor < text.length) found.push({ kind: rest, start: cursor, end: text.length });
  return found.flatMap((segment) => capped(segment, text, maxToolChars));
}

type Located = { readonly kind: SegmentKind; readonly text: string };

function partsOf(message: ConversationMessage): readonly Located[] {
  if (message.parts === undefined) return callsOf(message).map((call) => ({ kind: 'call', text: callText(call) }));
  return message.parts.map((part): Located => {
    if (part.kind === 'text') return { kind: 'prose', text: part.text };
    if (part.kind === 'call') return { kind: 'call', text: callText(part) };
    return { kind: part.isError ? 'error' : 'result', text: part.text };
  });
}

function callText(call: { readonly name: string; readonly arguments: string }): string {
  return call.arguments === '' ? call.name : `${call.name} ${call.arguments}`;
}

function capped(segment: Segment, text: string, maxToolChars: number): readonly Segment[] {
  const { kind, start, end } = segment;
  const maxChars = kind === 'prose' ? MAX_PROSE_CHARS : maxToolChars;
  if (end - start <= maxChars) return [segment];
  const headEnd = lineEndBefore(text, start, start + Math.floor(maxChars * HEAD_SHARE));
  const tailStart = lineStartAfter(text, end - Math.floor(maxChars * (1 - HEAD_SHARE)), end);
  return [
    { kind, start, end: headEnd },
    { kind, start: tailStart, end },
  ];
}

// A line longer than this is cut where the cap falls.
const MAX_LINE_SEARCH_CHARS = 2_000;

function lineEndBefore(text: string, start: number, at: number): number {
  for (let i = at; i > start && i > at - MAX_LINE_SEARCH_CHARS; i -= 1) if (isLineEndCode(text.charCodeAt(i))) return i;
  return safeCut(text, at);
}

function lineStartAfter(text: string, at: number, end: number): number {
  for (let i = at; i < end && i < at + MAX_LINE_SEARCH_CHARS; i += 1)
    if (isLineEndCode(text.charCodeAt(i))) return i + 1;
  return safeCut(text, at);
}
