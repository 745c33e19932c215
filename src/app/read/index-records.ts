import { readShownKey } from '../../core/clip-archive.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { isClipArchiveText } from '../../core/split.ts';
import type { Decoded, Entry } from '../../core/transcript.ts';
import type { Codec, CodecSession, Json, RecordProblem } from '../../ports/codec.ts';
import type { SourceFile } from '../../ports/files.ts';
import type { FormatRegistry } from '../../ports/formats.ts';
import type { RawRecord, RecordSplitter } from '../../ports/records.ts';
import type { Progress, RunningHash, Runtime } from '../../ports/runtime.ts';
import { isInterrupted } from '../contract/deps.ts';
import type { Failure } from '../contract/failure.ts';
import { normalizeClipText } from './find-cycles.ts';
import { isBlank } from './open-transcript.ts';
import type { LineStream } from './restore-input.ts';
import { createTextSharer, type MeasureMessage, type ShareText, toEntry } from './entry.ts';
import { parseUntrimmed, readRecords, trimRecord, UTF8_BOM } from './records.ts';

/** The result of the first pass over a transcript: offsets, facts and score features of every record, never its text. */
export type RecordIndex = {
  readonly entries: readonly Entry[];
  readonly lineCount: number;
  /** The first line ending in the file. */
  readonly eol: '\n' | '\r\n';
};

type IndexDeps = {
  readonly formats: FormatRegistry;
  readonly runtime: Runtime;
  readonly progress: Progress;
  readonly signal: AbortSignal;
};

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

const LF = 0x0a;
const CR = 0x0d;
const OPENING_BRACE = 0x7b;

/** Bytes between two checks for signals and terminal output. */
const YIELD_BYTES = 8 * 1024 * 1024;

export async function indexRecords(deps: IndexDeps, input: IndexInput): Promise<Result<RecordIndex, Failure>> {
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
      const entry = indexRecord(deps, input, { raw, share });
      if (!entry.ok) return entry;
      if (isListOpening(raw)) ({ conversation } = entry.value);
      entries.push(raw.list === undefined ? entry.value : inList(entry.value, raw.list, conversation));
      eol ??= raw.eolLength === 0 ? null : raw.eolLength === 2 ? '\r\n' : '\n';
      if (raw.start < nextYield) continue;
      nextYield += YIELD_BYTES;
      deps.progress.update('reading', raw.start, source.sizeBytes);
      if (await isInterrupted(deps)) return err({ kind: 'interrupted' });
    }
  }
  return ok({ entries, lineCount: entries.length, eol: eol ?? '\n' });
}

/** The line and column of the n-th character of a record, which may begin anywhere in a line and span several. */
function faultPlace(
  { line, findPlace }: RawRecord,
  content: Uint8Array,
  column: number,
): { readonly line: number; readonly column: number } {
  const start = findPlace?.() ?? { line, column: 1 };
  if (!content.includes(LF)) return { line: start.line, column: start.column + column - 1 };
  const before = Array.from(new TextDecoder().decode(content)).slice(0, column - 1);
  const ends = before.filter((char) => char === '\n').length;
  return ends === 0
    ? { line: start.line, column: start.column + column - 1 }
    : { line: start.line + ends, column: column - 1 - before.lastIndexOf('\n') };
}

function isListOpening({ around }: RawRecord): boolean {
  return around !== undefined && around !== null;
}

function inList(entry: Entry, list: number, conversation: string | undefined): Entry {
  return conversation === undefined ? { ...entry, list } : { ...entry, list, conversation };
}

function indexRecord(
  { formats, runtime }: IndexDeps,
  input: IndexInput,
  { raw, share }: { readonly raw: RawRecord; readonly share: ShareText },
): Result<Entry, Failure> {
  const { codec, session } = input;
  const place = { line: raw.line, start: raw.start, length: raw.bytes.length };
  if (raw.bytes[0] !== OPENING_BRACE && isBlank(trimRecord(codec, raw.bytes))) return ok({ ...place, kind: 'blank' });
  // A document is only readable as a whole.
  const canCarry = codec.format.layout.kind !== 'document' || raw.list !== undefined;
  const bad = (column: number, problem: string): Result<Entry, Failure> => {
    if (input.keepInvalid && canCarry) return ok({ ...place, kind: raw.around === undefined ? 'opaque' : 'header' });
    const fault = faultPlace(raw, trimRecord(codec, raw.bytes), column);
    return err({ kind: 'bad-line', file: input.name, ...fault, problem, canCarry });
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
  const other = mayBeOther && value !== null ? formats.findClaimant(value, codec) : null;
  if (other !== null) {
    const { line } = faultPlace(raw, trimRecord(codec, raw.bytes), 1);
    return err({ kind: 'mixed-formats', file: input.name, line, format: codec.format.name, other });
  }
  if ('problem' in decoded) return bad(1, decoded.problem);
  const entry = toEntry(decoded, place, { share, measure: input.measure });
  const text = decoded.kind === 'summary' ? (decoded.message?.content ?? '') : '';
  if (!isClipArchiveText(text)) return ok(entry);
  const clip = { textSha256: runtime.sha256(normalizeClipText(text)), key: readShownKey(text) };
  return ok({ ...entry, sha256: runtime.sha256(trimRecord(codec, raw.bytes)), clip });
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
