/** A group of older messages that survives or goes as one. */
export type Candidate = {
  /** Indices of its messages. */
  readonly members: readonly number[];
  /** Its highest member's (a group is worth what its best message is worth). */
  readonly score: number;
  readonly tokens: number;
  /** Survives whatever the target (P6). */
  readonly isFixed: boolean;
  /** A person's request is in it. */
  readonly isRequest: boolean;
};

/** What goes, and how many messages stay of those that could go. */
type Going = { readonly messages: number; readonly tokens: number; readonly staying: number };

/** Tokens of the clip-archive when so much goes. */
export type ClipEstimate = (going: Going) => number;

export type RetainInput = {
  readonly candidates: readonly Candidate[];
  /** Tokens of everything that stays anyway: instructions and the recent messages. */
  readonly fixedTokens: number;
  /** Tokens of the conversation as it is, an earlier clip-archive included. */
  readonly unchangedTokens: number;
  /** Null: everything goes that may. */
  readonly targetTokens: number | null;
  readonly clipTokens: ClipEstimate;
};

/** The share of a target that is reserved for requests. */
const REQUEST_SHARE = 0.25;

/**
 * Lets groups go, one after the other, until the result fits: first those that would not fit even alone, then the lowest-scored, and last the
 * requests that have a place of their own. Where it never fits, all that may go have gone.
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

/** What may go, in the order in which it goes. */
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
    ...[...reserved].reverse(), // they stand newest first
  ];
}

/** It would hide the summary: it goes first, whoever said it. */
function mayHide({ score }: Candidate): boolean {
  return score === Number.NEGATIVE_INFINITY;
}

/** Tells of a group whether the result would be too large with nothing else beside it. Otherwise it would drive out all that scores less. */
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
 * The newest requests within the tokens, newest first. It stops at the first one that does not fit, so that more tokens never mean other
 * requests; one that is larger than all the tokens would stop it for good and is passed over.
 */
function reservedRequests(candidates: readonly Candidate[], tokens: number): ReadonlySet<Candidate> {
  const reserved = new Set<Candidate>();
  let left = tokens;
  for (const candidate of candidates.toReversed()) {
    if (!candidate.isRequest || mayHide(candidate) || candidate.tokens > tokens) continue;
    left -= candidate.tokens;
    if (left < 0) break;
    if (!candidate.isFixed) reserved.add(candidate); // what is fixed takes its share, though nothing drives it out
  }
  return reserved;
}

/** The groups of the messages before `end`, in order of their first member. */
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
