import { writeHandover } from '../handover/handover.ts';
import type { ModelSource } from '../model-request.ts';
import { readBatches } from './earlier-summary.ts';
import { renderLines } from './layout.ts';
import type { Stemmer } from './lexicon.ts';
import { selectUnits } from './select-units.ts';

// A summary is at most half of what it stands for, or nothing would be gained; short texts may stay whole.
const MAX_SHARE = 0.5;
const MIN_BUDGET_CHARS = 400;

/** A summary made of the source's own sentences and lines, never over `maxChars` (UTF-16 units), and never empty where one fits. */
export function summarizeSource(source: ModelSource, { maxChars, stem }: { maxChars: number; stem: Stemmer }): string {
  const budgetChars = Math.min(maxChars, Math.max(MIN_BUDGET_CHARS, Math.floor(sizeOf(source) * MAX_SHARE)));
  const text =
    source.kind === 'chunk'
      ? writeHandover(source, { maxChars: budgetChars, stem }).text
      : renderLines(selectUnits(readBatches(source.batches), { budgetChars, stem }).map(({ line }) => line));
  if (text !== '') return text;
  return emptyNotes(source).find((note) => note.length <= maxChars) ?? '';
}

function sizeOf(source: ModelSource): number {
  return textsOf(source).reduce((sum, { content }) => sum + content.length, 0);
}

function textsOf(source: ModelSource): readonly { readonly content: string }[] {
  return source.kind === 'chunk' ? source.messages : source.batches;
}

function emptyNotes(source: ModelSource): readonly string[] {
  const isChunk = source.kind === 'chunk';
  const count = isChunk ? source.messages.length : source.batches.length;
  const noun = isChunk ? (count === 1 ? 'message' : 'messages') : count === 1 ? 'batch' : 'batches';
  // There is text, but none that may stand without its speaker in so little room.
  if (textsOf(source).some(({ content }) => /\S/.test(content))) return ['…'];
  return [`No text: ${count} ${noun} without content.`, 'No text.', '–'];
}
