import type { Entry } from '../../../core/transcript.ts';
import type { ContextView } from '../../../ports/codec.ts';

/**
 * What a checkpoint adds to the conversation. repeats: nothing. summary: what Gemini CLI's compression left, or
 * fragments beside our summary. message: messages that are nowhere else (a session that was compacted while Gemini CLI
 * had it in memory).
 */
export type CheckpointKind = 'repeats' | 'summary' | 'message';

/** What the first pass found out about a line from the lines before it. */
export type LineNote = {
  readonly record?: LogRecord;
  /** It repeats the results in the message on this line. */
  readonly repeats?: number;
  /** Its clip-archive is the conversation's summary. */
  readonly isSummary?: boolean;
  /** Returns the positions of those messages of a checkpoint that have no line of their own. */
  readonly only?: readonly number[];
  readonly checkpoint?: CheckpointKind;
  /** Metadata that holds messages, as in older versions' documents: nothing in this file can be compacted. */
  readonly hasMessages?: boolean;
};

/** What Gemini CLI would send on resuming the session: the list of messages that the log leaves. */
export function readContext(entries: readonly Entry[], notes: ReadonlyMap<number, LineNote>): ContextView {
  const log = createLog();
  for (const { line } of entries) {
    const record = notes.get(line)?.record;
    if (record !== undefined) log.add(record, line);
  }
  const { live, takenBack, lastLineOf } = log.read();
  const liveLines = new Set(live.flatMap(({ lines }) => lines));
  // The latest checkpoint, if something that it says is nowhere else.
  const checkpoint = live.some(({ lines, isSaid }) => isSaid && lines.length === 0)
    ? entries.findLast(({ line }) => (notes.get(line)?.checkpoint ?? 'repeats') !== 'repeats')
    : undefined;
  // The first message, if it is a clip-archive.
  const firstSaid = live.find(({ isSaid }) => isSaid)?.lines.at(-1);
  const summary = entries.find(({ kind, line }) => kind === 'summary' && line === firstSaid);
  const priorLine = summary?.line ?? (checkpoint?.kind === 'summary' ? checkpoint.line : null);
  const firstLiveLine = live.reduce(
    (first, { isSaid, lines }) => (isSaid ? Math.min(first, lines[0] ?? first) : first),
    Number.POSITIVE_INFINITY,
  );

  const isStale = ({ kind, line }: Entry): boolean =>
    (kind === 'message' || kind === 'summary') &&
    line !== priorLine &&
    line !== checkpoint?.line &&
    (!liveLines.has(line) || lastLineOf.get(line) !== line);
  const repeated = (line: number): number | null => {
    const { repeats = 0 } = notes.get(line) ?? {};
    return liveLines.has(repeats) ? (lastLineOf.get(repeats) ?? null) : null;
  };
  const anchorOf = ({ line }: Entry): number | null => {
    const last = lastLineOf.get(line) ?? line;
    return repeated(last) ?? (last === line ? null : last);
  };
  const mustDrop = ({ kind, line }: Entry): boolean => {
    const { record, repeats } = notes.get(line) ?? {};
    if (record === undefined) return false;
    if (record.kind !== 'message' || takenBack.has(line)) return true;
    // Results whose call is gone.
    if (repeats !== undefined && repeated(line) === null) return true;
    // A checkpoint left it out; without that checkpoint it would come back.
    const isSaid = kind !== 'meta' || repeats !== undefined;
    return isSaid && !liveLines.has(line) && line > firstLiveLine;
  };
  return { priorLine, isStale, anchorOf, mustDrop };
}

/** A message as the log identifies it. */
export type LogMessage = {
  readonly id: string;
  /** Two messages with the same key say the same; '' equals nothing. */
  readonly key: string;
  /** It is sent to the model. */
  readonly isSaid: boolean;
};

/**
 * A record that changes the list of messages: it adds or replaces one, takes back all from one on, or replaces the
 * whole list.
 */
export type LogRecord =
  | ({ readonly kind: 'message' } & LogMessage)
  | { readonly kind: 'rewind'; readonly id: string }
  | { readonly kind: 'checkpoint'; readonly messages: readonly LogMessage[] };

/** A message in the list that Gemini CLI has after reading the log. */
type Item = LogMessage & {
  /** The lines of its own records, the last of which counts; none: only the latest checkpoint has it. */
  readonly lines: number[];
  /** Its lines have another id: the checkpoint that renamed it was written from the messages in memory. */
  readonly isRenamed: boolean;
};

/**
 * Reads a log as Gemini CLI does on resuming a session: a map in the order of first mention, in which the last mention
 * counts.
 * A session begins with a checkpoint without any message. A session that is resumed within the minute in its file's
 * name begins again in the same file: Gemini CLI clears the list with such a checkpoint and then writes another one
 * with all messages. The cleared messages are suspended until then, so that the second checkpoint finds them on their
 * own lines.
 */
export function createLog() {
  let live = new Map<string, Item>();
  let suspended = new Map<string, Item>();
  const takenBack: Item[] = [];
  const cleared: Item[] = [];

  const addMessage = ({ id, key, isSaid }: LogMessage, line: number): void => {
    const known = live.get(id) ?? suspended.get(id);
    suspended.delete(id);
    if (known?.isRenamed === true) cleared.push(known);
    const lines = known === undefined || known.isRenamed ? [] : known.lines;
    lines.push(line);
    live.set(id, { id, key, isSaid, lines, isRenamed: false });
  };
  const rewind = (to: string): void => {
    const items = [...live.values()];
    const at = items.findIndex(({ id }) => id === to);
    for (const item of items.slice(Math.max(0, at))) takenBack.push(item);
    live = new Map(items.slice(0, Math.max(0, at)).map((item) => [item.id, item]));
  };
  const replace = (messages: readonly LogMessage[]): readonly number[] => {
    const before = new Map([...suspended, ...live]);
    const found = matchMessages(messages, before);
    const unused = new Map(before);
    live = new Map();
    for (const [position, message] of messages.entries()) {
      const item = found[position] ?? null;
      const isRenamed = item !== null && (item.isRenamed || item.id !== message.id);
      live.set(message.id, { ...message, lines: item?.lines ?? [], isRenamed });
      if (item !== null) unused.delete(item.id);
    }
    suspended = messages.some(({ isSaid }) => isSaid) ? new Map() : unused;
    if (suspended.size === 0) cleared.push(...unused.values());
    return messages.flatMap((_, position) => ((found[position] ?? null) === null ? [position] : []));
  };
  /** Gives the positions of the messages of a checkpoint that stand on no line of their own. */
  const add = (record: LogRecord, line: number): readonly number[] => {
    if (record.kind === 'checkpoint') return replace(record.messages);
    if (record.kind === 'rewind') rewind(record.id);
    else addMessage(record, line);
    return [];
  };
  /** The first message in the list that is sent to the model. */
  const firstSaid = (): Item | null => live.values().find(({ isSaid }) => isSaid) ?? null;
  /** What became of the messages' records. */
  const read = () => ({
    live: [...live.values()],
    /** Lines of messages that a rewind took back. */
    takenBack: new Set(takenBack.flatMap(({ lines }) => lines)),
    /** For every line of a message, the line of the record that counts. */
    lastLineOf: new Map(
      [...live.values(), ...suspended.values(), ...takenBack, ...cleared].flatMap(({ lines }) =>
        lines.map((line) => [line, lines.at(-1) ?? line] as const),
      ),
    ),
  });
  return { add, firstSaid, read };
}

/**
 * For each message of a checkpoint, the earlier message with lines that it repeats: one with the same id, else,
 * searching from the end, one with the same words.
 */
function matchMessages(messages: readonly LogMessage[], live: ReadonlyMap<string, Item>): readonly (Item | null)[] {
  const taken = new Set(messages.map(({ id }) => withLines(live.get(id))));
  const open = [...live.values()].filter((item) => item.lines.length > 0 && !taken.has(item));
  const positions = Map.groupBy(open.keys(), (position) => open[position]?.key ?? '');
  let end = open.length;
  const findBefore = (key: string): Item | null => {
    const known = key === '' ? [] : (positions.get(key) ?? []);
    while ((known.at(-1) ?? -1) >= end) known.pop();
    const at = known.pop();
    if (at === undefined) return null;
    end = at;
    return open[at] ?? null;
  };
  const fromTheEnd = messages.toReversed().map(({ id, key }) => withLines(live.get(id)) ?? findBefore(key));
  return fromTheEnd.toReversed();
}

function withLines(item: Item | undefined): Item | null {
  return item === undefined || item.lines.length === 0 ? null : item;
}
