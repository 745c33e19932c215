import { hasQuotationNotice } from '../../../core/clip-archive.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import { countOf } from '../../../core/tokens.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Codec, CodecSession, Detection, Json, ListedFile, SummaryInput } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import {
  firstIn,
  isList,
  isRecord,
  type JsonRecord,
  listAt,
  readIsoTime,
  recordAt,
  recordsAt,
  stringAt,
  textReader,
  valueAt,
} from '../json.ts';
import { createSession as createPlainSession, type Noted, notOurs } from '../session.ts';
import { asTitle, listedRecords } from '../listed-title.ts';
import { summaryRole, withoutRuleText, withoutTyped } from '../message-parts.ts';
import { conversationOf, firstText } from '../said.ts';
import { findAnchors, legalCuts, readContext } from './context.ts';
import { carriedItems, type CodexNote, createAnswerTracker, decodeItem, decodeRecord } from './decode.ts';

/** Rollouts of Codex: `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-….jsonl`. */
export const codex: Codec = {
  format: FORMATS.codex,
  detect: detectCodex,
  readProject: textReader('payload', 'cwd'),
  readModel: textReader('payload', 'model'),
  listedTitle,
  open: createSession,
};

/** Items of the Responses API, one a line; Codex rollouts up to September 2025 are such items. */
export const responsesItems: Codec = {
  format: FORMATS.responsesItems,
  detect: detectItems,
  open: createItemSession,
};

/** The types of a rollout's records, each of which has a payload. */
const RECORD_TYPES = new Set([
  'session_meta',
  'response_item',
  'event_msg',
  'turn_context',
  'compacted',
  'world_state',
  'token_usage_record',
  'inter_agent_communication',
  'inter_agent_communication_metadata',
]);

/** How sure we are that these are records of a Codex rollout. */
function detectCodex(sample: readonly Json[]): Detection {
  const records = sample.filter(isRecord);
  const own = records.filter(
    (record) => RECORD_TYPES.has(stringAt(record, 'type') ?? '') && isRecord(record['payload']),
  );
  if (own.length === 0) return notOurs('no record has a payload and one of the types of a rollout');
  const hasHeader = own.some((record) => record['type'] === 'session_meta');
  const reason = `${countOf(own.length, 'record')} of a rollout${hasHeader ? '' : ', but no session_meta'}`;
  return { confidence: own.length >= sample.length / 2 ? (hasHeader ? 1 : 0.8) : 0.6, reason };
}

/** How sure we are that these are bare items of the Responses API. */
function detectItems(sample: readonly Json[]): Detection {
  const records = sample.filter(isRecord);
  const items = records.filter(isItem).length;
  const old = records.filter((record) => isOldHeader(record) || 'record_type' in record).length;
  if (items + old === 0) return notOurs('no record is an item of the Responses API');
  const reason = `${countOf(items, 'item')} of the Responses API${old > 0 ? ', and a header of older Codex versions' : ''}`;
  return { confidence: items + old >= sample.length / 2 ? 0.95 : 0.5, reason };
}

/** The first line of a rollout up to September 2025. */
function isOldHeader(record: JsonRecord): boolean {
  if ('type' in record || 'role' in record) return false;
  return typeof record['id'] === 'string' && typeof record['timestamp'] === 'string' && 'instructions' in record;
}

function isItem(record: JsonRecord): boolean {
  const type = stringAt(record, 'type') ?? '';
  if (type === 'reasoning') return isList(record['summary']);
  if (/(?:_call|_output)$/.test(type)) return !('role' in record) && !('message' in record);
  const parts = recordsAt(record, 'content');
  const hasText = parts.some((part) => /^(?:in|out)put_text$/.test(stringAt(part, 'type') ?? ''));
  return type === 'message' && typeof record['role'] === 'string' && hasText;
}

/** Remembers whose thread it is, which answer is being given, and how the surroundings changed. */
function createSession(): CodecSession {
  const trackAnswer = createAnswerTracker();
  const worldStateKeys = new Map<number, string>();
  let changes = 0;
  let isSubagent = false;
  return createPlainSession<CodexNote>({
    what: 'an item that is',
    readHeader: ({ type, payload }) => {
      if (type !== 'session_meta' || !isRecord(payload)) return null;
      isSubagent = valueAt(payload, 'source', 'subagent') !== undefined;
      // A thread that continues the history in another file is not complete here: a summary would hide the rest.
      const isPart = (payload['history_base'] ?? null) !== null;
      const reason = 'the thread begins in the file of another, which a summary here would hide';
      return {
        kind: 'header',
        ...conversationOf(payload, 'id'),
        ...(isPart && { note: { kind: 'obstacle', reason } }),
      };
    },
    read: (record, { line, isFirstPass }) => {
      const { type, payload } = record;
      if (isFirstPass && type === 'world_state' && isRecord(payload)) {
        // Codex records the whole environment of a thread, then each change, and works out from both what it has told the model. The latest
        // full record and every change since must stay, so each change has its own key.
        changes = payload['full'] === true ? 0 : changes + 1;
        worldStateKeys.set(line, changes === 0 ? type : `${type}+${changes}`);
      }
      const latestKey = worldStateKeys.get(line);
      if (latestKey !== undefined) return { kind: 'meta', latestKey };
      const decoded = decodeRecord(record, line);
      if ('problem' in decoded) return decoded;
      const own = isSubagent ? withoutTyped(decoded) : decoded;
      return isFirstPass ? trackAnswer(own, line) : own;
    },
    readContext,
    legalCuts,
    renderSummary,
  });
}

/** Remembers where the conversation begins: there a clip-archive is the summary. And which answer is being given. */
function createItemSession(): CodecSession {
  const trackAnswer = createAnswerTracker();
  let firstLine = 0;
  return createPlainSession<CodexNote>({
    what: 'an item that is',
    readHeader: (record) =>
      firstLine === 0 && isOldHeader(record) && !('record_type' in record)
        ? { kind: 'header', ...conversationOf(record, 'id') }
        : null,
    read: (record, { line, isFirstPass }) => {
      if ('record_type' in record) return { kind: 'meta' };
      const decoded = decodeItem(record, { line, at: readIsoTime(record['timestamp']) });
      if ('problem' in decoded) return decoded;
      if (isFirstPass && firstLine === 0 && (decoded.kind === 'message' || isClip(decoded))) firstLine = line;
      // A second clip-archive, in the middle, is treated as a message.
      if (isClip(decoded)) return asClip(decoded, line === firstLine ? 'summary' : 'message');
      const own = withoutRuleText(decoded);
      return isFirstPass ? trackAnswer(own, line) : own;
    },
    // The file is the context, so nothing in it is stale.
    readContext: (entries, noteOf) => ({
      priorLine: entries.find(({ kind }) => kind === 'summary')?.line ?? null,
      isStale: () => false,
      anchorOf: findAnchors(entries, noteOf),
    }),
    // The summary as a bare item: only its first words and its role distinguish it from other messages.
    renderSummary: (input) => {
      const item = summaryItem(summaryRole(input), input.text);
      return [JSON.stringify({ timestamp: stamp(input)['timestamp'], ...item })];
    },
  });
}

/** A clip-archive is not typed by anyone, whatever its role. */
function asClip(decoded: Noted<CodexNote>, kind: 'summary' | 'message'): Noted<CodexNote> {
  const { message } = decoded;
  return {
    ...decoded,
    kind,
    isPrompt: false,
    ...(message !== undefined && { message: { ...message, role: 'system' } }),
  };
}

function isClip({ message }: Decoded): boolean {
  if (message?.role === 'user') return hasQuotationNotice(message.content);
  return message?.role === 'system' && isClipArchiveText(message.content);
}

/** The event with the title, if it has to be written, and the compaction. Between ordinals that follow each other there is no room for it. */
function renderSummary(input: SummaryInput): readonly string[] {
  const { text, prior = null, listedAs, firstDropped = null } = input;
  const own = stamp(input);
  // A `compacted` record like Codex's own. Its history holds the instructions left in the history of the previous compaction, and then the
  // summary as a user message. `message` is for versions without such a history.
  const history = [...carriedItems(prior), summaryItem('user', text)];
  const compaction = JSON.stringify({
    ...own,
    type: 'compacted',
    payload: { message: text, replacement_history: history },
  });
  const before = { ...own, ...stamp({ ...input, lastDroppedBefore: firstDropped }) };
  const hasRoom = own['ordinal'] === undefined || Number(before['ordinal']) < Number(own['ordinal']);
  if (listedAs === undefined || !hasRoom) return [compaction];
  // As when somebody enters a prompt: such an event is for the screen and never sent.
  const payload = { type: 'user_message', message: listedAs, images: [], local_images: [] };
  return [JSON.stringify({ ...before, type: 'event_msg', payload }), compaction];
}

function summaryItem(role: 'user' | 'system', text: string): JsonRecord {
  return { type: 'message', role, content: [{ type: 'input_text', text }] };
}

/**
 * The time of the last record that left. If records have ordinals: the one that became free right before, so that they
 * keep rising.
 */
function stamp({ firstKept, lastDropped, lastDroppedBefore = null }: SummaryInput): JsonRecord {
  const timestamp = firstText('timestamp', lastDropped, firstKept);
  const ordinals = [lastDroppedBefore, lastDropped].map((record) => valueAt(record, 'ordinal'));
  const ordinal = ordinals.find((value) => value !== undefined);
  return {
    ...(timestamp !== undefined && { timestamp }),
    ...(typeof ordinal === 'number' && { ordinal }),
  };
}

/** How many lines Codex reads in search of a title: 10 records, and 200 more until it has found one. */
const HEAD_LINES = 210;

/** Editors put what they add to a prompt before these words. */
const PROMPT_BEGINS = '## My request for Codex:';

/**
 * The title in Codex's list, as codex-rs/rollout/src/list.rs finds it in a rollout: the first event with a prompt or a
 * goal. A rollout without one is hidden. A name that was given to a thread is in an index beside the rollouts.
 */
function listedTitle(file: ListedFile): string | null {
  const head = listedRecords(file, 'start', { maxLines: HEAD_LINES, isWanted: ({ kind = 'meta' }) => kind === 'meta' });
  return asTitle(
    firstIn(head, (record) => (record['type'] === 'event_msg' ? preview(recordAt(record, 'payload')) : null)),
  );
}

function preview(event: JsonRecord): string | null {
  if (event['type'] === 'thread_goal_updated') return asTitle(stringAt(event, 'goal', 'objective'));
  if (event['type'] !== 'user_message') return null;
  const message = stringAt(event, 'message') ?? '';
  const begin = message.indexOf(PROMPT_BEGINS);
  const hasImage = [...listAt(event, 'images'), ...listAt(event, 'local_images')].length > 0;
  return asTitle(begin < 0 ? message : message.slice(begin + PROMPT_BEGINS.length)) ?? (hasImage ? '[Image]' : null);
}
