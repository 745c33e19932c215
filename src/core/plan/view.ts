import { findGroups } from '../tool-groups.ts';
import type { Entry } from '../transcript.ts';

/** A message as the plan sees it: a line of the file, or one that an earlier clip-archive contains word for word. */
export type PlanMessage = Entry & {
  /** The row of its line in the archive. Such a message has no line in the file. */
  readonly carriedLineId?: number;
};

/** A conversation with its entries sorted by their role in the plan. */
export type ConversationView = {
  /** All entries, in file order. */
  readonly entries: readonly Entry[];
  /** The messages that can be compressed or kept, oldest first: carried ones, then those of the file. */
  readonly messages: readonly PlanMessage[];
  /** How many of `messages` are carried. */
  readonly carriedCount: number;
  /** System and developer messages, which stay. */
  readonly instructions: readonly Entry[];
  /** The earlier summary, which replaces everything before it. */
  readonly prior: Entry | null;
  /** The number of main-thread messages that the producer's summary replaced, without instructions and messages that were taken back. */
  readonly staleMessageCount: number;
  /** Those of them that a person typed, with their number among them, from 1. */
  readonly staleTyped: readonly { readonly entry: Entry; readonly index: number }[];
  /** Our last clip-archive that the producer's summary replaced. */
  readonly staleClip: Entry | null;
} & MetaRules;

/** Rules for records whose outcome does not depend on their place. */
type MetaRules = {
  /** The line of the message that a record stays or goes with. */
  readonly anchorOf?: (entry: Entry) => number | null;
  readonly mustDrop?: (entry: Entry) => boolean;
};

export type ViewInput = {
  readonly entries: readonly Entry[];
  readonly priorLine: number | null;
  readonly isStale: (entry: Entry) => boolean;
  readonly isInSummary?: (entry: Entry) => boolean;
  readonly carried: readonly PlanMessage[];
  /** False: instructions are treated like other messages. */
  readonly keepSystem: boolean;
  /** Undefined: messages are already in chronological order. */
  readonly orderOf?: (entry: Entry) => number;
} & MetaRules;

export function viewConversation(input: ViewInput): ConversationView {
  const { entries, priorLine, isStale, isInSummary, carried, keepSystem, orderOf, anchorOf, mustDrop } = input;
  const said: PlanMessage[] = [];
  const instructions: Entry[] = [];
  let prior: Entry | null = null;
  let staleMessageCount = 0;
  let staleClip: Entry | null = null;
  const staleTyped: { entry: Entry; index: number }[] = [];
  const isCompactedAway = isInSummary ?? ((stale: Entry) => isOfMainThread(stale, { mustDrop, anchorOf }));
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
  const rules = { ...(anchorOf !== undefined && { anchorOf }), ...(mustDrop !== undefined && { mustDrop }) };
  const stale = { staleMessageCount, staleTyped, staleClip };
  return { entries, messages, carriedCount: carried.length, instructions, prior, ...stale, ...rules };
}

/** Excludes messages that were taken back and messages that are attached to another one. */
function isOfMainThread(stale: Entry, { mustDrop, anchorOf }: MetaRules): boolean {
  return stale.isSide !== true && mustDrop?.(stale) !== true && (anchorOf?.(stale) ?? null) === null;
}

/** The earlier summary, the instructions and the messages that a producer sends to its model. */
export function sentMessages({ messages, instructions, prior }: ConversationView): readonly Entry[] {
  const said = [...instructions, ...messages.filter((message) => message.carriedLineId === undefined)];
  return prior === null ? said : [prior, ...said];
}

export function sumTokens(some: readonly Pick<Entry, 'tokens'>[]): number {
  return some.reduce((sum, { tokens = 0 }) => sum + tokens, 0);
}

/** For each message, the smallest index in its group. A plan and the report about it ask for the same messages. */
export function groupsOf(messages: readonly PlanMessage[]): readonly number[] {
  const known = groupsByMessages.get(messages);
  if (known !== undefined) return known;
  const groups = findGroups(messages);
  groupsByMessages.set(messages, groups);
  return groups;
}

const groupsByMessages = new WeakMap<readonly PlanMessage[], readonly number[]>();
