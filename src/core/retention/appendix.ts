import type { Stemmer } from '../extract/terms.ts';
import { readDetails } from '../extract/passage.ts';
import { selectUnits } from '../extract/select-units.ts';
import { renderLines } from '../extract/summary-lines.ts';
import type { ConversationMessage } from '../message.ts';

/** The line above the details. */
export const APPENDIX_HEAD = 'Details kept verbatim';

export type AppendixOptions = {
  readonly summary: string;
  /** The messages that were summarized, in order. */
  readonly messages: readonly ConversationMessage[];
  /** The maximum length of the appendix with its heading, as a share of the summary's length. */
  readonly share: number;
  /** The maximum length of summary and appendix together. */
  readonly maxChars: number;
  readonly stem: Stemmer;
  /** Summaries that will stand next to this one. What they say is kept already. */
  readonly earlier?: readonly string[];
};

/**
 * Quotes sentences, lines and calls that say what the summary does not. Empty if nothing worthwhile is missing or no room is left. Begins
 * with a blank line and its heading, so that it can be appended directly.
 */
export function buildAppendix(options: AppendixOptions): string {
  const { summary, messages, share, maxChars, stem, earlier = [] } = options;
  const head = `\n\n${APPENDIX_HEAD}\n`;
  const room = Math.min(Math.floor(summary.length * share), maxChars - summary.length);
  const budgetChars = room - head.length;
  if (budgetChars <= 0) return '';
  const passages = readDetails(messages, budgetChars);
  const units = selectUnits(passages, { budgetChars, stem, earlier: [...earlier, summary], onlyNovel: true });
  return units.length === 0 ? '' : head + renderLines(units.map(({ line }) => line));
}
