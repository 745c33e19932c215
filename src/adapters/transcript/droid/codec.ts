import { estimateTokens } from '../../../core/tokens.ts';
import type { Decoded, Entry } from '../../../core/transcript.ts';
import type { Codec, CodecSession, Detection, Json, RecordProblem, SummaryInput } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { readAlone, toDecoded } from '../chat-lines/decode.ts';
import { isList, isRecord, type JsonRecord, readIsoTime, stringAt, textReader, valueAt } from '../json.ts';
import { createSession as createPlainSession, notOurs } from '../session.ts';
import { ruleWords, withoutTyped, withTyped } from '../message-parts.ts';
import { conversationOf, decodeSummary, firstText, textBlocks } from '../said.ts';

/** Sessions of Factory's Droid: `~/.factory/sessions/<folder>/<session id>.jsonl`. */
export const droid: Codec = {
  format: FORMATS.droid,
  detect: detectDroid,
  readProject: textReader('cwd'),
  open: createSession,
};

/** The header of pi is of type `session`, and events of Copilot have `data`. */
function detectDroid(sample: readonly Json[]): Detection {
  const [first, ...rest] = sample;
  const isStart = stringAt(first, 'type') === 'session_start' && stringAt(first, 'id') !== undefined;
  if (!isRecord(first) || !isStart || 'data' in first || 'payload' in first)
    return notOurs('the first record is not the start of a session');
  const entries = rest.filter((value) => isRecord(value) && isEntry(value)).length;
  if (rest.length > 0 && entries === 0) return notOurs('there are no messages of a session, only its start');
  return { confidence: 1, reason: 'the first record is the start of a session, with messages after it' };
}

function isEntry({ type, message }: JsonRecord): boolean {
  return type === 'message'
    ? stringAt(message, 'role') !== undefined
    : type === 'compaction_state' || type === 'todo_state';
}

/** Remembers the messages, and the last one that each compaction of Droid's covers: by id or by position among all messages. */
function createSession(): CodecSession {
  const ids = new Map<number, string>();
  const anchors = new Map<number, Json>();

  /** The newest compaction, and the line of the last message that it covers; 0: it precedes every message. */
  const findCompaction = (entries: readonly Entry[]): { readonly line: number | null; readonly covered: number } => {
    const line = entries.findLast(({ kind }) => kind === 'summary')?.line ?? null;
    const anchor = anchors.get(line ?? 0);
    const id = stringAt(anchor, 'id');
    const index = valueAt(anchor, 'index');
    const messages = [...ids];
    const byId = id === undefined ? undefined : messages.findLast(([, known]) => known === id);
    const byIndex = typeof index === 'number' ? messages[index] : undefined;
    return { line, covered: (byId ?? byIndex)?.[0] ?? 0 };
  };
  return createPlainSession({
    what: 'a message that is',
    readHeader: (record) =>
      record['type'] === 'session_start' ? { kind: 'header', ...conversationOf(record, 'id') } : null,
    read: (record, { line, isFirstPass }) => {
      const { type, summaryText, anchorMessage = null } = record;
      if (isFirstPass && type === 'message') ids.set(line, stringAt(record, 'id') ?? '');
      if (isFirstPass && type === 'compaction_state') anchors.set(line, anchorMessage);
      if (type === 'message') return decodeMessage(record, line);
      if (type !== 'compaction_state') return { kind: 'meta', ...(type === 'todo_state' && { latestKey: type }) };
      if (typeof summaryText !== 'string')
        return { problem: 'a compaction_state record whose summaryText is not a string' };
      return decodeSummary(summaryText, { id: stringAt(record, 'id'), line, at: readIsoTime(record['timestamp']) });
    },
    readContext: (entries) => {
      const { line: priorLine, covered } = findCompaction(entries);
      const isOld = ({ line, kind }: Entry): boolean => line !== priorLine && (kind === 'summary' || line <= covered);
      return {
        priorLine,
        isStale: (entry) =>
          (entry.kind === 'message' || entry.kind === 'summary') && (isOld(entry) || entry.isSide === true),
        isInSummary: (entry) => entry.isSide !== true && isOld(entry),
        // It may come after its anchor, among the kept messages, where Droid would take it for the newest.
        mustDrop: ({ kind, line }) => kind === 'summary' && line !== priorLine,
      };
    },
    legalCuts: (entries) => {
      const { covered } = findCompaction(entries);
      const sides = new Set(entries.filter(({ isSide }) => isSide === true).map(({ line }) => line));
      return (line) => {
        if (line <= covered) return "it is before the end of the conversation's last compaction";
        return sides.has(line) ? 'Droid does not send this message' : null;
      };
    },
    renderSummary,
  });
}

/** `visibility`: user_only is not sent; llm_only is Droid's own context, which no person typed. */
function decodeMessage(record: JsonRecord, line: number): Decoded | RecordProblem {
  const { message, timestamp = null } = record;
  if (!isRecord(message)) return { problem: 'a message record without a message' };
  const { role = null, content = null, visibility } = message;
  if (typeof content !== 'string' && !isList(content))
    return { problem: 'a message whose content is neither text nor a list' };
  const read = readAlone({ role, content, timestamp, id: record['id'] ?? null }, line);
  if (!('said' in read)) return read;
  const decoded = toDecoded({ ...read, isSummary: false });
  const said = decoded.message;
  if (visibility !== 'user_only' && visibility !== 'llm_only' && read.content.typed !== undefined && said !== undefined)
    return { ...decoded, message: withTyped(said, said.typed, ruleWords(textBlocks(content))) };
  const { isPrompt: _, ...rest } = withoutTyped(decoded);
  return { ...rest, ...(visibility === 'user_only' && { isSide: true }) };
}

/** A `compaction_state` without an anchor, as the first record of a session that Droid compacted into: it comes before all messages. */
function renderSummary({ text, lastDropped, firstKept, firstDropped, uuid }: SummaryInput): readonly string[] {
  const timestamp = firstText('timestamp', lastDropped, firstKept, firstDropped);
  const record = {
    type: 'compaction_state',
    id: uuid('compaction'),
    ...(timestamp !== undefined && { timestamp }),
    summaryText: text,
    summaryTokens: estimateTokens(text),
    summaryKind: 'llm_summary',
    removedCount: 1,
  };
  return [JSON.stringify(record)];
}
