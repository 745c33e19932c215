import type { Entry } from '../../core/transcript.ts';
import type { Codec, CodecSession, ContextView, CutProblem } from '../../ports/codec.ts';

export type Conversation = {
  /** Rule A0. A lineage found later overrides it. */
  readonly id: string;
  readonly entries: readonly Entry[];
  readonly context: ContextView;
  readonly cutProblem: (line: number) => CutProblem;
};

type SplitInput = {
  readonly entries: readonly Entry[];
  readonly codec: Codec;
  readonly session: CodecSession;
  /** From `--conversation`; used if the file carries no id. */
  readonly conversation: string | null;
  /** sha256 (hex) of an entry's line without its ending. */
  readonly hashLine: (entry: Entry) => string;
  /** sha256 (hex) of a text. */
  readonly hashText: (text: string) => string;
};

/** Sorts entries into conversations. `loose` entries belong to none (blank lines between the rows of several conversations). */
export function splitConversations(input: SplitInput) {
  const { entries, codec, session } = input;
  const { layout } = codec.format;
  const isThread = layout.kind === 'lines' && layout.links === 'parents';
  const groups = isThread ? new Map([['', entries]]) : groupByConversation(entries);
  const isOne = groups.size <= 1 && codec.records === undefined;
  const nameOnce = createIdGiver();
  const readContext = createContextReader(session);
  const conversations = [...groups.values()].map((own): Conversation => {
    const all = isOne ? entries : own;
    return {
      id: nameOnce(conversationId(input, all)),
      entries: all,
      ...readContext(all),
    };
  });
  const loose = isOne
    ? []
    : entries.filter((entry) => !isSaid(entry) && entry.list === undefined && entry.conversation === undefined);
  return { conversations, loose };
}

function groupByConversation(entries: readonly Entry[]): ReadonlyMap<string | number, readonly Entry[]> {
  const groups = new Map<string | number, Entry[]>();
  const keyOf = ({ list, conversation = '' }: Entry): string | number => list ?? conversation;
  for (const entry of entries) if (isSaid(entry) && !groups.has(keyOf(entry))) groups.set(keyOf(entry), []);
  for (const entry of entries) {
    const belongs = isSaid(entry) || entry.list !== undefined || entry.conversation !== undefined;
    if (belongs) groups.get(keyOf(entry))?.push(entry);
  }
  return groups;
}

/** Gives copies of a conversation, or several with the same id, a number each. */
function createIdGiver(): (id: string) => string {
  const counts = new Map<string, number>();
  const given = new Set<string>();
  return (id) => {
    let count = counts.get(id) ?? 0;
    let name: string;
    do {
      count += 1;
      name = count === 1 ? id : `${id}#${count}`;
    } while (given.has(name));
    counts.set(id, count);
    given.add(name);
    return name;
  };
}

/** A line that somebody said: the first one determines the conversation's place in the file. */
function isSaid(entry: Entry): boolean {
  return entry.kind === 'message' || entry.kind === 'instruction' || entry.kind === 'summary';
}

function conversationId({ conversation, hashLine, hashText }: SplitInput, entries: readonly Entry[]): string {
  const own = entries.find((entry) => entry.conversation !== undefined && entry.conversation !== '')?.conversation;
  if (own !== undefined) return own;
  if (conversation !== null) return conversation;
  const said = entries.filter(isSaid);
  const first = said[0];
  if (first === undefined) return '';
  // Conversations in the lists of one file often begin alike, so all their lines are hashed.
  const named = first.list === undefined ? hashLine(first) : hashText(said.map(hashLine).join('\n'));
  return named.slice(0, 16);
}

type Entries = readonly Entry[];

/** What a codec knows about a conversation. */
export type ConversationContext = {
  readonly context: ContextView;
  readonly cutProblem: (line: number) => CutProblem;
};

/**
 * Asks the codec about one conversation after another. A codec may build a table of a conversation's records for the answer, and an export may
 * have thousands of conversations: only the latest table is kept.
 */
export function createContextReader(
  session: Pick<CodecSession, 'readContext' | 'legalCuts'>,
): (entries: Entries) => ConversationContext {
  const contextOf = keepLatest(session.readContext);
  const cutsOf = keepLatest(session.legalCuts);
  return (entries) => {
    const { priorLine, isInSummary, anchorOf, orderOf, mustDrop } = contextOf(entries);
    return {
      context: {
        priorLine,
        isStale: (entry) => contextOf(entries).isStale(entry),
        ...(isInSummary && { isInSummary: (entry) => contextOf(entries).isInSummary?.(entry) === true }),
        ...(anchorOf && { anchorOf: (entry) => contextOf(entries).anchorOf?.(entry) ?? null }),
        ...(orderOf && { orderOf: (entry) => contextOf(entries).orderOf?.(entry) ?? 0 }),
        ...(mustDrop && { mustDrop: (entry) => contextOf(entries).mustDrop?.(entry) === true }),
      },
      cutProblem: (line) => cutsOf(entries)(line),
    };
  };
}

function keepLatest<T>(make: (entries: Entries) => T): (entries: Entries) => T {
  let latest: { readonly entries: Entries; readonly made: T } | null = null;
  return (entries) => {
    if (latest?.entries !== entries) latest = { entries, made: make(entries) };
    return latest.made;
  };
}
