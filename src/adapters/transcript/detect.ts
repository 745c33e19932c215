import type { Codec, Format, Json, FormatRegistry, FormatSearch } from '../../ports/codec.ts';
import { FORMATS } from './formats.ts';
import { describeBytes, looksLikeDocument, nameForeign } from './foreign.ts';
import { parseJsonLine } from './json-lines.ts';
import { parseBeginning } from './json-list/detect.ts';
import { lazily } from '../../core/lazy.ts';
import { isList, isRecord, type JsonRecord, valueAt } from './json.ts';

export const formatRegistry: FormatRegistry = {
  list: () => Object.values(FORMATS),
  load: async (name) => (await KNOWN_FORMATS.find(({ format }) => format.name === name)?.load()) ?? null,
  detect: detectFormat,
  detectDocument,
  mayBeClaimed: (value, own) => claimantsOf(value, own).length > 0,
  findClaimant,
  describeBytes,
  parseLine: parseJsonLine,
};

/** A codec that is less sure only says what it saw. */
const MIN_CONFIDENCE = 0.5;

/**
 * The format of a file that is one JSON value or other text, from its first bytes. null: the file is not one value, or it could be
 * one line of JSON and no document format claims it.
 */
export async function detectDocument(head: Uint8Array, isWhole: boolean): Promise<FormatSearch | null> {
  const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('utf8').trimStart();
  // The headers of its sessions are the only sure sign of the one format that is not JSON.
  if (text.startsWith('# aider chat started at '))
    return { kind: 'found', codec: (await import('./aider/codec.ts')).aider };
  if (!text.startsWith('{') && !text.startsWith('[')) return null;
  const firstEnd = text.indexOf('\n');
  const isOneLine = firstEnd < 0 || (isWhole && text.slice(firstEnd).trim() === '');
  const mayBeLines = !isOneLine && !looksLikeDocument(text);
  if (mayBeLines && text.startsWith('{')) return null;
  const beginning = parseBeginning(text);
  // A file with one line may get more lines later: it is a document only if no format of lines knows it.
  if (isOneLine && (await detectFormat([beginning])).kind === 'found') return null;
  const found = await search(DOCUMENTS, [beginning]);
  if (found.kind === 'found' || found.looksLike !== null) return found;
  const printed = isOneLine ? null : await findPrinted(head, beginning);
  if (printed !== null) return { kind: 'found', codec: printed };
  const isOther = mayBeLines || (isOneLine && text.startsWith('{'));
  return isOther ? null : found;
}

/** The format of lines whose records may be pretty-printed one after another, and are in this file. */
async function findPrinted(head: Uint8Array, beginning: Json): Promise<Codec | null> {
  const codecs = await Promise.all(OF_LINES.map(({ load }) => load()));
  const printed = codecs.filter(({ records }) => records?.spansLines === true);
  return surest(printed.map((codec) => judge(codec, samplePrinted(head, codec) ?? [beginning])));
}

/** The complete records in the first bytes of a file; null: there is none. */
function samplePrinted(head: Uint8Array, { records }: Codec): readonly Json[] | null {
  const found = Array.from(records?.open(0).add(head) ?? []).flatMap(({ bytes }) => {
    const parsed = parseJsonLine(bytes);
    return parsed.ok ? [parsed.value] : [];
  });
  return found.length === 0 ? null : found;
}

/** The format that is most sure of the first records; or what they look like, and why each format is not theirs. */
export async function detectFormat(sample: readonly Json[]): Promise<FormatSearch> {
  return search(OF_LINES, sample);
}

async function search(formats: readonly KnownFormat[], sample: readonly Json[]): Promise<FormatSearch> {
  // A known format without a codec is refused by name, however much its records look like those of another.
  const looksLike = nameForeign(sample);
  const likely = looksLike === null ? formats.filter((format) => mayBeOf(format, sample)) : [];
  const codec = surest(await judgeAll(likely, sample));
  if (codec !== null) return { kind: 'found', codec };
  const near = (await judgeAll(formats, sample)).map(({ codec: { format }, reason }) => ({
    format: format.name,
    reason,
  }));
  return { kind: 'unknown', looksLike, near };
}

type Verdict = { readonly codec: Codec; readonly confidence: number; readonly reason: string };

function judge(codec: Codec, sample: readonly Json[]): Verdict {
  return { codec, ...codec.detect(sample) };
}

async function judgeAll(formats: readonly KnownFormat[], sample: readonly Json[]): Promise<readonly Verdict[]> {
  return Promise.all(formats.map(async ({ load }) => judge(await load(), sample)));
}

function surest(verdicts: readonly Verdict[]): Codec | null {
  const highest = verdicts.reduce((most, { confidence }) => Math.max(most, confidence), 0);
  return highest < MIN_CONFIDENCE ? null : (verdicts.find(({ confidence }) => confidence === highest)?.codec ?? null);
}

/** With less than this, a record is unknown to the format of its file. */
const MIN_OWN = 0.3;
/** With at least this, a single record surely has the format. */
const MIN_CLAIM = 0.7;

function claimantsOf(value: Json, own: Codec): readonly KnownFormat[] {
  if (own.format.layout.kind === 'document' || own.detect([value]).confidence >= MIN_OWN) return [];
  return OF_LINES.filter((other) => other.format !== own.format && mayBeOf(other, [value]));
}

/** The other format of lines whose message or header this record is, if `own` does not know it; null: none. */
async function findClaimant(value: Json, own: Codec): Promise<string | null> {
  const verdicts = await judgeAll(claimantsOf(value, own), [value]);
  const claimant = verdicts.find(({ codec, confidence }) => confidence >= MIN_CLAIM && says(codec, value));
  return claimant?.codec.format.name ?? null;
}

function says({ records, open }: Codec, value: Json): boolean {
  if (records !== undefined) return true; // a list with messages in it
  const decoded = open().observe(value, 1);
  return 'kind' in decoded && ['message', 'instruction', 'header'].includes(decoded.kind);
}

type Sign = (record: JsonRecord) => boolean;

/** A format whose codec is loaded when a file seems to have it. */
type KnownFormat = {
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

/** Formats of JSON Lines. */
const OF_LINES = KNOWN_FORMATS.filter(({ format }) => format.layout.kind !== 'document' && format !== FORMATS.aider);
const DOCUMENTS = KNOWN_FORMATS.filter(({ format }) => format.layout.kind === 'document');

/** Whether a sample, or the list that a document is, has a record that a file of this format may have. */
export function mayBeOf({ mayHave }: KnownFormat, sample: readonly Json[]): boolean {
  return sample.some((value) => (isList(value) ? value : [value]).some((one) => isRecord(one) && mayHave(one)));
}
