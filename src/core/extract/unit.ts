import type { ConversationMessage } from '../message.ts';
import { isBlankCode, isLineEndCode } from './character.ts';
import { type Segment, type SegmentKind, segmentsOf } from './segment.ts';
import { MAX_UNIT_CHARS, type Span, splitLong, splitSentences, trimmed } from './sentence.ts';

/** The least that is chosen: a sentence, a line of code, of a list or of a tool's answer, a piece of a call. */
export type Unit = Span & { readonly kind: SegmentKind };

const ATTACHMENT = /\[(?:image|photo|picture|video|audio|voice|sticker|gif|attachment|media)\b[^\]\n]{0,2000}\]/gi;
const ATTACHMENT_HEAD = /\[(?:image|photo|picture|video|audio|voice|sticker|gif|attachment|media)\b/i;
const LIST_OR_CODE_LINE = /^(?:[-*+•>|#]|\d{1,3}[.)]\s|[{}<]|@@)/;
const CODE_LINE_END = /[{};\\]$/;
const FENCE = /^(?:```|~~~)[^`]*$/;

export type ToolLimits = {
  /** Of each call and result, what is read. */
  readonly maxToolChars: number;
  /** Of the pieces that it is cut into. */
  readonly maxPieceChars: number;
};

/** The units of `text`, which is `messageText(message)`, in order. */
export function unitsOf(message: ConversationMessage, text: string, limits: ToolLimits): readonly Unit[] {
  return segmentsOf(message, text, limits.maxToolChars).flatMap((segment) =>
    unitsOfSegment(text, segment, limits.maxPieceChars),
  );
}

function unitsOfSegment(text: string, segment: Segment, maxPieceChars: number): readonly Unit[] {
  if (segment.kind === 'call') return callUnits(text, segment, maxPieceChars);
  if (segment.kind === 'prose') return proseUnits(text, segment);
  const units: Unit[] = [];
  for (const line of linesOf(text, segment)) {
    for (const span of trimmed(text, withoutLineNumber(text, line)))
      pushSpans(units, splitLong(text, span, maxPieceChars), segment.kind);
  }
  return units;
}

const LINE_NUMBER = /\d{1,7}(?:→|\t|\|(?=\s|$)|[:-](?=\t| {2}|$))/y;

/** Tools that show files number their lines: the number is no part of what the line says. */
function withoutLineNumber(text: string, { start, end }: Span): Span {
  LINE_NUMBER.lastIndex = start;
  const match = LINE_NUMBER.exec(text);
  return { start: match === null ? start : Math.min(end, start + match[0].length), end };
}

/** Prose by lines and sentences, without attachments; code and list lines stay whole where they are short enough. */
export function proseUnits(text: string, segment: Span): readonly Unit[] {
  const units: Unit[] = [];
  let isFenced = false;
  for (const line of linesOf(text, segment)) {
    const lineText = text.slice(line.start, line.end);
    if (FENCE.test(lineText)) {
      isFenced = !isFenced;
      continue;
    }
    const isWhole = isFenced || LIST_OR_CODE_LINE.test(lineText) || CODE_LINE_END.test(lineText);
    for (const stretch of without(attachmentsOf(lineText, line), line)) {
      for (const span of trimmed(text, stretch)) {
        const fits = isWhole && span.end - span.start <= MAX_UNIT_CHARS;
        for (const sentence of fits || isFenced ? [span] : splitSentences(text, span)) {
          pushSpans(units, splitLong(text, sentence), 'prose');
        }
      }
    }
  }
  return units;
}

function callUnits(text: string, segment: Segment, maxPieceChars: number): readonly Unit[] {
  const units: Unit[] = [];
  for (const line of linesOf(text, segment)) {
    let from = line.start;
    while (line.end - from > maxPieceChars) {
      const cut = callCut(text, from, maxPieceChars);
      pushSpans(units, trimmed(text, { start: from, end: cut }), 'call');
      from = cut;
      while (text.charCodeAt(from) === BACKSLASH && 'nrt'.includes(text.charAt(from + 1))) from += 2;
    }
    pushSpans(units, trimmed(text, { start: from, end: Math.max(from, line.end) }), 'call');
  }
  return units;
}

const BACKSLASH = 92;

/** Arguments are JSON: a line end of theirs is written `\n`, and that is the best place to cut. */
function callCut(text: string, from: number, maxPieceChars: number): number {
  const limit = from + maxPieceChars;
  const lineEnd = text.lastIndexOf('\\n', limit - 2);
  if (lineEnd > from + maxPieceChars / 3) return lineEnd;
  return splitLong(text, { start: from, end: limit + 1 }, maxPieceChars)[0]?.end ?? limit;
}

/** Lines without the blanks around them, empty ones left out. */
export function linesOf(text: string, { start, end }: Span): readonly Span[] {
  const lines: Span[] = [];
  let from = start;
  for (let i = start; i <= end; i += 1) {
    if (i < end && !isLineEndCode(text.charCodeAt(i))) continue;
    if (i > from) pushTrimmed(lines, text, from, i);
    from = i + 1;
  }
  return lines;
}

function pushTrimmed(lines: Span[], text: string, start: number, end: number): void {
  let from = start;
  let to = end;
  while (from < to && isBlankCode(text.charCodeAt(from))) from += 1;
  while (to > from && isBlankCode(text.charCodeAt(to - 1))) to -= 1;
  if (from < to) lines.push({ start: from, end: to });
}

function pushSpans(units: Unit[], spans: readonly Span[], kind: SegmentKind): void {
  for (const { start, end } of spans) units.push({ start, end, kind });
}

/** Whether a message's text says that something was sent along with it. */
export function holdsAttachment(text: string): boolean {
  return text.includes('[') && ATTACHMENT_HEAD.test(text);
}

function attachmentsOf(lineText: string, { start }: Span): readonly Span[] {
  if (!lineText.includes('[')) return [];
  return Array.from(lineText.matchAll(ATTACHMENT), (match) => ({
    start: start + match.index,
    end: start + match.index + match[0].length,
  }));
}

function without(holes: readonly Span[], line: Span): readonly Span[] {
  const stretches: Span[] = [];
  let from = line.start;
  for (const hole of holes) {
    if (hole.start > from) stretches.push({ start: from, end: hole.start });
    from = hole.end;
  }
  if (from < line.end) stretches.push({ start: from, end: line.end });
  return stretches;
}
