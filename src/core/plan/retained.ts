/** A group of older messages that are kept or dropped together. */
export type Candidate = {
  /** The indices of its messages. */
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
export type ClipEstimate = (going: Going) => number;

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
  let staying = fixedTokens + candidates.reduce((sum, candidate) => sum + candidate.tokens, 0);
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
  const sum = (some: readonly Candidate[]): number => some.reduce((all, { tokens }) => all + tokens, 0);
  const movable = candidates.filter(({ isFixed }) => !isFixed);
  const least = fixedTokens + sum(candidates.filter(({ isFixed }) => isFixed));
  const movableTokens = sum(movable);
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

/** The groups of the messages before `end`, in order of their first message. */
export function groupCandidates(
  groups: readonly number[],
  end: number,
  facts: {
    readonly score: (index: number) => number;
    readonly tokens: (index: number) => number;
    readonly isFixed: (index: number) => boolean;
    readonly isRequest: (index: number) => boolean;
  },
): readonly Candidate[] {
  const members = new Map<number, number[]>();
  for (let index = 0; index < end; index += 1) {
    const group = groups[index] ?? index;
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
