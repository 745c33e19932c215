import type { Stemmer } from '../extract/lexicon.ts';
import { readDetails } from '../extract/passage.ts';
import { selectUnits } from '../extract/select-units.ts';
import { renderLines } from '../extract/summary-lines.ts';
import type { ConversationMessage } from '../message.ts';

/** The line above the details. */
export const APPENDIX_HEAD = 'Details kept verbatim';

export type AppendixOptions = {
  readonly summary: string;
  /** What the summary stands for, in the order in which it was said. */
  readonly messages: readonly ConversationMessage[];
  /** Of the summary's length that the appendix may have, its head included. */
  readonly share: number;
  /** Of summary and appendix together. */
  readonly maxChars: number;
  readonly stem: Stemmer;
  /** Summaries that stand beside this one: what they say is kept already. */
  readonly earlier?: readonly string[];
};

/**
 * Sentences, lines and calls of the messages, word for word, that say what the summary does not; empty where nothing of worth is missing or no
 * room is left. It begins with a blank line and its head, to be written straight behind the summary.
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
