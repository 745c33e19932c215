import type { Entry } from '../transcript.ts';
import type { ConversationPlan } from './plan.ts';
import type { ConversationView } from './view.ts';

/** What happens to a line. quoted: the clip-archive contains its text word for word, and the line itself is archived. */
export type LineOutcome =
  | { readonly kind: 'kept' }
  | { readonly kind: 'other' | 'quoted'; readonly conversation: number | null }
  | { readonly kind: 'summarized'; readonly conversation: number; readonly index: number };

/** A conversation and its plan; null if it stays unchanged. */
export type PlannedConversation = {
  readonly view: ConversationView;
  readonly plan: Extract<ConversationPlan, { kind: 'compact' }> | null;
};

export type TranscriptPlan = {
  /** The outcome of line N is at index N - 1. */
  readonly outcomes: readonly LineOutcome[];
  /** For each conversation, the line before which its clip-archive is inserted; null if it stays unchanged. */
  readonly insertBefore: readonly (number | null)[];
};

const KEPT: LineOutcome = { kind: 'kept' };

/**
 * Gives every line of the transcript exactly one outcome. `loose` entries belong to no conversation: they stay unless they come before
 * everything that is kept of every conversation.
 */
export function planLines(
  conversations: readonly PlannedConversation[],
  loose: readonly Entry[],
  options: {
    readonly lineCount: number;
    readonly isChain: boolean;
    /** The summary comes before everything that stays, except the header. */
    readonly summaryStandsFirst?: boolean;
  },
): TranscriptPlan {
  const outcomes: LineOutcome[] = Array.from({ length: options.lineCount }, () => KEPT);
  const set = (line: number, outcome: LineOutcome): void => {
    if (line >= 1) outcomes[line - 1] = outcome;
  };
  const isKept = (line: number): boolean => outcomes[line - 1]?.kind === 'kept';
  let earliestCut = Number.POSITIVE_INFINITY;
  const insertBefore = conversations.map(({ view, plan }, conversation) => {
    if (plan === null) {
      earliestCut = Math.min(earliestCut, view.entries[0]?.line ?? Number.POSITIVE_INFINITY);
      return null;
    }
    const cutLine = view.messages[plan.boundary]?.line ?? Number.POSITIVE_INFINITY;
    earliestCut = Math.min(earliestCut, cutLine);
    for (let index = 0; index < plan.boundary; index += 1) {
      const line = view.messages[index]?.line ?? 0;
      if (!plan.retained.has(index)) set(line, { kind: 'summarized', conversation, index });
      else if (options.isChain) set(line, { kind: 'quoted', conversation });
    }
    setRest(view, cutLine, { conversation, set, isKept });
    const header = leadingHeader(view, isKept);
    const last = view.entries.findLast(({ kind }) => kind !== 'header');
    // The last element of a list has no comma after it, so if it is removed, the summary takes its place.
    if (last?.list !== undefined && !isKept(last.line)) return last.line + 1;
    const isNext = ({ line }: Entry): boolean => line > header && isKept(line);
    const first = options.summaryStandsFirst === true ? view.entries.find(isNext)?.line : undefined;
    return first ?? Math.max(header + 1, insertionLine(view, plan, options.isChain));
  });
  const pinned = latestOfEachPin(loose);
  for (const entry of loose) {
    const mayGo = entry.kind !== 'header' && !pinned.has(entry.line);
    if (mayGo && entry.line < earliestCut) set(entry.line, { kind: 'other', conversation: null });
  }
  return { outcomes, insertBefore };
}

/** The lines that the conversation's producer will still send, without looking at the rest of the file. */
export function keptMessageLines({ view, plan }: PlannedConversation, isChain: boolean): ReadonlySet<number> {
  const stays = (index: number) => plan === null || index >= plan.boundary || (!isChain && plan.retained.has(index));
  const messages = view.messages.filter((_, index) => stays(index));
  return new Set([...view.instructions, ...messages].map(({ line }) => line));
}

type SetOutcome = (line: number, outcome: LineOutcome) => void;

/**
 * Handles everything else: stale messages, the earlier summary, meta records, blank lines. Records decided by their own place come first,
 * because attached records share the outcome of their message.
 */
function setRest(
  view: ConversationView,
  cutLine: number,
  { conversation, set, isKept }: { conversation: number; set: SetOutcome; isKept: (line: number) => boolean },
): void {
  const { entries, prior, mustDrop = () => false, anchorOf = () => null } = view;
  const pinned = latestOfEachPin(entries.filter((entry) => !mustDrop(entry)));
  const decided = new Set([...view.messages, ...view.instructions].map((entry) => entry.line));
  const other: LineOutcome = { kind: 'other', conversation };
  const attached: [line: number, message: number][] = [];
  for (const entry of entries) {
    const { line } = entry;
    if (decided.has(line) || entry.kind === 'header') continue;
    if (entry === prior || mustDrop(entry)) set(line, other);
    else if (!pinned.has(line)) {
      const message = anchorOf(entry);
      if (message !== null) attached.push([line, message]);
      else if (line < cutLine) set(line, other);
    }
  }
  for (const [line, message] of attached) if (!isKept(message)) set(line, other);
}

/** The line of the header; 0 if there is none, or if a kept message precedes it, which a summary after the header would seem to include. */
function leadingHeader({ entries }: ConversationView, isKept: (line: number) => boolean): number {
  const isSaid = ({ kind, line }: Entry): boolean => (kind === 'message' || kind === 'instruction') && isKept(line);
  const first = entries.find((entry) => entry.kind === 'header' || isSaid(entry));
  return first?.kind === 'header' ? first.line : 0;
}

function latestOfEachPin(entries: readonly Entry[]): ReadonlySet<number> {
  const latest = new Map(
    entries.flatMap((entry) => (entry.latestKey === undefined ? [] : [[entry.latestKey, entry.line] as const])),
  );
  return new Set(latest.values());
}

/** Before the first kept line after the leading instructions, or else right after the last removed line. */
function insertionLine(view: ConversationView, plan: Extract<ConversationPlan, { kind: 'compact' }>, isChain: boolean) {
  const stays = (index: number): boolean => index >= plan.boundary || (!isChain && plan.retained.has(index));
  const inFile = view.messages.filter((message) => message.carriedLineId === undefined);
  const firstSaid = Math.min(view.prior?.line ?? Number.POSITIVE_INFINITY, inFile[0]?.line ?? Number.POSITIVE_INFINITY);
  const later = view.instructions.find((entry) => entry.line > firstSaid)?.line ?? Number.POSITIVE_INFINITY;
  const kept = view.messages.find((message, index) => stays(index) && message.carriedLineId === undefined)?.line;
  const first = Math.min(kept ?? Number.POSITIVE_INFINITY, later);
  return Number.isFinite(first) ? first : (inFile.at(-1)?.line ?? 0) + 1;
}
