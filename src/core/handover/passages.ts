import type { Passage } from '../extract/passage.ts';
import { trimmed } from '../extract/sentence.ts';
import { linesOf, proseUnits } from '../extract/unit.ts';
import type { Unit } from '../extract/unit.ts';
import type { SegmentKind } from '../extract/segment.ts';
import { readCall } from './tool-call.ts';
import { readableLine, readableText } from './tool-result.ts';
import type { Reading, Turn } from './turns.ts';
import type { Step } from './steps.ts';

const MAX_LINE_CHARS = 160;

/** What the assistant said, by sentences. */
export function assistantPassages({ turns }: Reading): readonly Passage[] {
  return passagesOf(turns, (step) => (step.kind === 'said' ? [proseOf(step, 'assistant')] : []));
}

/** Everything that was said, called and answered, in lines that a person can read. */
export function allPassages({ turns }: Reading, maxToolChars: number): readonly Passage[] {
  return passagesOf(turns, (step) => {
    switch (step.kind) {
      case 'said':
        return [proseOf(step, 'assistant')];
      case 'request':
        return [proseOf(step, 'user')];
      case 'call':
        return [linesIn(callText(step, maxToolChars), 'call')];
      case 'result':
        return [linesIn(readableText(step.text, maxToolChars), step.isError ? 'error' : 'result')];
      default:
        return [];
    }
  });
}

type Piece = Pick<Passage, 'text' | 'units' | 'voice'>;

function passagesOf(turns: readonly Turn[], read: (step: Step) => readonly Piece[]): readonly Passage[] {
  return turns.flatMap((turn) => {
    const steps = turn.request === null ? turn.steps : [turn.request, ...turn.steps];
    const day = turn.request === null ? null : `request ${turn.number}`;
    return steps.flatMap((step) => read(step).map((piece) => ({ ...piece, id: step.messageId, day, speaker: '' })));
  });
}

function proseOf({ text }: { readonly text: string }, voice: 'user' | 'assistant'): Piece {
  const units = proseUnits(text, { start: 0, end: Math.min(text.length, 200_000) });
  return { text, voice, units: units.filter(({ start, end }) => readableLine(text.slice(start, end)) !== null) };
}

function callText(step: Extract<Step, { readonly kind: 'call' }>, maxChars: number): string {
  const { command, texts } = readCall(step);
  const text = command === null ? texts.join('\n') : `$ ${command}`;
  return text.length <= maxChars ? text : text.slice(0, maxChars).replace(/\S*$/, '');
}

function linesIn(text: string, kind: SegmentKind): Piece {
  const units: Unit[] = [];
  for (const line of linesOf(text, { start: 0, end: text.length })) {
    const written = text.slice(line.start, line.end);
    const readable = readableLine(written);
    if (readable === null) continue;
    const start = line.start + written.indexOf(readable);
    for (const span of wholePieces(text, start, start + readable.length)) units.push({ ...span, kind });
  }
  return { text, units, voice: 'assistant' };
}

/** Pieces of a line that part no word; a word that is longer than a piece is left out. */
function wholePieces(
  text: string,
  start: number,
  end: number,
): readonly { readonly start: number; readonly end: number }[] {
  const pieces: { readonly start: number; readonly end: number }[] = [];
  let from = start;
  while (end - from > MAX_LINE_CHARS) {
    const at = text.lastIndexOf(' ', from + MAX_LINE_CHARS);
    if (at <= from) {
      const next = text.indexOf(' ', from + MAX_LINE_CHARS);
      if (next < 0 || next >= end) return pieces;
      from = next + 1;
      continue;
    }
    pieces.push(...trimmed(text, { start: from, end: at }));
    from = at + 1;
  }
  return [...pieces, ...trimmed(text, { start: from, end })].filter(
    (piece) => readableLine(text.slice(piece.start, piece.end)) !== null,
  );
}
