import type { Json, ForeignBytes } from '../../ports/codec.ts';
import { parseBeginning } from './json-list/detect.ts';
import { firstIn, isList, isRecord, type JsonRecord, parseText, stringAt, valueAt } from './json.ts';

const COMPRESSED = 'a compressed file';
/** A file compressed once has been decompressed by now. */
const TWICE = 'a file that was compressed twice';

/** The first bytes of well-known files. UTF-32 comes before UTF-16, because its mark begins with that of UTF-16. */
const SIGNATURES: readonly (ForeignBytes & { readonly bytes: readonly number[] | Uint8Array })[] = [
  { bytes: [0x1f, 0x8b], looksLike: TWICE, advice: 'Unpack it once: gzip -d.' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], looksLike: TWICE, advice: 'Unpack it once: zstd -d.' },
  { bytes: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], looksLike: `${COMPRESSED} (xz)`, advice: 'Unpack it first: xz -d.' },
  { bytes: [...Buffer.from('BZh')], looksLike: `${COMPRESSED} (bzip2)`, advice: 'Unpack it first: bzip2 -d.' },
  {
    bytes: [...Buffer.from('PK'), 3, 4],
    looksLike: 'a zip archive',
    advice: 'Unpack it first, and name a transcript in it.',
  },
  {
    bytes: [...Buffer.from('SQLite format 3'), 0],
    looksLike: 'a SQLite database',
    advice: 'Export its messages as JSON Lines, one message a line.',
  },
  {
    bytes: Buffer.from('PAR1'),
    looksLike: 'a Parquet file',
    advice: 'Export its messages as JSON Lines, one message a line.',
  },
  { bytes: Buffer.from('%PDF-'), looksLike: 'a PDF', advice: 'Name the transcript itself.' },
  {
    bytes: Buffer.from('version https://git-lfs.github.com/'),
    looksLike: 'a pointer of Git LFS',
    advice: 'Fetch the file itself: git lfs pull.',
  },
  { bytes: [0xff, 0xfe, 0, 0], looksLike: 'UTF-32 text', advice: recode('UTF-32') },
  { bytes: [0, 0, 0xfe, 0xff], looksLike: 'UTF-32 text', advice: recode('UTF-32') },
  { bytes: [0xff, 0xfe], looksLike: 'UTF-16 text', advice: recode('UTF-16') },
  { bytes: [0xfe, 0xff], looksLike: 'UTF-16 text', advice: recode('UTF-16') },
];

const UTF8_BOM = [0xef, 0xbb, 0xbf];
const LF = 0x0a;

/** So many bytes show what a file is. More of them only show where the messages of a document are. */
const SIGNIFICANT_BYTES = 4096;

/** Why a file cannot be JSON Lines, from its first bytes (4 KiB are enough); null: it can. */
export function describeBytes(head: Uint8Array): ForeignBytes | null {
  const body = startsWith(head, UTF8_BOM) ? head.subarray(UTF8_BOM.length) : head;
  if (body.length === 0) return { looksLike: 'an empty file', advice: 'Check the path.' };
  const signature = SIGNATURES.find(({ bytes }) => startsWith(body, bytes));
  if (signature !== undefined) return { looksLike: signature.looksLike, advice: signature.advice };
  return describeNuls(body.subarray(0, SIGNIFICANT_BYTES)) ?? describeText(Buffer.from(body).toString('utf8'));
}

/**
 * UTF-16 without a byte order mark has NULs in every second place. NULs in a line after a record, or from some point
 * of the last line to its end, are a problem of that line only: a compacted file may carry such a line and must still
 * be recognized.
 */
function describeNuls(body: Uint8Array): ForeignBytes | null {
  const first = body.indexOf(0);
  if (first < 0) return null;
  const evenNuls = countNuls(body, 0);
  const oddNuls = countNuls(body, 1);
  const half = body.length / 2;
  if (oddNuls > half * 0.7 && evenNuls < half * 0.1) return { looksLike: 'UTF-16 text', advice: recode('UTF-16LE') };
  if (evenNuls > half * 0.7 && oddNuls < half * 0.1) return { looksLike: 'UTF-16 text', advice: recode('UTF-16BE') };
  const linesBefore = body.subarray(0, body.lastIndexOf(LF, first) + 1);
  const isTail = linesBefore.length > 0 && body.subarray(first).every((byte) => byte === 0);
  const texts = Buffer.from(linesBefore).toString('utf8').split('\n');
  const hasRecord = texts.some((text) => text.trimStart().startsWith('{') && parseText(text) !== undefined);
  return isTail || hasRecord
    ? null
    : { looksLike: 'binary data', advice: 'Name a transcript: a text file with one JSON record a line.' };
}

/** `.aider.llm.history`. */
const AIDER_LOG = /^TO LLM \d{4}-\d\d-\d\dT/;

/** The names of at least four columns in the first line, as Langfuse exports them. */
const CSV_HEADER = /^"?[A-Za-z_]\w*"?(?:,"?[A-Za-z_]\w*"?){3,}\r?\n/;

function describeText(text: string): ForeignBytes | null {
  const start = text.trimStart();
  if (/^<(?:!doctype|html|\?xml|head|body)\b/i.test(start)) {
    return { looksLike: 'a web page or XML', advice: 'Export the conversation as JSON Lines, one message a line.' };
  }
  if (AIDER_LOG.test(start))
    return { looksLike: "a log of aider's requests", advice: 'Name .aider.chat.history.md instead.' };
  if (CSV_HEADER.test(start))
    return { looksLike: 'a CSV file', advice: 'Export it as JSON or JSON Lines; Langfuse offers both.' };
  if (!looksLikeDocument(start)) return null;
  const filter = filterFor(findMessage(parseBeginning(start), []) ?? []);
  const advice =
    filter === null
      ? 'Make lines of it: one message a line, with its role and content.'
      : `Make lines of it: jq -c '${filter}' FILE > FILE.jsonl.`;
  return { looksLike: 'one JSON document, not JSON Lines', advice };
}

/** A key, or LIST for every element of a list. */
type PathPart = string | null;
const LIST = null;
const MAX_PATH_PARTS = 8;
const ROLES = ['role', 'from', 'sender', 'author'];

/** Where the first message of a document is; null: it has none that can be recognized. */
function findMessage(value: Json, path: readonly PathPart[]): readonly PathPart[] | null {
  if (path.length > MAX_PATH_PARTS) return null;
  if (isList(value)) return firstIn(value, (element) => findMessage(element, [...path, LIST]));
  if (!isRecord(value)) return null;
  if (path.includes(LIST) && ROLES.some((key) => typeof value[key] === 'string')) return path;
  return firstIn(Object.entries(value), ([key, inner]) => findMessage(inner, [...path, key]));
}

/**
 * What jq makes lines with: a message of each, or a conversation of each if there are several. null: there is nothing to name, or a key
 * would have to be quoted in a shell.
 */
function filterFor(path: readonly PathPart[]): string | null {
  if (path.length === 0 || !path.every((part) => part === LIST || /^\w[\w .-]*$/.test(part))) return null;
  const before = path.lastIndexOf(LIST, path.lastIndexOf(LIST) - 1) + 1;
  const isOne = path.indexOf(LIST) === path.lastIndexOf(LIST);
  if (isOne) return filterOf(path);
  const inner = path.slice(before);
  const list = inner.at(-1) === LIST ? filterOf(inner.slice(0, -1)) : `[${filterOf(inner)}]`;
  return inner.join() === 'messages,'
    ? filterOf(path.slice(0, before))
    : `${filterOf(path.slice(0, before))} | {messages: ${list}}`;
}

function filterOf(path: readonly PathPart[]): string {
  const parts = path.map((part) => (part === LIST ? '[]' : /^[A-Za-z_]\w*$/.test(part) ? `.${part}` : `["${part}"]`));
  const filter = parts.join('');
  return filter.startsWith('.') ? filter : `.${filter}`;
}

function countNuls(bytes: Uint8Array, from: 0 | 1): number {
  let count = 0;
  for (let at = from; at < bytes.length; at += 2) if (bytes[at] === 0) count += 1;
  return count;
}

function startsWith(bytes: Uint8Array, start: readonly number[] | Uint8Array): boolean {
  return Buffer.from(start).equals(bytes.subarray(0, start.length));
}

function recode(encoding: string): string {
  return `Make it UTF-8: iconv -f ${encoding} -t UTF-8 FILE.`;
}

/**
 * Whether a text without leading white space begins one JSON document that spans several lines, or an array. If the
 * first line is cut off but a complete record follows, it is not a document.
 */
export function looksLikeDocument(text: string): boolean {
  const [first = '', second] = text.split('\n', 2);
  if (first.startsWith('[')) return second === undefined || second.trim() === '' || parseText(first) === undefined;
  if (!first.startsWith('{') || second === undefined || parseText(first) !== undefined) return false;
  if (first.trim() === '{') return true;
  return /[{[,:]\s*$/.test(first) && parseText(second) === undefined;
}

/**
 * A format that we recognize but do not read. `isDistinctive`: nobody else writes such a record. `isUsual`: these files
 * have such records too, but so may others.
 */
type ForeignFormat = {
  readonly name: string;
  readonly isDistinctive: (record: JsonRecord) => boolean;
  readonly isUsual?: (record: JsonRecord) => boolean;
};

/**
 * Sources of the shapes: the public repository of Kimi CLI; the references of OTLP,
 * Langfuse and LangSmith; for the others, the documentation of tools that read their files.
 */
const FOREIGN_FORMATS: readonly ForeignFormat[] = [
  {
    name: 'a Kiro session',
    isDistinctive: (record) =>
      /^(?:Prompt|AssistantMessage|ToolResults)$/.test(stringAt(record, 'kind') ?? '') && isRecord(record['data']),
    isUsual: (record) => hasText(record, 'kind') && 'data' in record,
  },
  {
    name: 'an Antigravity transcript',
    isDistinctive: (record) =>
      typeof record['step_index'] === 'number' && hasText(record, 'source') && hasText(record, 'type'),
  },
  {
    name: 'a Grok session',
    isDistinctive: (record) =>
      isGrokItem(record) ||
      (/^(?:_x\.ai\/)?session\/update$/.test(stringAt(record, 'method') ?? '') &&
        isRecord(valueAt(record, 'params', 'update'))),
    isUsual: (record) =>
      !('role' in record) && /^(?:system|user|assistant|reasoning|tool_result)$/.test(stringAt(record, 'type') ?? ''),
  },
  {
    name: 'a wire log of Kimi CLI (the session is context.jsonl beside it)',
    // Kimi Code's sessions begin with such a header too, which has the time when they were created.
    isDistinctive: (record) =>
      (typeof record['timestamp'] === 'number' &&
        stringAt(record, 'message', 'type') !== undefined &&
        isRecord(valueAt(record, 'message', 'payload'))) ||
      (isType(record, 'metadata') && hasText(record, 'protocol_version') && !('created_at' in record)),
  },
  { name: 'metrics of OpenTelemetry', isDistinctive: (record) => isList(record['resourceMetrics']) },
  {
    name: 'a file of batch results',
    isDistinctive: (record) =>
      hasText(record, 'custom_id') && (isRecord(record['response']) || isRecord(record['result'])),
    isUsual: (record) => hasText(record, 'custom_id') && 'error' in record,
  },
  {
    name: 'an ATIF trajectory of a version other than 1.x',
    isDistinctive: (record) => /^ATIF-(?!v1\.)/.test(stringAt(record, 'schema_version') ?? ''),
  },
  {
    name: 'a log of Inspect AI in a version newer than 2',
    isDistinctive: ({ version, status, eval: spec }) =>
      typeof version === 'number' && version > 2 && typeof status === 'string' && isRecord(spec) && 'task' in spec,
  },
  { name: 'a log of requests', isDistinctive: (record) => isRecord(record['request']) && 'response' in record },
];

/**
 * The format of the first records of a file, or of the beginning of a document, if we recognize it but do not read it;
 * null: it is none of these. One record must be unmistakable, and at most half of the records may be of another kind.
 */
export function nameForeign(sample: readonly Json[]): string | null {
  const byHeader = nameByHeader(sample);
  if (byHeader !== null) return byHeader;
  const records = sample.flatMap(elementsOf).filter(isRecord);
  const isOf = ({ isDistinctive, isUsual }: ForeignFormat): boolean => {
    if (!records.some(isDistinctive)) return false;
    const own = records.filter((record) => isDistinctive(record) || isUsual?.(record) === true).length;
    return own >= records.length / 2;
  };
  return FOREIGN_FORMATS.find(isOf)?.name ?? null;
}

/** Sessions of pi that have lost their header, which pi would empty. */
function nameByHeader([first, ...rest]: readonly Json[]): string | null {
  if (!isRecord(first)) return null;
  const records = rest.filter(isRecord);
  const isPiEntry = (record: JsonRecord): boolean =>
    isType(record, 'message') && stringAt(record, 'message', 'role') !== undefined && 'parentId' in record;
  const isHeader = (isType(first, 'session') || isType(first, 'session_start')) && hasText(first, 'id');
  const entries = [first, ...records].filter(isPiEntry).length;
  const areMost = entries > 0 && entries >= (records.length + 1) / 2;
  return !isHeader && areMost ? 'a session of pi or Droid without its header' : null;
}

/** The messages in a list, or in a conversation that is one value; otherwise the value itself. */
function elementsOf(value: Json): readonly Json[] {
  if (isList(value)) return value;
  if (!isRecord(value) || 'role' in value || 'type' in value || !isList(value['messages'])) return [value];
  return value['messages'];
}

function isGrokItem(record: JsonRecord): boolean {
  if ('role' in record || 'message' in record || 'timestamp' in record) return false;
  return (
    (isType(record, 'assistant') && hasText(record, 'content') && ('model_id' in record || 'tool_calls' in record)) ||
    (isType(record, 'user') && ('prompt_index' in record || 'synthetic_reason' in record)) ||
    (isType(record, 'tool_result') && hasText(record, 'tool_call_id'))
  );
}

function isType(record: JsonRecord, type: string): boolean {
  return record['type'] === type;
}

function hasText(record: JsonRecord, key: string): boolean {
  return typeof record[key] === 'string';
}
