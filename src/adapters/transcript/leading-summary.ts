import type { Entry } from '../../core/transcript.ts';

/**
 * The line of the summary with which a conversation begins, behind its instructions; null: something else is said first, and the words of one
 * elsewhere are somebody's.
 */
export function leadingSummaryLine(entries: readonly Entry[]): number | null {
  const first = entries.find(({ kind }) => kind === 'message' || kind === 'summary');
  return first?.kind === 'summary' ? first.line : null;
}
