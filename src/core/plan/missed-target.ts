import type { ConversationPlan } from './plan.ts';
import type { ConversationView, PlanMessage } from './view.ts';

/** By how much a result is larger than its target, and the largest part of it that nothing may shorten; null: it fits. */
export function describeMissedTarget(
  { messages, instructions }: ConversationView,
  { boundary, survivors, heldBy }: Extract<ConversationPlan, { kind: 'compact' }>,
  { tokensAfter, targetTokens }: { readonly tokensAfter: number; readonly targetTokens: number | null },
): string | null {
  if (targetTokens === null || tokensAfter <= targetTokens) return null;
  const recent = messages.slice(boundary);
  const older = [...survivors].flatMap((index) => messages[index] ?? []);
  const reason = heldBy === null ? '' : `, because ${heldBy}`;
  const parts = [
    { what: `the last ${recent.length} messages, which stay${reason}, have`, tokens: sumTokens(recent) },
    { what: 'the instructions, which stay, have', tokens: sumTokens(instructions) },
    { what: 'the latest request, which stays, has', tokens: sumTokens(older) },
  ];
  const known = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  const summary = { what: 'the summary has', tokens: tokensAfter - known };
  const largest = [...parts, summary].reduce((most, part) => (part.tokens > most.tokens ? part : most));
  const missed = `the target of ${targetTokens} tokens was missed by ${tokensAfter - targetTokens}`;
  return `${missed}: ${largest.what} ${largest.tokens}`;
}

function sumTokens(messages: readonly PlanMessage[]): number {
  return messages.reduce((sum, { tokens = 0 }) => sum + tokens, 0);
}
