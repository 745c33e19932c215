import { chunkMessages, chunkMessagesByTokenBudget, inTimeOrder } from '../chunk.ts';
import type { ChunkOrder, ImportanceScoringConfig } from '../policy.ts';
import { scoreFeatures } from '../scoring.ts';
import { findGroups } from '../tool-groups.ts';
import { findBoundary } from './boundary.ts';
import { chooseRetained, type ClipEstimate, groupCandidates } from './retained.ts';
import { type ConversationView, groupFactsOf, type PlanMessage, tokensOf } from './view.ts';

export type PlanSettings = {
  readonly keepRecent: number;
  /** Tokens up to which the recent part grows beyond `keepRecent` messages. */
  readonly keepRecentTokens: number;
  readonly chunkSize: number;
  /** Chunks by tokens instead; null: by `chunkSize`. */
  readonly maxChunkTokens: number | null;
  readonly chunkOrder: ChunkOrder;
  readonly scoring: ImportanceScoringConfig;
  /** Null: everything older goes. */
  readonly targetTokens: number | null;
  readonly clipTokens: ClipEstimate;
};

type PlanInput = {
  readonly view: ConversationView;
  readonly settings: PlanSettings;
  readonly lastStays: boolean;
  readonly cutProblem: (line: number) => string | null;
};

/** What would be done with one conversation. Indices are those of `view.messages`. */
export type ConversationPlan =
  | { readonly kind: 'skip'; readonly reason: 'too-short' | 'no-legal-cut' | 'under-limit'; readonly detail: string }
  | {
      readonly kind: 'compact';
      /** Index of the first message of the recent part. */
      readonly boundary: number;
      /** Older messages that stay word for word. */
      readonly retained: ReadonlySet<number>;
      /** What goes, least important first; inside a chunk in the order in which it was said (C1). */
      readonly chunks: readonly (readonly number[])[];
      readonly notes: readonly string[];
      /** Why more recent messages must stay than was asked for; null: no more must. */
      readonly heldBy: string | null;
    };

export function planConversation({ view, settings, lastStays, cutProblem }: PlanInput): ConversationPlan {
  const { messages, carriedCount } = view;
  const { keepRecent, scoring, targetTokens } = settings;
  const groups = findGroups(messages.map(groupFactsOf));
  const keepRecentTokens = recentTokensWithin(settings);
  const limits = { keepRecent, keepRecentTokens, lastStays };
  const boundary = findBoundary({ messages, carriedCount, groups, cutProblem, ...limits });
  if (boundary.kind === 'none') return { kind: 'skip', reason: boundary.reason, detail: boundary.detail };
  const end = boundary.index;
  const scores = scoreOlder(messages, end, scoring);
  // Words that came with a rejected call are typed too, but the call that they stay with may be large.
  const latestRequest = messages.findLastIndex(
    (message) => isRequested(message) && (message.results ?? []).length === 0,
  );
  const isFixed = (index: number): boolean => keepRecent > 0 && index === latestRequest;
  const isRequest = (index: number): boolean => isRequested(messages[index] ?? null);
  const tokens = (index: number): number => messages[index]?.tokens ?? 0;
  const score = (index: number): number =>
    messages[index]?.hidesBefore === true ? Number.NEGATIVE_INFINITY : (scores[index] ?? 0);
  const candidates = groupCandidates(groups, end, { score, tokens, isFixed, isRequest });
  const retained = chooseRetained({
    candidates,
    fixedTokens: sumTokens(view.instructions) + sumTokens(messages.slice(end)),
    unchangedTokens: tokensOf(view),
    targetTokens,
    clipTokens: settings.clipTokens,
  });
  const going = scores.keys().filter((index) => !retained.has(index));
  const chunks = chunkIndices([...going], { messages, scores, settings });
  if (chunks.length === 0)
    return { kind: 'skip', reason: 'too-short', detail: 'only the latest prompt is older than the recent messages' };
  return {
    kind: 'compact',
    boundary: end,
    retained,
    chunks,
    notes: boundary.note === null ? [] : [boundary.note],
    heldBy: boundary.heldBy,
  };
}

/** A person asked for something in it: as a prompt, while the model worked, or when rejecting a tool call. */
function isRequested(message: PlanMessage | null): boolean {
  return message !== null && (message.isPrompt === true || message.typedTokens !== undefined);
}

/** The share of a target up to which the recent part grows: a target wins over that, though not over `keepRecent`. */
const RECENT_SHARE = 0.25;

function recentTokensWithin({ keepRecentTokens, targetTokens }: PlanSettings): number {
  return targetTokens === null ? keepRecentTokens : Math.min(keepRecentTokens, targetTokens * RECENT_SHARE);
}

/** Scores of the messages before `end`, by their index and count within that part. */
function scoreOlder(messages: readonly PlanMessage[], end: number, config: ImportanceScoringConfig): readonly number[] {
  return messages.slice(0, end).map((message, index) => scoreAt(message, { index, total: end, config }));
}

function scoreAt(
  message: PlanMessage,
  at: { readonly index: number; readonly total: number; readonly config: ImportanceScoringConfig },
): number {
  return message.features === undefined ? 0 : scoreFeatures(message.features, at.index, at.total, at.config);
}

function chunkIndices(
  going: readonly number[],
  {
    messages,
    scores,
    settings,
  }: { readonly messages: readonly PlanMessage[]; readonly scores: readonly number[]; readonly settings: PlanSettings },
): readonly (readonly number[])[] {
  const byImportance = (a: number, b: number): number => (scores[a] ?? 0) - (scores[b] ?? 0);
  const ordered = settings.chunkOrder === 'importance' ? [...going].sort(byImportance) : going;
  const chunks =
    settings.maxChunkTokens === null
      ? chunkMessages(ordered, settings.chunkSize)
      : chunkMessagesByTokenBudget(ordered, settings.maxChunkTokens, (index) => messages[index]?.tokens ?? 0);
  return chunks.map((chunk) => inTimeOrder(chunk, (index) => index));
}

function sumTokens(messages: readonly PlanMessage[]): number {
  return messages.reduce((sum, message) => sum + (message.tokens ?? 0), 0);
}

/** By how much a result is larger than its target, and the largest part of it that nothing may shorten; null: it fits. */
export function describeMissedTarget(
  { messages, instructions }: ConversationView,
  { boundary, retained, heldBy }: Extract<ConversationPlan, { kind: 'compact' }>,
  { tokensAfter, targetTokens }: { readonly tokensAfter: number; readonly targetTokens: number | null },
): string | null {
  if (targetTokens === null || tokensAfter <= targetTokens) return null;
  const recent = messages.slice(boundary);
  const older = [...retained].flatMap((index) => messages[index] ?? []);
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
