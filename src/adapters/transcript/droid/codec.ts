import type { ConversationMessage } from '../../../core/message.ts';
import { estimateTokens } from '../../../core/tokens.ts';
import type { Decoded, Entry } from '../../../core/transcript.ts';
import type {
  Codec,
  CodecSession,
  ContextView,
  Detection,
  Json,
  RecordProblem,
  SummaryInput,
} from '../../../ports/codec.ts';
import { readContent } from '../chat-lines/content.ts';
import { classify, toDecoded } from '../chat-lines/decode.ts';
import { findWorkingFolder, isList, isRecord, type JsonRecord, readIsoTime, stringAt } from '../json.ts';
import { refuseDeepNesting, ruleWords, withoutTyped, withTyped } from '../message-parts.ts';

/** Sessions of Factory's Droid: `~/.factory/sessions/<folder>/<session id>.jsonl`. */
export const droid: Codec = {
  format: {
    name: 'droid',
    title: 'Factory Droid session',
    summary: 'sessions of Factory Droid (~/.factory/sessions/**/*.jsonl)',
    checked:
      'read in tests by the rules with which Droid is known to load a session; Droid itself, which needs an account, was not tried',
    places: [{ base: '.factory', folder: 'sessions' }],
    marksTyped: true,
    layout: { kind: 'lines', links: 'order', summaryPlace: 'start' },
  },
  detect: detectDroid,
  readProject: findWorkingFolder(),
  open: createSession,
};

/** The header of pi is of type `session`, and events of Copilot have `data`. */
function detectDroid(sample: readonly Json[]): Detection {
  const [first, ...rest] = sample;
  if (!isRecord(first) || !isHeader(first))
    return { confidence: 0, reason: 'the first record is not the start of a session' };
  const entries = rest.filter((value) => isRecord(value) && isEntry(value)).length;
  if (rest.length > 0 && entries === 0)
    return { confidence: 0, reason: 'there are no messages of a session, only its start' };
  return { confidence: 1, reason: 'the first record is the start of a session, with messages after it' };
}

function isHeader(record: JsonRecord): boolean {
  const isStart = record['type'] === 'session_start' && typeof record['id'] === 'string';
  return isStart && !('data' in record) && !('payload' in record);
}

function isEntry({ type, message }: JsonRecord): boolean {
  if (type === 'message') return isRecord(message) && typeof message['role'] === 'string';
  return type === 'compaction_state' || type === 'todo_state';
}

/** The last message that a compaction of Droid's covers, by id or by position among all messages. */
type Anchor = { readonly id: string | undefined; readonly index: number | undefined };

/** Remembers the header, which compactions have which anchor, and which messages Droid does not send. */
function createSession(): CodecSession {
  const seen = { headerLine: 0 };
  const anchors = new Map<number, Anchor>();
  const ids = new Map<number, string>();

  const read = (value: Json, line: number): Decoded | RecordProblem => {
    if (!isRecord(value)) return { kind: 'meta' };
    const { type } = value;
    if (type === 'session_start') return line === seen.headerLine ? headerOf(value) : { kind: 'meta' };
    if (type === 'compaction_state') return decodeCompaction(value, line);
    if (type !== 'message') return { kind: 'meta', ...(type === 'todo_state' && { latestKey: 'todo_state' }) };
    return refuseDeepNesting('a message that is', () => decodeMessage(value, line));
  };
  const observe = (value: Json, line: number): Decoded | RecordProblem => {
    if (isRecord(value)) {
      if (value['type'] === 'session_start' && seen.headerLine === 0) seen.headerLine = line;
      if (value['type'] === 'message') ids.set(line, stringAt(value, 'id') ?? '');
      const anchor = value['anchorMessage'];
      if (value['type'] === 'compaction_state')
        anchors.set(line, isRecord(anchor) ? anchorOf(anchor) : { id: undefined, index: undefined });
    }
    return read(value, line);
  };
  /** The newest compaction, and the line of the last message that it covers; 0: it precedes every message. */
  const findCompaction = (entries: readonly Entry[]): { readonly line: number | null; readonly covered: number } => {
    const line = entries.findLast(({ kind }) => kind === 'summary')?.line ?? null;
    const anchor = line === null ? undefined : anchors.get(line);
    const lines = [...ids];
    const byId = anchor?.id === undefined ? undefined : lines.findLast(([, id]) => id === anchor.id);
    const byIndex = anchor?.index === undefined ? undefined : lines[anchor.index];
    return { line, covered: (byId ?? byIndex)?.[0] ?? 0 };
  };
  const readContext = (entries: readonly Entry[]): ContextView => {
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
  };
  return {
    observe,
    decode: read,
    readContext,
    legalCuts: (entries) => {
      const { covered } = findCompaction(entries);
      const sides = new Set(entries.filter(({ isSide }) => isSide === true).map(({ line }) => line));
      return (line) => {
        if (line <= covered) return "it is before the end of the conversation's last compaction";
        return sides.has(line) ? 'Droid does not send this message' : null;
      };
    },
    renderSummary,
  };
}

function anchorOf(anchor: JsonRecord): Anchor {
  const { index } = anchor;
  return { id: stringAt(anchor, 'id'), index: typeof index === 'number' ? index : undefined };
}

function headerOf(record: JsonRecord): Decoded {
  const conversation = stringAt(record, 'id');
  return { kind: 'header', ...(conversation !== undefined && { conversation }) };
}

function decodeCompaction(record: JsonRecord, line: number): Decoded | RecordProblem {
  const { summaryText } = record;
  if (typeof summaryText !== 'string')
    return { problem: 'a compaction_state record whose summaryText is not a string' };
  const message: ConversationMessage = {
    id: stringAt(record, 'id') ?? `line:${line}`,
    conversation_id: '',
    role: 'system',
    content: summaryText,
    created_at: readIsoTime(record['timestamp']),
    parts: [{ kind: 'text', text: summaryText }],
  };
  return { kind: 'summary', message };
}

/** `visibility`: user_only is not sent; llm_only is Droid's own context, which no person typed. */
function decodeMessage(record: JsonRecord, line: number): Decoded | RecordProblem {
  const { message, timestamp = null } = record;
  if (!isRecord(message)) return { problem: 'a message record without a message' };
  const { role = null, content = null, visibility } = message;
  if (typeof content !== 'string' && !isList(content))
    return { problem: 'a message whose content is neither text nor a list' };
  const said = classify({ role, content, timestamp, id: record['id'] ?? null });
  if ('problem' in said || said.kind === 'meta') return said;
  const found = readContent(said.record, { line, isResult: said.role === 'tool', findCall: () => null });
  const { typed } = found;
  const decoded = toDecoded({ said, content: found, line, isSummary: false });
  if (visibility !== 'user_only' && visibility !== 'llm_only' && typed !== undefined) {
    const texts = (isList(content) ? content : [content]).map(textOfBlock);
    return {
      ...decoded,
      ...(decoded.message && { message: withTyped(decoded.message, decoded.message.typed, ruleWords(texts)) }),
    };
  }
  const { isPrompt: _, ...rest } = withoutTyped(decoded);
  return { ...rest, ...(visibility === 'user_only' && { isSide: true }) };
}

function textOfBlock(block: Json): string {
  if (typeof block === 'string') return block;
  return isRecord(block) && block['type'] === 'text' ? (stringAt(block, 'text') ?? '') : '';
}

/** A `compaction_state` without an anchor, as the first record of a session that Droid compacted into: it comes before all messages. */
function renderSummary({ text, lastDropped, firstKept, firstDropped, uuid }: SummaryInput): readonly string[] {
  const timestamp = [lastDropped, firstKept, firstDropped ?? null].flatMap((record) =>
    isRecord(record) ? (stringAt(record, 'timestamp') ?? []) : [],
  )[0];
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
