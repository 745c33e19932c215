/** A group of older messages that survives or goes as one. */
export type Candidate = {
  /** Indices of its messages. */
  readonly members: readonly number[];
  /** Its highest member's (a group is worth what its best message is worth). */
  readonly score: number;
  readonly tokens: number;
  /** Survives whatever the target (P6). */
  readonly isFixed: boolean;
};

/** Tokens of the clip-archive when so much goes. */
export type ClipEstimate = (going: { readonly messages: number; readonly tokens: number }) => number;

export type SurvivorInput = {
  readonly candidates: readonly Candidate[];
  /** Tokens of everything that stays anyway: instructions and the recent messages. */
  readonly fixedTokens: number;
  /** Tokens of the conversation as it is, an earlier clip-archive included. */
  readonly unchangedTokens: number;
  readonly targetTokens: number;
  readonly clipTokens: ClipEstimate;
};

/** Lets the lowest-scored groups go, one after the other, until the result fits. Where it never fits, all that may go have gone. */
export function chooseSurvivors({
  candidates,
  fixedTokens,
  unchangedTokens,
  targetTokens,
  clipTokens,
}: SurvivorInput): ReadonlySet<number> {
  const survivors = new Set(candidates.flatMap((candidate) => candidate.members));
  let staying = fixedTokens + candidates.reduce((sum, candidate) => sum + candidate.tokens, 0);
  const going = { messages: 0, tokens: 0 };
  const total = (): number => (going.messages === 0 ? unchangedTokens : staying + clipTokens(going));
  const byScore = candidates.filter((candidate) => !candidate.isFixed).sort((a, b) => a.score - b.score);
  for (const candidate of byScore) {
    if (total() <= targetTokens) break;
    for (const member of candidate.members) survivors.delete(member);
    staying -= candidate.tokens;
    going.tokens += candidate.tokens;
    going.messages += candidate.members.length;
  }
  return survivors;
}

/** The groups of the messages before `end`, in order of their first member. */
export function groupCandidates(
  groups: readonly number[],
  end: number,
  facts: {
    readonly score: (index: number) => number;
    readonly tokens: (index: number) => number;
    readonly isFixed: (index: number) => boolean;
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
  }));
}
