import { hasQuotationNotice } from '../../../core/clip-archive.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded, Entry, EntryFacts } from '../../../core/transcript.ts';
import type { Codec, CodecSession, ContextView, Detection, Json, RecordProblem } from '../../../ports/codec.ts';
import { findWorkingFolder, isList, isRecord, type JsonRecord, readIsoTime, stringAt } from '../json.ts';
import { refuseDeepNesting, withoutTyped } from '../message-parts.ts';
import { worldStatePin } from './content.ts';
import { findCompanions, legalCuts, readContext } from './context.ts';
import { createAnswerTracker, decodeItem, decodeRecord } from './decode.ts';
import { renderCompaction, renderItem } from './render.ts';

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
    isChain: false,
    summaryStandsFirst: true,
  },
  detect: detectCodex,
  readProject: findWorkingFolder('payload'),
  open: createSession,
};

/** Items of the Responses API, one a line, and Codex's rollouts up to September 2025, which are such items. */
export const responsesItems: Codec = {
  format: {
    name: 'responses-items',
    title: 'items of the Responses API, one a line',
    summary:
      'items of the Responses API, one a line; Codex rollouts up to September 2025, which Codex itself resumes no more',
    checked: 'restored and verified after up to four compactions',
    isChain: false,
  },
  detect: detectItems,
  open: createItemSession,
};

/** Types of a rollout's records; a payload stands in each. */
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

/** How sure it is that these are records of a Codex rollout. */
function detectCodex(sample: readonly Json[]): Detection {
  const records = sample.filter(isRecord);
  const own = records.filter(
    (record) => RECORD_TYPES.has(stringAt(record, 'type') ?? '') && isRecord(record['payload']),
  );
  if (own.length === 0) return { confidence: 0, reason: 'no record has a payload and one of the types of a rollout' };
  const hasHeader = own.some((record) => record['type'] === 'session_meta');
  const reason = `${count(own.length, 'record')} of a rollout${hasHeader ? '' : ', but no session_meta'}`;
  return { confidence: own.length >= sample.length / 2 ? (hasHeader ? 1 : 0.8) : 0.6, reason };
}

/** How sure it is that these are bare items of the Responses API. */
function detectItems(sample: readonly Json[]): Detection {
  const records = sample.filter(isRecord);
  const items = records.filter(isItem).length;
  const old = records.filter((record) => isOldHeader(record) || 'record_type' in record).length;
  if (items + old === 0) return { confidence: 0, reason: 'no record is an item of the Responses API' };
  const reason = `${count(items, 'item')} of the Responses API${old > 0 ? ', and a header of older Codex versions' : ''}`;
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

function count(total: number, noun: string): string {
  return `${total} ${noun}${total === 1 ? '' : 's'}`;
}

/** Remembers where the header stands, whose thread it is, which answer is being given, and how many changes of the surroundings were noted since all were. */
function createSession(): CodecSession {
  const trackAnswer = createAnswerTracker();
  const seen = { headerLine: 0, lastLine: 0, changes: 0, isSubagent: false };

  const readOwn = (record: JsonRecord, line: number): EntryFacts | null => {
    const { type, payload } = record;
    if (!isRecord(payload)) return null;
    if (type === 'session_meta' && (seen.headerLine === 0 || seen.headerLine === line)) {
      seen.headerLine = line;
      seen.isSubagent = isRecord(payload['source']) && 'subagent' in payload['source'];
      return readHeader(payload);
    }
    if (type !== 'world_state') return null;
    if (line > seen.lastLine) seen.changes = payload['full'] === true ? 0 : seen.changes + 1;
    return { kind: 'meta', pin: worldStatePin(seen.changes) };
  };
  const decode = (value: Json, line: number): Decoded | RecordProblem => {
    const own = isRecord(value) ? readOwn(value, line) : null;
    const decoded = own ?? decodeRecord(value, line);
    const isNew = line > seen.lastLine;
    seen.lastLine = Math.max(seen.lastLine, line);
    if ('problem' in decoded) return decoded;
    const told = seen.isSubagent ? withoutTyped(decoded) : decoded;
    return isNew ? trackAnswer(told, line) : told;
  };
  return { decode, readContext, legalCuts, renderSummary: (input) => [renderCompaction(input)] };
}

/** A thread that only goes on from the history of another, in another file, is not whole here: a summary would hide the rest. */
function readHeader(payload: JsonRecord): EntryFacts {
  const conversation = stringAt(payload, 'id');
  const isPart = (payload['history_base'] ?? null) !== null;
  return {
    kind: 'header',
    ...(conversation !== undefined && { conversation }),
    ...(isPart && { obstacle: 'the thread begins in the file of another, which a summary here would hide' }),
  };
}

/** Remembers where the header and the summary stand, and which answer is being given. */
function createItemSession(): CodecSession {
  const trackAnswer = createAnswerTracker();
  const seen = { headerLine: 0, summaryLine: 0, hasBegun: false, lastLine: 0 };

  const read = (value: Json, line: number): Decoded | RecordProblem => {
    if (!isRecord(value) || 'record_type' in value) return { kind: 'meta' };
    if (isOldHeader(value)) {
      if (seen.headerLine === 0 && !seen.hasBegun) seen.headerLine = line;
      const conversation = stringAt(value, 'id');
      if (line !== seen.headerLine) return { kind: 'meta' };
      return { kind: 'header', ...(conversation !== undefined && { conversation }) };
    }
    return refuseDeepNesting('an item that is', () => decodeItem(value, { line, at: readIsoTime(value['timestamp']) }));
  };
  const noteNew = (decoded: Decoded, line: number): void => {
    if (!seen.hasBegun && isClip(decoded)) seen.summaryLine = line;
    if (decoded.kind === 'message' || isClip(decoded)) seen.hasBegun = true;
  };
  const decode = (value: Json, line: number): Decoded | RecordProblem => {
    const decoded = read(value, line);
    if ('problem' in decoded) return decoded;
    const isNew = line > seen.lastLine;
    seen.lastLine = Math.max(seen.lastLine, line);
    if (isNew) noteNew(decoded, line);
    // A second one, in the middle, tells what was said, and goes as that does.
    if (isClip(decoded)) return asClip(decoded, line === seen.summaryLine ? 'summary' : 'message');
    return isNew ? trackAnswer(decoded, line) : decoded;
  };
  return {
    decode,
    readContext: readItemContext,
    legalCuts: () => () => null,
    renderSummary: (input) => [renderItem(input)],
  };
}

/** Nobody typed it, whoever's message it is. */
function asClip(decoded: Decoded, kind: 'summary' | 'message'): Decoded {
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

/** The file is the context: nothing in it is stale. */
function readItemContext(entries: readonly Entry[]): ContextView {
  const summary = entries.find(({ kind }) => kind === 'summary');
  return { priorLine: summary?.line ?? null, isStale: () => false, companionOf: findCompanions(entries) };
}
