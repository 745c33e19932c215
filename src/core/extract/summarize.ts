import type { ModelSource } from '../model-request.ts';
import { readBatches } from './earlier-summary.ts';
import { renderLines } from './layout.ts';
import type { Stemmer } from './lexicon.ts';
import { readMessages } from './passage.ts';
import type { Passage } from './passage.ts';
import { selectUnits } from './select-units.ts';

// A summary is at most half of what it stands for, or nothing would be gained; short texts may stay whole.
const MAX_SHARE = 0.5;
const MIN_BUDGET_CHARS = 400;

/** A summary made of the source's own sentences and lines, never over `maxChars` (UTF-16 units), and never empty where one fits. */
export function summarizeSource(source: ModelSource, { maxChars, stem }: { maxChars: number; stem: Stemmer }): string {
  const passages = source.kind === 'chunk' ? readMessages(source.messages) : readBatches(source.batches);
  const earlier = source.kind === 'chunk' ? source.earlier : [];
  const count = source.kind === 'chunk' ? source.messages.length : source.batches.length;
  const budgetChars = Math.min(maxChars, Math.max(MIN_BUDGET_CHARS, Math.floor(sizeOf(source, passages) * MAX_SHARE)));
  const units = selectUnits(passages, { budgetChars, stem, earlier });
  if (units.length > 0) return renderLines(units.map(({ line }) => line));
  return emptyNotes(count, source.kind).find((note) => note.length <= maxChars) ?? '';
}

function sizeOf(source: ModelSource, passages: readonly Passage[]): number {
  if (source.kind === 'batches') return source.batches.reduce((sum, { content }) => sum + content.length, 0);
  return passages.reduce((sum, { text }) => sum + text.length, 0);
}

function emptyNotes(count: number, kind: ModelSource['kind']): readonly string[] {
  const noun = kind === 'chunk' ? 'message' : 'batch';
  const plural = kind === 'chunk' ? 'messages' : 'batches';
  return [`No text: ${count} ${count === 1 ? noun : plural} without content.`, 'No text.', '–'];
}
