import type { Decoded } from '../../../core/transcript.ts';
import type { CodecSession, Detection, Json, RecordProblem, SummaryInput } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord } from '../json.ts';
import { createSession, notOurs, readWholeContext } from '../session.ts';

/** Where a record stands, and what was noted about it in the first pass. */
export type RecordPlace = {
  readonly line: number;
  /** Records with the same key belong together: the pieces of an answer, the records of a call. */
  readonly key: string | undefined;
};

/** How one agent writes its log. A reader belongs to one session and may keep state for `keyOf`. */
export type StreamReader = {
  /** The id of the conversation, if the record names it. It also holds for the records after it that name none. */
  readonly conversationOf: (record: JsonRecord) => string | undefined;
  /** Only the records that begin a run name the conversation, so they must stay where the conversation changes. */
  readonly namesOnlyStarts: boolean;
  /** Whether a run of the agent begins here. */
  readonly isStart: (record: JsonRecord) => boolean;
  /** The key of a record. Asked once for every record, in the order of the file. */
  readonly keyOf: (record: JsonRecord, line: number) => string | undefined;
  /** Reads a record. Kind `summary` is for records that `renderSummary` wrote. */
  readonly read: (record: JsonRecord, place: RecordPlace) => Decoded | RecordProblem;
  /** The line of the message that other records with this key go and stay with; undefined: there is none. */
  readonly anchorOf: (key: string) => number | undefined;
  readonly renderSummary: (input: SummaryInput) => object;
};

/**
 * Reads a log of one or more runs. No agent resumes from such a log, so nothing in it is out of context. The first
 * record that begins a run of a conversation is a header, which always stays.
 */
export function createStreamSession(reader: StreamReader): CodecSession {
  const conversations: string[] = []; // by line
  const headers = new Set<number>();
  const started = new Set<string>(); // conversations that have a header
  const begun = new Set<string>();
  const summaryLines = new Set<number>();
  const keys: string[] = [];

  const read = (record: JsonRecord, line: number): Decoded | RecordProblem => {
    const conversation = conversations[line] ?? conversations.at(-1) ?? '';
    const place = conversation === '' ? {} : { conversation };
    if (headers.has(line)) return { kind: 'header', ...place };
    const decoded = reader.read(record, { line, key: keys[line] });
    if ('problem' in decoded) return decoded;
    const { message } = decoded;
    if (message === undefined) return { ...decoded, ...place };
    const said = { ...message, conversation_id: conversation };
    // A summary in the middle, where logs were joined, is one more message.
    const isMessage = decoded.kind === 'summary' && !summaryLines.has(line);
    return isMessage
      ? { ...decoded, ...place, kind: 'message', message: { ...said, role: 'user', isSummary: true } }
      : { ...decoded, ...place, message: said };
  };
  const note = (record: JsonRecord, line: number): void => {
    const before = conversations.at(-1) ?? '';
    const conversation = reader.conversationOf(record) ?? before;
    conversations[line] = conversation;
    const mustStay = (conversation !== before && reader.namesOnlyStarts) || !started.has(conversation);
    if (reader.isStart(record) && mustStay) {
      headers.add(line);
      started.add(conversation);
    }
    const key = reader.keyOf(record, line);
    if (key !== undefined) keys[line] = key;
    if (!begun.has(conversation)) summaryLines.add(line);
  };
  return createSession({
    what: 'a record that is',
    read: (record, { line, isFirstPass }) => {
      if (!isFirstPass) return read(record, line);
      note(record, line);
      const decoded = read(record, line);
      if ('problem' in decoded || decoded.kind !== 'summary') summaryLines.delete(line);
      if ('kind' in decoded && decoded.message !== undefined) begun.add(conversations[line] ?? '');
      return decoded;
    },
    readContext: (entries) => ({
      ...readWholeContext(entries),
      anchorOf: ({ line }) => reader.anchorOf(keys[line] ?? '') ?? null,
    }),
    renderSummary: (input) => [JSON.stringify(reader.renderSummary(input))],
  });
}

type Sign = (record: JsonRecord) => boolean;

/**
 * How sure we are that the records are a log: `isOwn` says whether a record has a shape that only this agent writes,
 * `isUsual` whether the log may contain it; `what` are they, in the plural: "events of …".
 */
export function detectStream(
  sample: readonly Json[],
  { isOwn, isUsual, what }: { readonly isOwn: Sign; readonly isUsual: Sign; readonly what: string },
): Detection {
  const records = sample.filter(isRecord);
  const own = records.filter(isOwn).length;
  if (own === 0) return notOurs(`there are no ${what}`);
  const known = records.filter((record) => isOwn(record) || isUsual(record)).length;
  return { confidence: known >= sample.length / 2 ? 1 : 0.6, reason: `${own} of ${sample.length} records are ${what}` };
}
