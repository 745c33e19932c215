import { chunkMessages, chunkMessagesByTokenBudget, inTimeOrder } from '../chunk.ts';
import { type ChunkOrder, DEFAULT_COMPACTION_CONFIG, type ImportanceScoringConfig } from '../policy.ts';
import { scoreFeatures } from '../scoring.ts';
import { type BoundaryInput, findBoundary } from './boundary.ts';
import { type ConversationView, groupsOf, type PlanMessage, sentMessages, sumTokens } from './view.ts';

export type PlanSettings = {
  readonly keepRecent: number;
  /** The recent part may grow to this many tokens beyond `keepRecent` messages. */
  readonly keepRecentTokens: number;
  readonly chunkSize: number;
  /** Limits chunks by tokens; null: by `chunkSize`. */
  readonly maxChunkTokens: number | null;
  readonly chunkOrder: ChunkOrder;
  readonly scoring: ImportanceScoringConfig;
  /** Null: all older messages are compressed. */
  readonly targetTokens: number | null;
  readonly clipTokens: ClipEstimate;
};

type PlanInput = {
  readonly view: ConversationView;
  readonly settings: PlanSettings;
  readonly lastStays: boolean;
  readonly cutProblem: (line: number) => string | null;
  /** Messages that stay word for word wherever they are. By default none. */
  readonly pinned?: ReadonlySet<number>;
};

/** What to do with a conversation. Indices refer to `view.messages`. */
export type ConversationPlan =
  | { readonly kind: 'skip'; readonly reason: 'too-short' | 'no-legal-cut' | 'under-limit'; readonly detail: string }
  | {
      readonly kind: 'compact';
      /** The index of the first recent message. */
      readonly boundary: number;
      /** Older messages that stay word for word. */
      readonly retained: ReadonlySet<number>;
      /** The messages to compress: chunks in order of importance, least first, each in chronological order (C1). */
      readonly chunks: readonly (readonly number[])[];
      readonly notes: readonly string[];
      /** Why more recent messages must stay than requested; null if they need not. */
      readonly heldBy: string | null;
      /** What begins the recent part: a clause. */
      readonly beginning: string;
    };

export function planConversation({
  view,
  settings,
  lastStays,
  cutProblem,
  pinned = new Set(),
}: PlanInput): ConversationPlan {
  const { messages, carriedCount } = view;
  const { keepRecent, scoring, targetTokens } = settings;
  const groups = groupsOf(messages);
  const limits = { keepRecent, lastStays, ...recentLimits(settings, sumTokens(messages)) };
  const boundary = findBoundary({ messages, carriedCount, groups, cutProblem, ...limits });
  if (boundary.kind === 'none') return { kind: 'skip', reason: boundary.reason, detail: boundary.detail };
  const end = boundary.index;
  const scores = scoreOlder(messages, end, scoring);
  // The words of a rejection are typed too, but they stay with their call, which may be large.
  const latestRequest = messages.findLastIndex(
    (message) => isRequested(message) && (message.results ?? []).length === 0,
  );
  const isFixed = (index: number): boolean => pinned.has(index) || (keepRecent > 0 && index === latestRequest);
  const isRequest = (index: number): boolean => isRequested(messages[index] ?? null);
  const tokens = (index: number): number => messages[index]?.tokens ?? 0;
  const score = (index: number): number =>
    messages[index]?.hidesBefore === true ? Number.NEGATIVE_INFINITY : (scores[index] ?? 0);
  // Without a target nothing else is asked of the others than that they go.
  const scope = { end, isFixedOnly: targetTokens === null };
  const candidates = groupCandidates(groups, scope, { score, tokens, isFixed, isRequest });
  const retained = chooseRetained({
    candidates,
    fixedTokens: sumTokens(view.instructions) + sumTokens(messages.slice(end)),
    unchangedTokens: sumTokens(sentMessages(view)),
    targetTokens,
    clipTokens: settings.clipTokens,
  });
  const stays = pinned.size === 0 ? 'the latest prompt' : 'what is pinned, or the latest prompt,';
  const going = scores.keys().filter((index) => !retained.has(index));
  const chunks = chunkIndices([...going], { messages, scores, settings });
  if (chunks.length === 0)
    return { kind: 'skip', reason: 'too-short', detail: `only ${stays} is older than the recent messages` };
  return {
    kind: 'compact',
    boundary: end,
    retained,
    chunks,
    notes: boundary.note === null ? [] : [boundary.note],
    heldBy: boundary.heldBy,
    beginning: boundary.beginning,
  };
}

/** Whether a person asked for something: in a prompt, while the model worked, or when rejecting a tool call. */
function isRequested(message: PlanMessage | null): boolean {
  return message !== null && (message.isPrompt === true || message.typedTokens !== undefined);
}

/** The share of a target, and by default of the conversation, that the recent part may grow to. It does not limit `keepRecent`. */
const RECENT_SHARE = 0.25;

function recentLimits(
  { keepRecentTokens, targetTokens }: PlanSettings,
  conversationTokens: number,
): Pick<BoundaryInput, 'keepRecentTokens' | 'limit'> {
  const most = targetTokens === null ? keepRecentTokens : Math.min(keepRecentTokens, targetTokens * RECENT_SHARE);
  const quarter = conversationTokens * RECENT_SHARE;
  // Whoever sets a value means it.
  const isDefault = keepRecentTokens === DEFAULT_COMPACTION_CONFIG.keepRecentTokens;
  if (isDefault && quarter < most)
    return { keepRecentTokens: most, limit: { tokens: quarter, by: 'a quarter of the conversation' } };
  return {
    keepRecentTokens: most,
    limit: { tokens: most, by: most < keepRecentTokens ? 'a quarter of the target' : '' },
  };
}

/** Scores the messages before `end` as if they were the whole conversation. */
function scoreOlder(messages: readonly PlanMessage[], end: number, config: ImportanceScoringConfig): readonly number[] {
  return messages
    .slice(0, end)
    .map(({ features }, index) => (features === undefined ? 0 : scoreFeatures(features, index, end, config)));
}

function chunkIndices(
  going: readonly number[],
  {
    messages,
    scores,
    settings,
  }: { messages: readonly PlanMessage[]; scores: readonly number[]; settings: PlanSettings },
): readonly (readonly number[])[] {
  const byImportance = (a: number, b: number): number => (scores[a] ?? 0) - (scores[b] ?? 0);
  const ordered = settings.chunkOrder === 'importance' ? [...going].sort(byImportance) : going;
  const chunks =
    settings.maxChunkTokens === null
      ? chunkMessages(ordered, settings.chunkSize)
      : chunkMessagesByTokenBudget(ordered, settings.maxChunkTokens, (index) => messages[index]?.tokens ?? 0);
  return chunks.map((chunk) => inTimeOrder(chunk, (index) => index));
}

/** Explains by how much a result misses its target and which of the fixed parts is largest; null if it fits. */
export function describeMissedTarget(
  { messages, instructions }: ConversationView,
  { boundary, retained, heldBy }: Extract<ConversationPlan, { kind: 'compact' }>,
  {
    tokensAfter,
    targetTokens,
    hasPins = false,
  }: { tokensAfter: number; targetTokens: number | null; hasPins?: boolean },
): string | null {
  if (targetTokens === null || tokensAfter <= targetTokens) return null;
  const recent = messages.slice(boundary);
  const older = [...retained].flatMap((index) => messages[index] ?? []);
  const reason = heldBy === null ? '' : `, because ${heldBy}`;
  const parts = [
    { what: `the last ${recent.length} messages, which stay${reason}, have`, tokens: sumTokens(recent) },
    { what: 'the instructions, which stay, have', tokens: sumTokens(instructions) },
    { what: `the latest request${hasPins ? ' with what is pinned' : ''}, which stays, has`, tokens: sumTokens(older) },
  ];
  const known = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  const summary = { what: 'the summary has', tokens: tokensAfter - known };
  const largest = [...parts, summary].reduce((most, part) => (part.tokens > most.tokens ? part : most));
  const missed = `the target of ${targetTokens} tokens was missed by ${tokensAfter - targetTokens}`;
  return `${missed}: ${largest.what} ${largest.tokens}`;
}

/** A group of older messages that are kept or dropped together. */
export type Candidate = {
  readonly members: readonly number[];
  /** The highest score among its messages. */
  readonly score: number;
  readonly tokens: number;
  /** Stays whatever the target (P6). */
  readonly isFixed: boolean;
  /** Contains a person's request. */
  readonly isRequest: boolean;
};

/** What is dropped, and how many droppable messages stay. */
type Going = { readonly messages: number; readonly tokens: number; readonly staying: number };

/** Estimates the tokens of the clip-archive for what is dropped. */
type ClipEstimate = (going: Going) => number;

export type RetainInput = {
  readonly candidates: readonly Candidate[];
  /** The tokens of instructions and recent messages, which always stay. */
  readonly fixedTokens: number;
  /** The tokens of the unchanged conversation, including an earlier clip-archive. */
  readonly unchangedTokens: number;
  /** Null: everything droppable is dropped. */
  readonly targetTokens: number | null;
  readonly clipTokens: ClipEstimate;
};

/** The share of a target that is reserved for requests. */
const REQUEST_SHARE = 0.25;

/**
 * Drops groups until the result fits: first those that would not fit even alone, then by ascending score, and last the requests with a
 * reserved place. If it never fits, everything droppable is dropped.
 */
export function chooseRetained(input: RetainInput): ReadonlySet<number> {
  const { candidates, fixedTokens, unchangedTokens, targetTokens, clipTokens } = input;
  if (targetTokens === null) return new Set(candidates.flatMap(({ isFixed, members }) => (isFixed ? members : [])));
  const retained = new Set(candidates.flatMap((candidate) => candidate.members));
  let staying = fixedTokens + sumTokens(candidates);
  let going: Going = { messages: 0, tokens: 0, staying: retained.size };
  const total = (): number => (going.messages === 0 ? unchangedTokens : staying + clipTokens(going));
  for (const candidate of orderOfGoing(input, targetTokens)) {
    if (total() <= targetTokens) break;
    for (const member of candidate.members) retained.delete(member);
    staying -= candidate.tokens;
    going = {
      messages: going.messages + candidate.members.length,
      tokens: going.tokens + candidate.tokens,
      staying: retained.size,
    };
  }
  return retained;
}

/** The droppable groups in the order in which they are dropped. */
function orderOfGoing(input: RetainInput, targetTokens: number): readonly Candidate[] {
  const reserved = reservedRequests(input.candidates, targetTokens * REQUEST_SHARE);
  const isTooLarge = fitsNowhere(input, targetTokens);
  const byScore = input.candidates
    .filter((candidate) => !candidate.isFixed && !reserved.has(candidate))
    .sort((a, b) => a.score - b.score);
  const first = new Set(byScore.filter((candidate) => mayHide(candidate) || isTooLarge(candidate)));
  return [
    ...first,
    ...byScore.filter((candidate) => !first.has(candidate)),
    ...[...reserved].reverse(), // they are in order from the newest
  ];
}

/** Whether a group would hide the summary, so that it is dropped first. */
function mayHide({ score }: Candidate): boolean {
  return score === Number.NEGATIVE_INFINITY;
}

/** Tells whether the result would exceed the target with only this group added. Otherwise it would displace everything with a lower score. */
function fitsNowhere(
  { candidates, fixedTokens, clipTokens }: RetainInput,
  targetTokens: number,
): (candidate: Candidate) => boolean {
  const movable = candidates.filter(({ isFixed }) => !isFixed);
  const least = fixedTokens + sumTokens(candidates.filter(({ isFixed }) => isFixed));
  const movableTokens = sumTokens(movable);
  const messages = movable.reduce((all, { members }) => all + members.length, 0);
  return ({ tokens, members }) => {
    const going = { messages: messages - members.length, tokens: movableTokens - tokens, staying: members.length };
    return least + tokens + clipTokens(going) > targetTokens;
  };
}

/**
 * Reserves the newest requests that fit into the tokens, newest first. It stops at the first that does not fit, so that more tokens never
 * select different requests. Requests larger than all the tokens are skipped.
 */
function reservedRequests(candidates: readonly Candidate[], tokens: number): ReadonlySet<Candidate> {
  const reserved = new Set<Candidate>();
  let left = tokens;
  for (const candidate of candidates.toReversed()) {
    if (!candidate.isRequest || mayHide(candidate) || candidate.tokens > tokens) continue;
    left -= candidate.tokens;
    if (left < 0) break;
    if (!candidate.isFixed) reserved.add(candidate); // a fixed group uses up its share, though nothing can displace it
  }
  return reserved;
}

/** The groups of the messages before `end`, in order of their first message. `isFixedOnly`: those that stay whatever the target. */
function groupCandidates(
  groups: readonly number[],
  { end, isFixedOnly }: { readonly end: number; readonly isFixedOnly: boolean },
  facts: {
    readonly score: (index: number) => number;
    readonly tokens: (index: number) => number;
    readonly isFixed: (index: number) => boolean;
    readonly isRequest: (index: number) => boolean;
  },
): readonly Candidate[] {
  const members = new Map<number, number[]>();
  const fixed = isFixedOnly ? new Set<number>() : null;
  for (let index = 0; index < end; index += 1) if (facts.isFixed(index)) fixed?.add(groups[index] ?? index);
  for (let index = 0; index < end; index += 1) {
    const group = groups[index] ?? index;
    if (fixed?.has(group) === false) continue;
    const list = members.get(group);
    if (list === undefined) members.set(group, [index]);
    else list.push(index);
  }
  return [...members.values()].map((list) => ({
    members: list,
    score: list.reduce((best, index) => Math.max(best, facts.score(index)), Number.NEGATIVE_INFINITY),
    tokens: list.reduce((sum, index) => sum + facts.tokens(index), 0),
    isFixed: list.some((index) => facts.isFixed(index)),
    isRequest: list.some((index) => facts.isRequest(index)),
  }));
}
