import { readShownKey } from '../../core/clip-archive.ts';
import type { ConversationMessage } from '../../core/message.ts';
import type { ImportanceScoringConfig } from '../../core/policy.ts';
import { createFeatureReader } from '../../core/scoring.ts';
import { isClipArchiveText } from '../../core/split.ts';
import { tokensOfBytes } from '../../core/tokens.ts';
import type { Decoded, Entry } from '../../core/transcript.ts';
import type { Codec, CodecSession, Json, RawRecord, RecordProblem, RecordSplitter } from '../../ports/codec.ts';
import type { SourceFile } from '../../ports/files.ts';
import type { RunningHash, Runtime } from '../../ports/runtime.ts';
import { type AppDeps, isInterrupted } from '../contract/deps.ts';
import { stop } from '../contract/failure.ts';
import { isBlank } from './open-transcript.ts';
import { CR, LF, OPENING_BRACE, parseUntrimmed, readRecords, trimRecord, UTF8_BOM } from './records.ts';

/** The result of the first pass over a transcript: offsets, facts and score features of every record, never its text. */
export type RecordIndex = {
  readonly entries: readonly Entry[];
  readonly lineCount: number;
  /** The first line ending in the file. */
  readonly eol: '\n' | '\r\n';
};

type IndexDeps = Pick<AppDeps, 'formats' | 'runtime' | 'progress' | 'signal'>;

/** What the first pass reads: a real file, or one that is being restored. */
export type RecordSource = {
  /** In batches: those of a file that is being restored arrive asynchronously. */
  readonly records: () => Iterable<Iterable<RawRecord>> | AsyncIterable<Iterable<RawRecord>>;
  readonly bomLength: number;
  /** 0: unknown. */
  readonly sizeBytes: number;
};

type IndexInput = {
  readonly source: RecordSource;
  readonly codec: Codec;
  readonly session: CodecSession;
  /** The file's name in messages. */
  readonly name: string;
  /** Undefined: messages are neither scored nor counted, because nothing will be planned. */
  readonly measure?: MeasureMessage;
  /** Fed with every byte of the file. */
  readonly hash?: RunningHash;
  readonly keepInvalid: boolean;
  /** True: a message of another format is an error. False: it is kept like any unknown record. */
  readonly isOneFormat: boolean;
};

/** Bytes between two checks for signals and terminal output. */
const YIELD_BYTES = 8 * 1024 * 1024;

export async function indexRecords(deps: IndexDeps, input: IndexInput): Promise<RecordIndex> {
  const { source, hash } = input;
  if (source.bomLength > 0) hash?.update(UTF8_BOM);
  const entries: Entry[] = [];
  let eol: RecordIndex['eol'] | null = null;
  const share = createTextSharer();
  let conversation: string | undefined; // of the current list
  let nextYield = YIELD_BYTES;
  for await (const batch of source.records()) {
    for (const raw of batch) {
      hash?.update(raw.bytes);
      const indexed = indexRecord(deps, input, { raw, share });
      const entry = indexed instanceof Promise ? await indexed : indexed;
      if (raw.around !== undefined && raw.around !== null) ({ conversation } = entry);
      entries.push(raw.list === undefined ? entry : inList(entry, raw.list, conversation));
      eol ??= raw.eolLength === 0 ? null : raw.eolLength === 2 ? '\r\n' : '\n';
      if (raw.start < nextYield) continue;
      nextYield += YIELD_BYTES;
      deps.progress.update('reading', raw.start, source.sizeBytes);
      if (await isInterrupted(deps)) stop({ kind: 'interrupted' });
    }
  }
  return { entries, lineCount: entries.length, eol: eol ?? '\n' };
}

/** The line and column of the n-th character of a record, which may begin anywhere in a line and span several. */
function faultPlace({ line, findPlace }: RawRecord, content: Uint8Array, column: number) {
  const start = findPlace?.() ?? { line, column: 1 };
  if (!content.includes(LF)) return { line: start.line, column: start.column + column - 1 };
  const before = Array.from(new TextDecoder().decode(content)).slice(0, column - 1);
  const ends = before.filter((char) => char === '\n').length;
  return ends === 0
    ? { line: start.line, column: start.column + column - 1 }
    : { line: start.line + ends, column: column - 1 - before.lastIndexOf('\n') };
}

function inList(entry: Entry, list: number, conversation: string | undefined): Entry {
  return conversation === undefined ? { ...entry, list } : { ...entry, list, conversation };
}

function indexRecord(
  { formats, runtime }: IndexDeps,
  input: IndexInput,
  { raw, share }: { raw: RawRecord; share: ShareText },
): Entry | Promise<Entry> {
  const { codec, session } = input;
  const place = { line: raw.line, start: raw.start, length: raw.bytes.length };
  if (raw.bytes[0] !== OPENING_BRACE && isBlank(trimRecord(codec, raw.bytes))) return { ...place, kind: 'blank' };
  // A document is only readable as a whole.
  const canCarry = codec.format.layout.kind !== 'document' || raw.list !== undefined;
  const bad = (column: number, problem: string): Entry => {
    if (input.keepInvalid && canCarry) return { ...place, kind: raw.around === undefined ? 'opaque' : 'header' };
    const fault = faultPlace(raw, trimRecord(codec, raw.bytes), column);
    return stop({ kind: 'bad-line', file: input.name, ...fault, problem, canCarry });
  };
  const parsed =
    raw.around === undefined ? parseUntrimmed(formats, codec, raw.bytes) : { ok: true as const, value: raw.around };
  if (!parsed.ok) return bad(parsed.column, parsed.problem);
  if (raw.fault !== undefined) {
    const text = new TextDecoder().decode(trimRecord(codec, raw.bytes));
    return bad(Array.from(text).length + 1, raw.fault);
  }
  const { value } = parsed;
  const isAround = raw.around !== undefined;
  const decoded = isAround ? openList(session, value, raw.line) : session.observe(value, raw.line);
  const mayBeOther = input.isOneFormat && ('problem' in decoded || decoded.kind === 'meta' || isAround);
  const finish = (other: string | null): Entry => {
    if (other !== null) {
      const { line } = faultPlace(raw, trimRecord(codec, raw.bytes), 1);
      stop({ kind: 'mixed-formats', file: input.name, line, format: codec.format.name, other });
    }
    if ('problem' in decoded) return bad(1, decoded.problem);
    const entry = toEntry(decoded, place, { share, measure: input.measure });
    const text = decoded.kind === 'summary' ? (decoded.message?.content ?? '') : '';
    if (!isClipArchiveText(text)) return entry;
    const clip = { textSha256: runtime.sha256(normalizeClipText(text)), key: readShownKey(text) };
    return { ...entry, sha256: runtime.sha256(trimRecord(codec, raw.bytes)), clip };
  };
  return mayBeOther && value !== null && formats.mayBeClaimed(value, codec)
    ? formats.findClaimant(value, codec).then(finish)
    : finish(null);
}

/** The text without the white space that a producer may change when it rewrites a record. */
export function normalizeClipText(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** The value around a list, or its rest (null). */
function openList(session: CodecSession, around: Json, line: number): Decoded | RecordProblem {
  const opened = around === null ? {} : (session.openList?.(around, line) ?? {});
  return 'problem' in opened ? opened : { ...opened, kind: 'header' };
}

/** Makes a real file readable for the first pass. */
export function asFileSource(
  source: Pick<SourceFile, 'bomLength' | 'sizeBytes' | 'lines' | 'read'>,
  codec: Codec,
): RecordSource {
  const { bomLength, sizeBytes } = source;
  return { records: () => [readRecords(source, codec)], bomLength, sizeBytes };
}

/**
 * The lines of a file with their line endings, in batches, so that they do not wait for each other one by one. Can be iterated more than
 * once. A line's bytes are valid only until the next line is requested.
 */
export type LineStream = () => AsyncIterable<Iterable<Uint8Array>>;

/** Makes a restored file readable for the first pass. Its size is not known beforehand: 0. */
export function asRecordSource(lines: LineStream, hasBom: boolean, { records }: Pick<Codec, 'records'>): RecordSource {
  const bomLength = hasBom ? UTF8_BOM.length : 0;
  const splitter = (): RecordSplitter => records?.open(bomLength) ?? createLineNumbers(bomLength);
  return { bomLength, sizeBytes: 0, records: () => splitBatches(lines(), splitter()) };
}

async function* splitBatches(
  batches: AsyncIterable<Iterable<Uint8Array>>,
  { add, end }: RecordSplitter,
): AsyncGenerator<Iterable<RawRecord>> {
  for await (const batch of batches) yield splitAll(batch, add);
  yield end();
}

function* splitAll(pieces: Iterable<Uint8Array>, add: RecordSplitter['add']): Generator<RawRecord> {
  for (const piece of pieces) yield* add(piece);
}

/** Each piece is a line. */
function createLineNumbers(bomLength: number): RecordSplitter {
  let start = bomLength;
  let line = 0;
  return {
    add: (bytes) => {
      line += 1;
      const eolLength = bytes.at(-1) !== LF ? 0 : bytes.at(-2) === CR ? 2 : 1;
      const record = { line, start, bytes, eolLength };
      start += bytes.length;
      return [record];
    },
    end: () => [],
  };
}

/** Measures a message for the plan, which never sees its text. */
export type MeasureMessage = (message: ConversationMessage) => Pick<Entry, 'features' | 'tokens' | 'typedTokens'>;

export function createMeasure({ utf8Length }: Runtime, scoring: ImportanceScoringConfig): MeasureMessage {
  const readFeatures = createFeatureReader(scoring);
  const tokensOf = (text: string): number => tokensOfBytes(utf8Length(text));
  return (message) => {
    const { content, typed } = message;
    const measured = { features: readFeatures(message), tokens: tokensOf(content) };
    if (typed === undefined) return measured;
    return { ...measured, typedTokens: typed === content ? measured.tokens : tokensOf(typed) };
  };
}

type Writable<T> = { -readonly [key in keyof T]: T[key] };

/** Turns a decoded line into what the plan keeps of it. Assigns one key after another, which is several times as fast as spreading. */
export function toEntry(
  decoded: Decoded,
  { line, start, length }: { line: number; start: number; length: number },
  { share, measure }: { share: ShareText; measure: MeasureMessage | undefined },
): Entry {
  const { conversation, recordId, parentId, isSide, isAside, calls, results, groupKey, message } = decoded;
  const { isPrompt, isUnmarked, latestKey, hidesBefore } = decoded;
  const entry: Writable<Entry> = { kind: decoded.kind, line, start, length };
  if (conversation !== undefined) entry.conversation = share(conversation);
  if (recordId !== undefined) entry.recordId = share(recordId);
  if (parentId !== undefined) entry.parentId = parentId === null ? null : share(parentId);
  if (isSide !== undefined) entry.isSide = isSide;
  if (isAside !== undefined) entry.isAside = isAside;
  if (calls !== undefined) entry.calls = calls.map(share);
  if (results !== undefined) entry.results = results.map(share);
  if (groupKey !== undefined) entry.groupKey = share(groupKey);
  if (isPrompt !== undefined) entry.isPrompt = isPrompt;
  if (isUnmarked !== undefined) entry.isUnmarked = isUnmarked;
  if (latestKey !== undefined) entry.latestKey = latestKey;
  if (hidesBefore !== undefined) entry.hidesBefore = hidesBefore;
  if (message === undefined) return entry;
  entry.id = share(message.id);
  entry.role = message.role;
  if (measure === undefined) return entry;
  const { features, tokens, typedTokens } = measure(message);
  entry.features = features;
  entry.tokens = tokens;
  if (typedTokens !== undefined) entry.typedTokens = typedTokens;
  return entry;
}

/** Repeated ids follow soon: a parent's in its children, a call's in its result, a conversation's in every line. */
const MAX_REMEMBERED = 2_000;

export type ShareText = (text: string) => string;

/** Makes equal ids of nearby records share one string. Every parsed line has its own strings, and the index keeps half a dozen for each line. */
export function createTextSharer(): ShareText {
  const recent = new Map<string, string>();
  return (text) => {
    const known = recent.get(text);
    if (known !== undefined) return known;
    if (recent.size >= MAX_REMEMBERED) recent.clear();
    recent.set(text, text);
    return text;
  };
}
