import type { SummaryBatch } from '../batch.ts';
import { writeHandover } from '../handover/handover.ts';
import type { ModelSource } from '../model-request.ts';
import type { Stemmer } from './terms.ts';
import type { Passage } from './passage.ts';
import { selectUnits } from './select-units.ts';
import { type Span, splitLong } from './sentence.ts';
import {
  dayOrder,
  hasInstructions,
  isRoleWord,
  parseHeader,
  parseLabel,
  renderLines,
  SUMMARY_SPEAKER,
} from './summary-lines.ts';
import { linesOf, proseUnits, type SegmentKind, type Unit } from './units.ts';

// A summary may be at most half as long as its source, or it would save nothing. Short texts may stay whole.
const MAX_SHARE = 0.5;
const MIN_BUDGET_CHARS = 400;

/** A summary made of the source's own sentences and lines, at most `maxChars` (UTF-16 units) long. Never empty if any text fits. */
export function summarizeSource(source: ModelSource, { maxChars, stem }: { maxChars: number; stem: Stemmer }): string {
  const chars = textsOf(source).reduce((sum, { content }) => sum + content.length, 0);
  const budgetChars = Math.min(maxChars, Math.max(MIN_BUDGET_CHARS, Math.floor(chars * MAX_SHARE)));
  const text =
    source.kind === 'chunk'
      ? writeHandover(source, { maxChars: budgetChars, stem }).text
      : renderLines(selectUnits(readBatches(source.batches), { budgetChars, stem }).map(({ line }) => line));
  if (text !== '') return text;
  return emptyNotes(source).find((note) => note.length <= maxChars) ?? '';
}

function textsOf(source: ModelSource): readonly { readonly content: string }[] {
  return source.kind === 'chunk' ? source.messages : source.batches;
}

function emptyNotes(source: ModelSource): readonly string[] {
  const isChunk = source.kind === 'chunk';
  const count = isChunk ? source.messages.length : source.batches.length;
  const noun = isChunk ? (count === 1 ? 'message' : 'messages') : count === 1 ? 'batch' : 'batches';
  // There is text, but too little room for any of it with its speaker.
  if (textsOf(source).some(({ content }) => /\S/.test(content))) return ['…'];
  return [`No text: ${count} ${noun} without content.`, 'No text.', '–'];
}

/**
 * Reads batches as passages: our own summaries by line, with day and speaker, and a model's prose by sentence. Sorted by day if every line
 * has one. Ids are `batch:N`, N from 1.
 */
export function readBatches(batches: readonly SummaryBatch[]): readonly Passage[] {
  const passages = batches.flatMap(({ content }, index) => readSummary(content, `batch:${index + 1}`));
  const hasSpeakers = passages.some(({ speaker }) => speaker !== '');
  const named = hasSpeakers
    ? passages.map((passage) => (passage.speaker === '' ? { ...passage, speaker: SUMMARY_SPEAKER } : passage))
    : passages;
  const orders = named.map(({ day }) => (day === null ? Number.NaN : dayOrder(day)));
  if (orders.some((order) => Number.isNaN(order))) return named;
  return named
    .map((passage, index) => ({ passage, order: orders[index] ?? 0 }))
    .sort((a, b) => a.order - b.order)
    .map(({ passage }) => passage);
}

function readSummary(text: string, id: string): readonly Passage[] {
  const whole = { start: 0, end: text.length };
  const lines = linesOf(text, whole);
  if (!isOwnSummary(text, lines)) {
    return [{ id, text, units: proseUnits(text, whole), day: null, speaker: '', speakerKind: 'assistant' }];
  }
  const passages: Passage[] = [];
  let day: string | null = null;
  let speaker = '';
  for (const { start, end } of lines) {
    const line = text.slice(start, end);
    const header = parseHeader(line);
    if (header !== undefined) {
      day = header;
      speaker = '';
      continue;
    }
    const label = parseLabel(line);
    speaker = label?.speaker ?? speaker;
    const span = unquoted(text, { start: start + (label?.textStart ?? 0), end });
    const speakerKind = speaker === 'user' ? 'user' : 'assistant';
    passages.push({ id, text, units: lineUnits(text, span, speaker), day, speaker, speakerKind });
  }
  return passages;
}

/** Our own summaries begin with a day, or with a speaker that is a role or appears again. A model's prose may contain a label anywhere. */
function isOwnSummary(text: string, lines: readonly Span[]): boolean {
  const [first] = lines;
  if (first === undefined) return false;
  const firstLine = text.slice(first.start, first.end);
  if (parseHeader(firstLine) !== undefined) return true;
  const label = parseLabel(firstLine)?.speaker;
  if (label === undefined) return false;
  if (isRoleWord(label)) return true;
  return lines.slice(1).some(({ start }) => text.startsWith(`${label}: `, start));
}

const CALL = /^[\w.:-]{1,80} [{[]/;

function lineUnits(text: string, span: Span, speaker: string): readonly Unit[] {
  const kind: SegmentKind =
    speaker === 'tool' ? 'result' : CALL.test(text.slice(span.start, span.end)) ? 'call' : 'prose';
  return splitLong(text, span).map(({ start, end }) => ({ start, end, kind }));
}

function unquoted(text: string, { start, end }: Span): Span {
  const isQuoted = end - start > 2 && text.charAt(start) === '"' && text.charAt(end - 1) === '"';
  return isQuoted && hasInstructions(text.slice(start + 1, end - 1))
    ? { start: start + 1, end: end - 1 }
    : { start, end };
}
