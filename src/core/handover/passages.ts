import type { Passage } from '../extract/passage.ts';
import { type Span, splitLong, splitSentences, trimmed } from '../extract/sentence.ts';
import { linesOf, type SegmentKind, type Unit } from '../extract/units.ts';
import type { CompletedCall } from './calls.ts';
import { isClientLine, isNoise, readableLine, readableText, withoutLastWord } from './tool-result.ts';
import type { Conversation, Step, Turn } from './turns.ts';

const MAX_LINE_CHARS = 160;
const MAX_JOINED_CALL_CHARS = 120;
const MAX_JOINED_RESULT_CHARS = 80;
const MAX_PROSE_CHARS = 200_000;

/** Reads everything that was written, called and answered as readable lines. `day` names the request during which it happened. */
export function readPassages(
  { turns }: Conversation,
  { calls, maxToolChars }: { readonly calls: readonly CompletedCall[]; readonly maxToolChars: number },
): readonly Passage[] {
  const callOf = new Map(calls.map((done) => [done.callId, done]));
  return turns.flatMap((turn) => {
    const steps = turn.request === null ? turn.steps : [turn.request, ...turn.steps];
    return steps.flatMap((step): readonly Passage[] => {
      const piece = pieceOf(step, callOf, maxToolChars);
      if (piece === null || piece.units.length === 0) return [];
      return [{ ...piece, id: step.messageId, day: headOf(turn), speaker: '' }];
    });
  });
}

function headOf({ request, number }: Turn): string {
  return request === null ? 'before the first request' : `request ${number}`;
}

type Piece = Pick<Passage, 'text' | 'units' | 'speakerKind'>;

function pieceOf(step: Step, callOf: ReadonlyMap<string, CompletedCall>, maxToolChars: number): Piece | null {
  switch (step.kind) {
    case 'said':
      return { ...proseOf(step.text), speakerKind: 'assistant' };
    case 'request':
      return { ...proseOf(step.text), speakerKind: 'user' };
    case 'call': {
      const done = callOf.get(step.callId);
      const text = done === undefined ? '' : textOf(done);
      return linesIn(cutText(text, maxToolChars), 'call');
    }
    case 'result': {
      const kind = step.isError ? 'error' : 'result';
      return linesIn(readableText(step.text, maxToolChars), kind);
    }
    default:
      return null;
  }
}

function textOf({ name, call }: CompletedCall): string {
  const about = call.about.join(' ');
  if (call.command !== null) return about === '' ? call.command : `${call.command} # ${about}`;
  return [`${name} ${about}`, ...call.texts].join('\n');
}

function cutText(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : withoutLastWord(text.slice(0, maxChars));
}

const LINE_ENDS = /[\n\r\u0085\u2028\u2029]/;
const FENCE = /^(?:```|~~~)/;
const LIST_LINE = /^(?:[-*+•>|#]|\d{1,3}[.)]\s)/;

/** Splits a message into sentences and list items. Code in it counts as tool output. */
function proseOf(text: string): Pick<Piece, 'text' | 'units'> {
  const units: Unit[] = [];
  let isFenced = false;
  for (const line of linesOf(text, { start: 0, end: Math.min(text.length, MAX_PROSE_CHARS) })) {
    const written = text.slice(line.start, line.end);
    if (FENCE.test(written)) {
      isFenced = !isFenced;
      continue;
    }
    if (isFenced) {
      if (readableOrBlank(written) !== '') pushPieces(units, text, line, 'result');
      continue;
    }
    const sentences = LIST_LINE.test(written) ? [line] : splitSentences(text, line);
    for (const sentence of sentences) {
      for (const span of splitLong(text, sentence)) {
        if (readableLine(text.slice(span.start, span.end)) !== null) units.push({ ...span, kind: 'prose' });
      }
    }
  }
  return { text, units };
}

/** The readable lines of tool text, without line numbers. An empty line marks a gap. */
function linesIn(text: string, kind: SegmentKind): Piece {
  const lines = text.split(LINE_ENDS).filter((line) => line.trim() !== '');
  const readable = lines.map(readableOrBlank);
  const clean = readable.join('\n');
  const units: Unit[] = [];
  for (const line of linesOf(clean, { start: 0, end: clean.length })) pushPieces(units, clean, line, kind);
  const maxChars = kind === 'call' ? MAX_JOINED_CALL_CHARS : MAX_JOINED_RESULT_CHARS;
  return { text: clean, units: joined(clean, units, maxChars), speakerKind: 'assistant' };
}

function readableOrBlank(line: string): string {
  const readable = readableLine(line) ?? '';
  return isClientLine(readable) || isNoise(readable) ? '' : readable;
}

/** A line that ends a sentence, introduces a list or is a heading. */
const CLOSED_LINE = /^#|[.:!?。：！？][)*_`"']*$/;

/** Joins short adjacent lines, because a name says more next to other words. List items and headings stay alone. */
function joined(text: string, units: readonly Unit[], maxChars: number): readonly Unit[] {
  const together: Unit[] = [];
  for (const unit of units) {
    const last = together.at(-1);
    const isNext = last !== undefined && unit.start === last.end + 1 && unit.end - last.start <= maxChars;
    if (isNext && !standsAlone(text, last, unit)) together[together.length - 1] = { ...last, end: unit.end };
    else together.push(unit);
  }
  return together;
}

function standsAlone(text: string, last: Unit, next: Unit): boolean {
  return LIST_LINE.test(text.slice(next.start, next.end)) || CLOSED_LINE.test(text.slice(last.start, last.end));
}

function pushPieces(units: Unit[], text: string, line: Span, kind: SegmentKind): void {
  for (const span of wholePieces(text, line)) units.push({ ...span, kind });
}

/** Splits a line between words. A word that is longer than a piece is left out. */
function wholePieces(text: string, { start, end }: Span): readonly Span[] {
  if (end - start <= MAX_LINE_CHARS) return [{ start, end }];
  const pieces: Span[] = [];
  let from = start;
  while (end - from > MAX_LINE_CHARS) {
    const at = text.lastIndexOf(' ', from + MAX_LINE_CHARS);
    if (at > from) {
      pieces.push(...trimmed(text, { start: from, end: at }));
      from = at + 1;
      continue;
    }
    const next = text.indexOf(' ', from + MAX_LINE_CHARS);
    if (next < 0 || next >= end) return pieces;
    from = next + 1;
  }
  pieces.push(...trimmed(text, { start: from, end }));
  return pieces.filter((piece) => readableLine(text.slice(piece.start, piece.end)) !== null);
}
