import type { Entry } from '../core/transcript.ts';
import type { Codec, CodecSession, ContextView, CutProblem } from '../ports/codec.ts';

/** One conversation of a scanned transcript. */
export type Conversation = {
  /** A0. A lineage found later overrides it. */
  readonly id: string;
  readonly entries: readonly Entry[];
  readonly context: ContextView;
  readonly cutProblem: (line: number) => CutProblem;
};

export type SplitInput = {
  readonly entries: readonly Entry[];
  readonly codec: Codec;
  readonly session: CodecSession;
  /** From `--conversation`, where the file carries no id. */
  readonly conversation: string | null;
  /** sha256 (hex) of an entry's line without its ending. */
  readonly hashLine: (entry: Entry) => string;
};

/** Sorts entries into conversations. `loose` belong to none (blank lines between the rows of several conversations). */
export function splitConversations(input: SplitInput): {
  readonly conversations: readonly Conversation[];
  readonly loose: readonly Entry[];
} {
  const { entries, codec, session } = input;
  const groups = codec.format.isChain ? new Map([['', entries]]) : groupByConversation(entries);
  const isOne = groups.size <= 1;
  const conversations = [...groups.values()].map((own): Conversation => {
    const all = isOne ? entries : own;
    return {
      id: conversationId(input, all),
      entries: all,
      context: session.readContext(all),
      cutProblem: session.legalCuts(all),
    };
  });
  const loose = isOne ? [] : entries.filter((entry) => !isSaid(entry) && entry.conversation === undefined);
  return { conversations, loose };
}

function groupByConversation(entries: readonly Entry[]): ReadonlyMap<string, readonly Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) if (isSaid(entry)) groups.set(entry.conversation ?? '', []);
  for (const entry of entries) {
    if (isSaid(entry) || entry.conversation !== undefined) groups.get(entry.conversation ?? '')?.push(entry);
  }
  return groups;
}

/** A line that is somebody's words: it gives a conversation its place in the file. */
function isSaid(entry: Entry): boolean {
  return entry.kind === 'message' || entry.kind === 'instruction' || entry.kind === 'summary';
}

function conversationId({ conversation, hashLine }: SplitInput, entries: readonly Entry[]): string {
  const own = entries.find((entry) => entry.conversation !== undefined && entry.conversation !== '')?.conversation;
  if (own !== undefined) return own;
  if (conversation !== null) return conversation;
  const first = entries.find(isSaid);
  return first === undefined ? '' : hashLine(first).slice(0, 16);
}
