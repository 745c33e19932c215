import { moveBackToWholeGroups, wholeGroupBoundaries } from '../tool-groups.ts';
import { type PlanMessage, sumTokens } from './view.ts';

export type BoundaryInput = {
  readonly messages: readonly PlanMessage[];
  readonly carriedCount: number;
  /** For each message, the smallest index in its group. */
  readonly groups: readonly number[];
  readonly keepRecent: number;
  /** The recent part may grow to this many tokens beyond `keepRecent` messages. 0: it does not grow. */
  readonly keepRecentTokens: number;
  /** What it should grow to at most, and what sets that; empty: the setting itself. */
  readonly limit: { readonly tokens: number; readonly by: string };
  /** Why the kept part cannot begin at a line; null if it can. */
  readonly cutProblem: (line: number) => string | null;
  /** At least one message must stay: a chain's summary needs a child, and a list's last element has no comma. */
  readonly lastStays: boolean;
};

export type Boundary =
  /** `index`: the first kept message. `note`: something the user would not expect. */
  | {
      readonly kind: 'cut';
      readonly index: number;
      readonly note: string | null;
      /** Why more than `keepRecent` messages must stay; null if they need not. */
      readonly heldBy: string | null;
      /** What begins the recent part: a clause. */
      readonly beginning: string;
    }
  | { readonly kind: 'none'; readonly reason: 'too-short' | 'no-legal-cut'; readonly detail: string };

/** Finds where the kept part begins: at P1, moved back over groups (P4) to a legal cut of the format (P7), never forward. */
export function findBoundary(input: BoundaryInput): Boundary {
  const { messages, carriedCount, groups, keepRecent, lastStays } = input;
  const inFile = messages.length - carriedCount;
  if (inFile === 0 || inFile <= keepRecent) {
    return {
      kind: 'none',
      reason: 'too-short',
      detail: `${inFile} ${inFile === 1 ? 'message' : 'messages'}, and the last ${keepRecent} stay`,
    };
  }
  const wanted = messages.length - keepRecent;
  if (keepRecent === 0 && !lastStays) return cutAtEnd(input);
  // If a record must stay, the last one is the latest possible cut.
  const latest = moveBackToWholeGroups(groups, Math.min(wanted, lastStays ? messages.length - 1 : messages.length));
  const isWhole = wholeGroupBoundaries(groups);
  const isCut = (index: number): boolean => isWhole(index) && isLegal(input, index);
  const anywhere = lastIndex(latest, carriedCount + 1, isCut);
  if (anywhere === null) return noCut(input, latest);
  const { index, beginning } = growRecentPart(input, anywhere, isCut);
  const note = keepRecent === 0 ? 'the last turn stays: in this format something must stand behind the summary' : null;
  const held = anywhere < latest ? input.cutProblem(messages[latest]?.line ?? 0) : null;
  return { kind: 'cut', index, note, heldBy: anywhere < wanted ? (held ?? TOGETHER) : null, beginning };
}

const TOGETHER = 'tool calls and their results stay together';

/** If no request is within the limit, the recent part may still grow to the nearest one by this share of what could leave (P7). */
const MAX_SHARE_FOR_A_REQUEST = 0.5;

/**
 * Grows the recent part to the farthest beginning of a request within its limit, else to the nearest one that leaves enough to compact, else by
 * as many whole groups as fit. Measured in tokens, since a pasted image has many bytes but no words. `least` is the latest allowed start.
 */
function growRecentPart(input: BoundaryInput, least: number, isCut: (index: number) => boolean) {
  const { messages, carriedCount, keepRecent, keepRecentTokens, limit } = input;
  const isRequest = (index: number): boolean => messages[index]?.isPrompt === true;
  if (keepRecent === 0 && isRequest(least)) return { index: least, beginning: 'a request' };
  const most = sumTokens(messages.slice(0, least)) * MAX_SHARE_FOR_A_REQUEST;
  let grown = 0;
  let recent = sumTokens(messages.slice(least));
  let nearest = isRequest(least) ? least : null;
  let farthest: number | null = null;
  let group = least;
  for (let next = least - 1; next > carriedCount; next -= 1) {
    const tokens = messages[next]?.tokens ?? 0;
    recent += tokens;
    grown += tokens;
    const isWithin = recent <= limit.tokens;
    if (recent > keepRecentTokens || (!isWithin && (nearest !== null || grown > most))) break;
    if (!isCut(next)) continue;
    if (isWithin) group = next;
    if (!isRequest(next)) continue;
    nearest ??= next;
    if (isWithin) farthest = next;
    // The last turn is all that stays then.
    if (keepRecent === 0) break;
  }
  const within = `within ${Math.floor(limit.tokens)} tokens${limit.by === '' ? '' : `, ${limit.by}`}`;
  if (farthest !== null) return { index: farthest, beginning: `the farthest request ${within}` };
  if (nearest !== null) return { index: nearest, beginning: 'the nearest request' };
  if (keepRecent === 0 || group === least) return { index: least, beginning: 'the fewest messages that may stay' };
  return { index: group, beginning: `no request is ${within}, so whole rounds of calls stay` };
}

/** Nothing is kept, so only a problem with the last message can prevent it. */
function cutAtEnd({ messages, cutProblem }: BoundaryInput): Boundary {
  const problem = cutProblem(messages.at(-1)?.line ?? 0);
  if (problem !== null) return { kind: 'none', reason: 'no-legal-cut', detail: problem };
  return { kind: 'cut', index: messages.length, note: null, heldBy: null, beginning: 'nothing stays' };
}

function isLegal({ messages, cutProblem }: BoundaryInput, index: number): boolean {
  const message = messages[index];
  if (message === undefined || message.carriedLineId !== undefined) return false;
  return cutProblem(message.line) === null;
}

function lastIndex(from: number, to: number, accepts: (index: number) => boolean): number | null {
  for (let index = from; index >= to; index -= 1) if (accepts(index)) return index;
  return null;
}

function noCut({ messages, carriedCount, cutProblem }: BoundaryInput, latest: number): Boundary {
  if (latest <= carriedCount) {
    return {
      kind: 'none',
      reason: 'too-short',
      detail: 'what is older than the recent messages belongs to one group with them',
    };
  }
  const problem = cutProblem(messages[latest]?.line ?? 0) ?? 'a call would be parted from its result';
  return { kind: 'none', reason: 'no-legal-cut', detail: problem };
}
