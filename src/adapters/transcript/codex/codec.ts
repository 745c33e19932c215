import { hasQuotationNotice } from '../../../core/clip-archive.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import { countOf } from '../../../core/tokens.ts';
import type { Decoded, Entry } from '../../../core/transcript.ts';
import type { Codec, CodecSession, ContextView, Detection, Json, RecordProblem } from '../../../ports/codec.ts';
import { findWorkingFolder, isList, isRecord, type JsonRecord, readIsoTime, stringAt } from '../json.ts';
import { refuseDeepNesting, withoutRuleText, withoutTyped } from '../message-parts.ts';
import { createLineNotes, type Noted, withoutNote } from '../notes.ts';
import { type CodexNote, type NoteOf, worldStateKey } from './content.ts';
import { findAnchors, legalCuts, readContext } from './context.ts';
import { createAnswerTracker, decodeItem, decodeRecord } from './decode.ts';
import { listedTitle } from './listing.ts';
import { renderSummary, renderItem } from './render.ts';

/** Rollouts of Codex: `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-….jsonl`. */
export const codex: Codec = {
  format: {
    name: 'codex',
    title: 'Codex rollout',
    summary: 'Codex rollouts (~/.codex/sessions/**/*.jsonl)',
    checked:
      'compacted files of versions from September 2025 on resumed by Codex 0.169.0, after a second compaction and a turn in between too',
    places: [
      { variable: 'CODEX_HOME', base: '.codex', folder: 'sessions' },
      { variable: 'CODEX_HOME', base: '.codex', folder: 'archived_sessions' },
    ],
    marksTyped: true,
    layout: { kind: 'lines', links: 'order', summaryPlace: 'start' },
  },
  detect: detectCodex,
  readProject: findWorkingFolder('payload'),
  listedTitle,
  open: createSession,
};

/** Items of the Responses API, one a line; Codex rollouts up to September 2025 are such items. */
export const responsesItems: Codec = {
  format: {
    name: 'responses-items',
    title: 'items of the Responses API, one a line',
    summary:
      'items of the Responses API, one a line; Codex rollouts up to September 2025, which Codex itself resumes no more',
    checked: 'restored and verified after up to four compactions',
    layout: { kind: 'lines', links: 'order', summaryPlace: 'before-kept' },
  },
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
  if (own.length === 0) return { confidence: 0, reason: 'no record has a payload and one of the types of a rollout' };
  const hasHeader = own.some((record) => record['type'] === 'session_meta');
  const reason = `${countOf(own.length, 'record')} of a rollout${hasHeader ? '' : ', but no session_meta'}`;
  return { confidence: own.length >= sample.length / 2 ? (hasHeader ? 1 : 0.8) : 0.6, reason };
}

/** How sure we are that these are bare items of the Responses API. */
function detectItems(sample: readonly Json[]): Detection {
  const records = sample.filter(isRecord);
  const items = records.filter(isItem).length;
  const old = records.filter((record) => isOldHeader(record) || 'record_type' in record).length;
  if (items + old === 0) return { confidence: 0, reason: 'no record is an item of the Responses API' };
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
  return type === 'message' && typeof record['role'] === 'string' && hasItemParts(record['content']);
}

function hasItemParts(content: Json | undefined): boolean {
  return (
    isList(content) &&
    content.some((part) => isRecord(part) && /^(?:in|out)put_text$/.test(stringAt(part, 'type') ?? ''))
  );
}

/** Remembers where the header is, whose thread it is, which answer is being given, and how the surroundings changed. */
function createSession(): CodecSession {
  const trackAnswer = createAnswerTracker();
  const notes = createLineNotes<CodexNote>();
  const worldStateKeys = new Map<number, string>();
  const seen = { headerLine: 0, changes: 0, isSubagent: false };

  const read = (value: Json, line: number): Noted<CodexNote> | RecordProblem => {
    const { type, payload } = isRecord(value) ? value : {};
    if (isRecord(payload) && type === 'session_meta' && line === seen.headerLine) return readHeader(payload);
    const latestKey = worldStateKeys.get(line);
    if (latestKey !== undefined) return { kind: 'meta', latestKey };
    const decoded = decodeRecord(value, line);
    return seen.isSubagent && !('problem' in decoded) ? withoutTyped(decoded) : decoded;
  };
  const observe = (value: Json, line: number): Decoded | RecordProblem => {
    const { type, payload } = isRecord(value) ? value : {};
    if (isRecord(payload) && type === 'session_meta' && seen.headerLine === 0) {
      seen.headerLine = line;
      seen.isSubagent = isRecord(payload['source']) && 'subagent' in payload['source'];
    } else if (isRecord(payload) && type === 'world_state') {
      seen.changes = payload['full'] === true ? 0 : seen.changes + 1;
      worldStateKeys.set(line, worldStateKey(seen.changes));
    }
    const decoded = read(value, line);
    return 'problem' in decoded ? decoded : notes.keep(trackAnswer(decoded, line), line);
  };
  return {
    observe,
    decode: (value, line) => withoutNote(read(value, line)),
    readContext: (entries) => readContext(entries, notes.of),
    legalCuts: (entries) => legalCuts(entries, notes.of),
    renderSummary,
  };
}

/** A thread that continues the history in another file is not complete here: a summary would hide the rest. */
function readHeader(payload: JsonRecord): Noted<CodexNote> {
  const conversation = stringAt(payload, 'id');
  const isPart = (payload['history_base'] ?? null) !== null;
  const reason = 'the thread begins in the file of another, which a summary here would hide';
  return {
    kind: 'header',
    ...(conversation !== undefined && { conversation }),
    ...(isPart && { note: { kind: 'obstacle', reason } }),
  };
}

/** Remembers where the header and the summary are, and which answer is being given. */
function createItemSession(): CodecSession {
  const trackAnswer = createAnswerTracker();
  const notes = createLineNotes<CodexNote>();
  const seen = { headerLine: 0, summaryLine: 0, hasBegun: false };

  const read = (value: Json, line: number): Noted<CodexNote> | RecordProblem => {
    if (!isRecord(value) || 'record_type' in value) return { kind: 'meta' };
    if (isOldHeader(value)) {
      const conversation = stringAt(value, 'id');
      if (line !== seen.headerLine) return { kind: 'meta' };
      return { kind: 'header', ...(conversation !== undefined && { conversation }) };
    }
    const decoded = refuseDeepNesting('an item that is', () =>
      decodeItem(value, { line, at: readIsoTime(value['timestamp']) }),
    );
    return 'problem' in decoded ? decoded : withoutRuleText(decoded);
  };
  // A second clip-archive, in the middle, is treated as a message.
  const withClip = (decoded: Noted<CodexNote>, line: number): Noted<CodexNote> =>
    isClip(decoded) ? asClip(decoded, line === seen.summaryLine ? 'summary' : 'message') : decoded;

  const observe = (value: Json, line: number): Decoded | RecordProblem => {
    if (isRecord(value) && isOldHeader(value) && seen.headerLine === 0 && !seen.hasBegun) seen.headerLine = line;
    const decoded = read(value, line);
    if ('problem' in decoded) return decoded;
    if (!seen.hasBegun && isClip(decoded)) seen.summaryLine = line;
    if (decoded.kind === 'message' || isClip(decoded)) seen.hasBegun = true;
    return notes.keep(isClip(decoded) ? withClip(decoded, line) : trackAnswer(decoded, line), line);
  };
  return {
    observe,
    decode: (value, line) => {
      const decoded = read(value, line);
      return 'problem' in decoded ? decoded : withoutNote(withClip(decoded, line));
    },
    readContext: (entries) => readItemContext(entries, notes.of),
    legalCuts: () => () => null,
    renderSummary: (input) => [renderItem(input)],
  };
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

/** The file is the context, so nothing in it is stale. */
function readItemContext(entries: readonly Entry[], noteOf: NoteOf): ContextView {
  const summary = entries.find(({ kind }) => kind === 'summary');
  return { priorLine: summary?.line ?? null, isStale: () => false, anchorOf: findAnchors(entries, noteOf) };
}
