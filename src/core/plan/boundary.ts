import { moveBackToWholeGroups, wholeGroupBoundaries } from '../tool-groups.ts';
import type { PlanMessage } from './view.ts';

export type BoundaryInput = {
  readonly messages: readonly PlanMessage[];
  readonly carriedCount: number;
  /** Of each message, the smallest index of its group. */
  readonly groups: readonly number[];
  readonly keepRecent: number;
  /** Whether the kept part may begin at a line; null: it may. */
  readonly cutProblem: (line: number) => string | null;
  /** Something must stay: in a chain of parents for the summary to hang on, in a list because its last element has no comma. */
  readonly lastStays: boolean;
};

export type Boundary =
  /** `index` of the first kept message; `note` says what the user would not expect. */
  | { readonly kind: 'cut'; readonly index: number; readonly note: string | null }
  | { readonly kind: 'none'; readonly reason: 'too-short' | 'no-legal-cut'; readonly detail: string };

/** A prompt is the preferred cut unless it frees less than this share of the compressible bytes (P7). */
const MIN_PROMPT_SHARE = 0.5;

/** Where the kept part begins: P1, moved back over groups (P4) to a legal cut of the format (P7); never forward. */
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
  // Where a kept record is needed, the last one is the latest place for a cut.
  const latest = moveBackToWholeGroups(groups, Math.min(wanted, lastStays ? messages.length - 1 : messages.length));
  const isWhole = wholeGroupBoundaries(groups);
  const isCut = (index: number): boolean => isWhole(index) && isLegal(input, index);
  const anywhere = lastIndex(latest, carriedCount + 1, isCut);
  if (anywhere === null) return noCut(input, latest);
  const prompt = lastIndex(anywhere, carriedCount + 1, (index) => messages[index]?.isPrompt === true && isCut(index));
  const bytes = prefixBytes(messages, latest);
  const freedByPrompt = prompt === null ? 0 : (bytes[prompt] ?? 0);
  if (keepRecent === 0) {
    const index = prompt ?? anywhere;
    return { kind: 'cut', index, note: 'the last turn stays: in this format something must stand behind the summary' };
  }
  const isPromptEnough = prompt !== null && freedByPrompt >= MIN_PROMPT_SHARE * (bytes[latest] ?? 0);
  return { kind: 'cut', index: isPromptEnough ? prompt : anywhere, note: null };
}

/** Nothing is kept: what stands against that is said of the last message as well. */
function cutAtEnd({ messages, cutProblem }: BoundaryInput): Boundary {
  const problem = cutProblem(messages.at(-1)?.line ?? 0);
  if (problem !== null) return { kind: 'none', reason: 'no-legal-cut', detail: problem };
  return { kind: 'cut', index: messages.length, note: null };
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

/** bytes[i]: of the messages before index i. */
function prefixBytes(messages: readonly PlanMessage[], end: number): readonly number[] {
  const sums = [0];
  for (let index = 0; index < end; index += 1) sums.push((sums[index] ?? 0) + (messages[index]?.length ?? 0));
  return sums;
}
