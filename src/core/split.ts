import type { ConversationMessage } from './message.ts';
import { DEFAULT_SCORING_CONFIG, type ImportanceScoringConfig } from './policy.ts';
import { scoreMessage } from './scoring.ts';
import { findGroups, groupInputOf, moveBackToWholeGroups } from './tool-groups.ts';

/** A history in three parts, which together contain each message once. */
export type HistorySplit = {
  /** Least important first; equals in chronological order. */
  readonly toCompress: readonly ConversationMessage[];
  /** In chronological order. */
  readonly toKeep: readonly ConversationMessage[];
  /** The clip-archive at the head, left by an earlier compaction. */
  readonly priorSummary: ConversationMessage | null;
};

const CLIP_ARCHIVE_START = '[Context Summary —';

export function isClipArchiveText(text: string): boolean {
  return text.startsWith(CLIP_ARCHIVE_START);
}

/**
 * Splits a history into what is compressed and what stays: the last `keepRecent` messages, or more to keep tool calls together with their
 * results. Scores use positions within the compressed part.
 */
export function splitHistory(
  history: readonly ConversationMessage[],
  keepRecent: number,
  scoringConfig: ImportanceScoringConfig = DEFAULT_SCORING_CONFIG,
): HistorySplit {
  const first = history[0];
  const priorSummary =
    first !== undefined && first.role === 'system' && isClipArchiveText(first.content) ? first : null;
  const conversation = priorSummary === null ? history : history.slice(1);
  const boundary = moveBackToWholeGroups(findGroups(conversation.map(groupInputOf)), conversation.length - keepRecent);
  return {
    toCompress: leastImportantFirst(conversation.slice(0, boundary), scoringConfig),
    toKeep: conversation.slice(boundary),
    priorSummary,
  };
}

function leastImportantFirst(messages: readonly ConversationMessage[], config: ImportanceScoringConfig) {
  return messages
    .map((message, index) => ({ message, score: scoreMessage(message, index, messages.length, config) }))
    .toSorted((a, b) => a.score - b.score)
    .map(({ message }) => message);
}
