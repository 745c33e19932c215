import type { GroupInput } from '../tool-groups.ts';
import type { Entry } from '../transcript.ts';

/** A message as the plan sees it: a line of the file, or one that an earlier clip-archive holds word for word. */
export type PlanMessage = Entry & {
  /** Row of the archive's line; such a message has no line in the file. */
  readonly carriedLineId?: number;
};

/** One conversation of a transcript, its entries sorted by what they mean to the plan. */
export type ConversationView = {
  /** All its entries, in file order. */
  readonly entries: readonly Entry[];
  /** What can be compressed or kept, oldest first: carried messages, then those of the file. */
  readonly messages: readonly PlanMessage[];
  /** How many of `messages` are carried. */
  readonly carriedCount: number;
  /** System and developer messages that stay. */
  readonly instructions: readonly Entry[];
  /** The line of the summary that stands for all before it. */
  readonly prior: Entry | null;
  /** Main-thread messages that the producer's summary stands for: neither instructions nor what was taken back. */
  readonly staleMessageCount: number;
  /** Those of them that a person typed, and which of them each is, from 1. */
  readonly staleTyped: readonly { readonly entry: Entry; readonly index: number }[];
  /** The last clip-archive of ours that the producer's summary stands for. */
  readonly staleClip: Entry | null;
} & MetaRules;

/** What becomes of records that are no messages, where it is not their place that decides. */
type MetaRules = {
  /** The line of the message that a record goes and stays with. */
  readonly companionOf?: (entry: Entry) => number | null;
  readonly mustGo?: (entry: Entry) => boolean;
};

export type ViewInput = {
  readonly entries: readonly Entry[];
  readonly priorLine: number | null;
  readonly isStale: (entry: Entry) => boolean;
  readonly isInSummary?: (entry: Entry) => boolean;
  readonly carried: readonly PlanMessage[];
  /** False: instructions are messages like others. */
  readonly keepSystem: boolean;
  /** Undefined: messages stand in the order in which they were said. */
  readonly orderOf?: (entry: Entry) => number;
} & MetaRules;

export function viewConversation(input: ViewInput): ConversationView {
  const { entries, priorLine, isStale, isInSummary, carried, keepSystem, orderOf, companionOf, mustGo } = input;
  const said: PlanMessage[] = [];
  const instructions: Entry[] = [];
  let prior: Entry | null = null;
  let staleMessageCount = 0;
  let staleClip: Entry | null = null;
  const staleTyped: { entry: Entry; index: number }[] = [];
  const isCompactedAway = isInSummary ?? ((stale: Entry) => isOfMainThread(stale, { mustGo, companionOf }));
  for (const entry of entries) {
    if (entry.line === priorLine) {
      prior = entry;
    } else if (entry.kind === 'instruction' && keepSystem && !isStale(entry)) {
      instructions.push(entry);
    } else if (entry.kind === 'message' || entry.kind === 'instruction') {
      if (!isStale(entry)) said.push(entry);
      else if (entry.kind === 'message' && isCompactedAway(entry)) {
        staleMessageCount += 1;
        if (entry.typedTokens !== undefined) staleTyped.push({ entry, index: staleMessageCount });
      }
    } else if (entry.kind === 'summary' && entry.sha256 !== undefined && entry.isUnmarked !== true) {
      staleClip = entry;
    }
  }
  if (orderOf !== undefined) said.sort((a, b) => orderOf(a) - orderOf(b));
  const messages = carried.length === 0 ? said : [...carried, ...said];
  const rules = { ...(companionOf !== undefined && { companionOf }), ...(mustGo !== undefined && { mustGo }) };
  const stale = { staleMessageCount, staleTyped, staleClip };
  return { entries, messages, carriedCount: carried.length, instructions, prior, ...stale, ...rules };
}

/** A message that must go was taken back, and is in no summary; one that goes with another has its last word there. */
function isOfMainThread(stale: Entry, { mustGo, companionOf }: MetaRules): boolean {
  return stale.isSide !== true && mustGo?.(stale) !== true && (companionOf?.(stale) ?? null) === null;
}

/** Tokens of a conversation as its producer sends it. */
export function tokensOf({ messages, instructions, prior }: ConversationView): number {
  const inFile = messages.filter((message) => message.carriedLineId === undefined);
  return [...inFile, ...instructions, ...(prior === null ? [] : [prior])].reduce(
    (sum, one) => sum + (one.tokens ?? 0),
    0,
  );
}

/** What binds a message to others that must go or stay with it. */
export function groupFactsOf({ calls = [], results = [], groupKey }: PlanMessage): GroupInput {
  return groupKey === undefined ? { calls, results } : { calls, results, key: groupKey };
}
