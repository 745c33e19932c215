import type { ConversationMessage } from '../../src/core/message.ts';
import { type ConversationPlan, planConversation, type PlanSettings } from '../../src/core/plan/plan.ts';
import { type ConversationView, viewConversation } from '../../src/core/plan/view.ts';
import { DEFAULT_SCORING_CONFIG } from '../../src/core/policy.ts';
import { readFeatures } from '../../src/core/scoring.ts';
import { estimateTokens } from '../../src/core/tokens.ts';
import { groupInputOf } from '../../src/core/tool-groups.ts';
import type { Entry } from '../../src/core/transcript.ts';

/** The entry that the first pass makes of a message standing at a line; every line is 100 bytes plus its content. */
export function entryOf(message: ConversationMessage, line: number): Entry {
  const { calls, results } = groupInputOf(message);
  const isPrompt = message.role === 'user' && results.length === 0;
  return {
    line,
    start: 0,
    length: 100 + message.content.length,
    kind: 'message',
    calls,
    results,
    isPrompt,
    id: message.id,
    role: message.role,
    features: readFeatures(message, DEFAULT_SCORING_CONFIG),
    tokens: estimateTokens(message.content),
  };
}

export function entriesOf(messages: readonly ConversationMessage[]): readonly Entry[] {
  return messages.map((message, index) => entryOf(message, index + 1));
}

export function viewOf(entries: readonly Entry[], priorLine: number | null = null): ConversationView {
  return viewConversation({ entries, priorLine, isStale: () => false, carried: [], keepSystem: true });
}

export const planSettings: PlanSettings = {
  keepRecent: 5,
  keepRecentTokens: 8000,
  chunkSize: 20,
  maxChunkTokens: null,
  chunkOrder: 'chronological',
  scoring: DEFAULT_SCORING_CONFIG,
  targetTokens: null,
  clipTokens: () => 100,
};

/** The plan of a list format in which every cut is legal. */
export function planOf(entries: readonly Entry[], settings: Partial<PlanSettings> = {}): ConversationPlan {
  return planConversation({
    view: viewOf(entries),
    settings: { ...planSettings, ...settings },
    lastStays: false,
    cutProblem: () => null,
  });
}
