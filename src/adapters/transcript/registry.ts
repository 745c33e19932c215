import { lazily } from '../../core/lazy.ts';
import type { Codec, Format, Json } from '../../ports/codec.ts';
import { FORMATS } from './formats.ts';
import { isList, isRecord, type JsonRecord, valueAt } from './json.ts';

type Sign = (record: JsonRecord) => boolean;

/** A format whose codec is loaded when a file seems to have it. */
export type KnownFormat = {
  readonly format: Format;
  readonly load: () => Promise<Codec>;
  /** A cheap test, so that few codecs are loaded: without such a record its codec is sure of no file. */
  readonly mayHave: Sign;
};

function known<Name extends keyof typeof FORMATS>(
  name: Name,
  load: () => Promise<Readonly<Record<Name, Codec>>>,
  mayHave: Sign,
): KnownFormat {
  return { format: FORMATS[name], load: lazily(async () => (await load())[name]), mayHave };
}

const has = (record: JsonRecord, ...keys: readonly string[]): boolean => keys.some((key) => key in record);
const hasOne =
  (...keys: readonly string[]): Sign =>
  (record) =>
    has(record, ...keys);
const hasType =
  (types: RegExp, ...orKeys: readonly string[]): Sign =>
  (record) =>
    (typeof record['type'] === 'string' && types.test(record['type'])) || has(record, ...orKeys);

const hasList = hasOne('messages', 'conversations', 'body', 'params', 'modelInput', 'values', 'channel_values');
const LANGCHAIN_TYPE = /^(?:human|ai|system|developer|tool|function|chat)$|MessageChunk$/;
const hasMessage = hasType(LANGCHAIN_TYPE, 'role', 'kwargs');
const TRACE_KEYS = ['resourceSpans', 'resourceLogs', 'attributes', 'run_type', 'traceId', 'trace_id', 'htmlPath'];
const hasTrace = hasOne(...TRACE_KEYS, 'observations', 'runs');
const ITEM_TYPE = /^(?:reasoning|message)$|_(?:call|output)$/;
const GEMINI_TYPE = /^(?:user|gemini|info|error|warning)$/;
const PI_TYPE =
  /^(?:session(?:_info)?|message|compaction|branch_summary|custom(?:_message)?|label|(?:model|thinking_level)_change)$/;

/** Every format, in the order in which they are listed. If two are equally sure of a file, the first one wins. */
export const KNOWN_FORMATS: readonly KnownFormat[] = [
  known(
    'claudeCode',
    () => import('./claude-code/codec.ts'),
    hasOne('parentUuid', 'sessionId', 'leafUuid', 'snapshot'),
  ),
  known('claudeStream', () => import('./agent-streams/claude.ts'), hasOne('session_id')),
  known('codex', () => import('./codex/codec.ts'), hasOne('payload')),
  known('codexExec', () => import('./agent-streams/codex.ts'), hasOne('thread_id', 'item')),
  known('responsesItems', () => import('./codex/codec.ts'), hasType(ITEM_TYPE, 'instructions', 'record_type')),
  known('pi', () => import('./pi/codec.ts'), hasType(PI_TYPE)),
  known('droid', () => import('./droid/codec.ts'), hasType(/^session_start$/)),
  known(
    'gemini',
    () => import('./gemini/codec.ts'),
    (record) =>
      has(record, '$rewindTo', '$set', 'projectHash') || ('content' in record && hasType(GEMINI_TYPE)(record)),
  ),
  known('geminiStream', () => import('./agent-streams/gemini.ts'), hasType(/^init$/, 'tool_id', 'delta')),
  known(
    'qwen',
    () => import('./qwen/codec.ts'),
    (record) => 'systemPayload' in record || isList(valueAt(record, 'message', 'parts')),
  ),
  known('kimiCode', () => import('./kimi-code/codec.ts'), hasType(/^context\./, 'protocol_version')),
  known('copilot', () => import('./copilot/codec.ts'), hasOne('parentId')),
  known(
    'cursor',
    () => import('./cursor/codec.ts'),
    (record) => 'role' in record && 'message' in record,
  ),
  known('traceLines', () => import('./traces/codec.ts'), hasTrace),
  known('traceDocument', () => import('./traces/codec.ts'), hasTrace),
  known('chatLines', () => import('./chat-lines/codec.ts'), hasMessage),
  known('conversationLines', () => import('./conversations/codec.ts'), hasList),
  known('conversationList', () => import('./conversations/codec.ts'), hasList),
  known(
    'conversationDocument',
    () => import('./conversations/codec.ts'),
    (record) => hasList(record) || hasMessage(record) || 'from' in record,
  ),
  known('claudeAi', () => import('./claude-ai/codec.ts'), hasOne('chat_messages')),
  known('chatGpt', () => import('./chatgpt/codec.ts'), hasOne('mapping')),
  known('openCode', () => import('./opencode/codec.ts'), hasOne('info')),
  known('cline', () => import('./cline/codec.ts'), hasOne('role', 'agent')),
  known('geminiDocument', () => import('./gemini/codec.ts'), hasOne('projectHash')),
  known('atif', () => import('./atif/codec.ts'), hasOne('schema_version')),
  known('sweAgent', () => import('./swe-agent/codec.ts'), hasOne('info', 'history', 'trajectory', 'trajectory_format')),
  known('inspect', () => import('./inspect/codec.ts'), hasOne('eval')),
  known('aider', () => import('./aider/codec.ts'), hasOne('aider')),
];

/** Whether a sample, or the list that a document is, has a record that a file of this format may have. */
export function mayBeOf({ mayHave }: KnownFormat, sample: readonly Json[]): boolean {
  return sample.some((value) => (isList(value) ? value : [value]).some((one) => isRecord(one) && mayHave(one)));
}
