import { callsOf, type ConversationMessage } from '../message.ts';
import { CHARACTER, classAt, isLineEndCode, safeCut } from './character.ts';
import { MAX_UNIT_CHARS, pushTrimmed, type Span, splitLong, splitSentences } from './sentence.ts';

/** The smallest choice: a sentence, or a line of code or of a list. */
export type Unit = Span & { readonly kind: SegmentKind };

const ATTACHMENT = /\[(?:image|photo|picture|video|audio|voice|sticker|gif|attachment|media)\b[^\]\n]{0,2000}\]/gi;
const ATTACHMENT_HEAD = /\[(?:image|photo|picture|video|audio|voice|sticker|gif|attachment|media)\b/i;
const LIST_OR_CODE_LINE = /^(?:[-*+•>|#]|\d{1,3}[.)]\s|[{}<]|@@)/;
const CODE_LINE_END = /[{};\\]$/;
const FENCE = /^(?:```|~~~)[^`]*$/;
const LETTER = CHARACTER.lower | CHARACTER.upper;

/** Splits prose into lines and sentences, without attachments. Short lines of code and lists stay whole. */
export function proseUnits(text: string, segment: Span): readonly Unit[] {
  const units: Unit[] = [];
  let isFenced = false;
  for (const line of linesOf(text, segment)) {
    const lineText = text.slice(line.start, line.end);
    const mayBeMarkup = (classAt(text, line.start) & LETTER) === 0;
    if (mayBeMarkup && FENCE.test(lineText)) {
      isFenced = !isFenced;
      continue;
    }
    const isWhole = isFenced || (mayBeMarkup && LIST_OR_CODE_LINE.test(lineText)) || CODE_LINE_END.test(lineText);
    const attachments = attachmentsOf(lineText, line);
    for (const span of attachments.length === 0 ? [line] : without(text, attachments, line)) {
      const fits = isWhole && span.end - span.start <= MAX_UNIT_CHARS;
      for (const sentence of fits || isFenced ? [span] : splitSentences(text, span)) {
        pushSpans(units, splitLong(text, sentence), 'prose');
      }
    }
  }
  return units;
}

/** What `isLineEndCode` says, for a search that is much faster than looking at every character. */
const LINE_END = /[\n-\r\u0085\u2028\u2029]/g;

/** The trimmed lines of a span, without empty ones. */
export function linesOf(text: string, { start, end }: Span): readonly Span[] {
  const lines: Span[] = [];
  const read = end < text.length ? text.slice(0, end) : text;
  let from = start;
  while (from < end) {
    LINE_END.lastIndex = from;
    const at = LINE_END.test(read) ? LINE_END.lastIndex - 1 : end;
    if (at > from) pushTrimmed(lines, text, { start: from, end: at });
    from = at + 1;
  }
  return lines;
}

function pushSpans(units: Unit[], spans: readonly Span[], kind: SegmentKind): void {
  for (const { start, end } of spans) units.push({ start, end, kind });
}

/** Whether a message's text mentions an attachment. */
export function hasAttachment(text: string): boolean {
  return text.includes('[') && ATTACHMENT_HEAD.test(text);
}

function attachmentsOf(lineText: string, { start }: Span): readonly Span[] {
  if (!lineText.includes('[')) return [];
  return Array.from(lineText.matchAll(ATTACHMENT), (match) => ({
    start: start + match.index,
    end: start + match.index + match[0].length,
  }));
}

function without(text: string, holes: readonly Span[], line: Span): readonly Span[] {
  const stretches: Span[] = [];
  let from = line.start;
  for (const hole of holes) {
    if (hole.start > from) pushTrimmed(stretches, text, { start: from, end: hole.start });
    from = hole.end;
  }
  if (from < line.end) pushTrimmed(stretches, text, { start: from, end: line.end });
  return stretches;
}

/** prose: written by a person or a model. call: a tool's name and arguments. result: a tool's output. error: the output of a failed call. */
export type SegmentKind = 'prose' | 'call' | 'result' | 'error';

/** A part of a message's text that is all of one kind. */
export type Segment = { readonly kind: SegmentKind; readonly start: number; readonly end: number };

// Nobody writes more than this by hand, so it was pasted.
const MAX_PROSE_CHARS = 200_000;
const HEAD_SHARE = 2 / 3;

/** The text that units are spans of: the message's content, plus any calls that the content does not show. */
export function messageText(message: ConversationMessage): string {
  if (message.parts !== undefined || message.tool_calls === undefined) return message.content;
  const missing = callsOf(message)
    .map((call) => callText(call))
    .filter((text) => !message.content.includes(text));
  return message.content === '' ? missing.join('\n') : [message.content, ...missing].join('\n');
}

/**
 * The segments of `messageText(message)`, in order. Calls and results longer than `maxToolChars` are reduced to their beginning and end,
 * which show what they are and how they ended.
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

// A longer line is cut exactly at the cap.
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
