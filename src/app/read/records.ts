import type { ConversationMessage } from '../../core/message.ts';
import { readTraits } from '../../core/search/query-hints.ts';
import type { Entry } from '../../core/transcript.ts';
import type { KeptRun, MessageDraft } from '../../ports/archive.ts';
import type {
  Codec,
  CodecSession,
  FormatRegistry,
  Json,
  LineParse,
  RawRecord,
  RecordSplitter,
} from '../../ports/codec.ts';
import type { FileStamp, SourceFile } from '../../ports/files.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { AppDeps } from '../contract/deps.ts';
import { fileRefused } from '../contract/failure.ts';

type Parts = Pick<Codec, 'records'>;

/** A document is in memory as a whole. */
const MAX_DOCUMENT_BYTES = 1024 * 1024 * 1024;
/** A record of any other file; lines have the same limit where they are read. */
export const MAX_RECORD_BYTES = 256 * 1024 * 1024;

/** Every record of a file, in order. A file whose records do not fit in memory ends the use case. */
export function readRecords(
  source: Pick<SourceFile, 'bomLength' | 'sizeBytes' | 'lines' | 'read'>,
  { records }: Parts,
  maxRecordBytes = MAX_RECORD_BYTES,
): IterableIterator<RawRecord> {
  if (records === undefined) return source.lines();
  const { bomLength, sizeBytes } = source;
  if (records.isOne === true && sizeBytes > MAX_DOCUMENT_BYTES)
    throw fileRefused({ kind: 'too-large', limitBytes: MAX_DOCUMENT_BYTES });
  const maxLineBytes = records.isOne === true ? MAX_DOCUMENT_BYTES : maxRecordBytes;
  const refuse = (line: number): never => {
    throw fileRefused({ kind: 'line-too-long', unit: 'record', line, maxLineBytes });
  };
  const pieces = readPieces(source, { from: bomLength, to: sizeBytes });
  return splitPieces(records.open(bomLength), pieces, { maxLineBytes, refuse });
}

type RecordLimit = { readonly maxLineBytes: number; readonly refuse: (line: number) => never };

/** The records of a file that is read in pieces. */
export function* splitPieces(
  { add, end }: RecordSplitter,
  pieces: Iterable<Uint8Array>,
  limit?: RecordLimit,
): Generator<RawRecord> {
  let line = 1;
  let pending = 0;
  for (const piece of pieces) {
    pending += piece.length;
    for (const record of add(piece)) {
      line = record.line + 1;
      pending = piece.length;
      yield record;
    }
    if (limit !== undefined && pending > limit.maxLineBytes) limit.refuse(line);
  }
  yield* end();
}

/** What messages to people call a part of the file. */
export function unitOf({ records }: Parts): 'line' | 'record' {
  return records === undefined ? 'line' : 'record';
}

/** A record without its line ending or separator. */
export function trimRecord({ records }: Parts, bytes: Uint8Array): Uint8Array {
  return records === undefined ? trimEol(bytes) : records.trim(bytes);
}

/** The value of a trimmed record. */
export function parseRecord(formats: Pick<FormatRegistry, 'parseLine'>, { records }: Parts, bytes: Uint8Array) {
  return records === undefined ? formats.parseLine(bytes) : records.parse(bytes);
}

/**
 * The same value for a record with its line ending or separator. JSON allows a line ending behind a value, and a view of each line without it
 * would take as long as a tenth of the parsing; where it does not parse, the fault is that of the trimmed record.
 */
export function parseUntrimmed(formats: Pick<FormatRegistry, 'parseLine'>, parts: Parts, bytes: Uint8Array): LineParse {
  const parsed = parts.records === undefined ? formats.parseLine(bytes) : null;
  return parsed?.ok === true ? parsed : parseRecord(formats, parts, trimRecord(parts, bytes));
}

function trimEol(bytes: Uint8Array): Uint8Array {
  const end = bytes.length - 1;
  if (bytes[end] !== 0x0a) return bytes;
  return bytes.subarray(0, bytes[end - 1] === 0x0d ? end - 1 : end);
}

const PIECE_BYTES = 1024 * 1024;

/** The bytes between two offsets, one MiB at a time. */
export function* readPieces(
  { read }: Pick<SourceFile, 'read'>,
  { from, to }: { from: number; to: number },
): Generator<Uint8Array> {
  for (let start = from; start < to; start += PIECE_BYTES) yield read(start, Math.min(PIECE_BYTES, to - start));
}

/** sha256 of the first bytes of a file's content; null: the file is shorter. */
export function hashPrefix(
  runtime: Pick<Runtime, 'createHash'>,
  source: Pick<SourceFile, 'sizeBytes' | 'read'>,
  sizeBytes: number,
): string | null {
  if (source.sizeBytes < sizeBytes) return null;
  const hash = runtime.createHash();
  for (const piece of readPieces(source, { from: 0, to: sizeBytes })) hash.update(piece);
  return hash.digest();
}

/** The sha256 of the first bytes of a file; null: it cannot be read, or is shorter by now. */
export async function hashContent(
  { files, runtime }: Pick<AppDeps, 'files' | 'runtime'>,
  path: string,
  sizeBytes: number,
): Promise<string | null> {
  const opened = await files.open(path);
  if (!opened.ok) return null;
  try {
    return hashPrefix(runtime, opened.value, sizeBytes);
  } finally {
    opened.value.close();
  }
}

/** The UTF-8 byte order mark. It is read, and written only by a restore. */
export const UTF8_BOM = Uint8Array.of(0xef, 0xbb, 0xbf);
export const LF = 0x0a;
export const CR = 0x0d;
export const OPENING_BRACE = 0x7b;

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const bytes of parts) {
    whole.set(bytes, end);
    end += bytes.length;
  }
  return whole;
}

/** The hash of a kept line: the first half of its sha256, like that of an archived one. A whole one takes as much room as a short line itself. */
export function halfOfSha256({ sha256 }: Pick<Runtime, 'sha256'>, line: Uint8Array | string): string {
  return sha256(line).slice(0, 32);
}

/** The hash of a source line that stays; undefined: it does not. */
export function keptHashes({ kept }: { kept: readonly KeptRun[] }): (line: number) => string | undefined {
  return (line) => {
    let low = 0;
    let high = kept.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const run = kept[middle];
      if (run !== undefined && run.firstLine + run.lineCount <= line) low = middle + 1;
      else high = middle;
    }
    const run = kept[low];
    return run === undefined || line < run.firstLine ? undefined : run.lineSha256[line - run.firstLine];
  };
}

/** Both stamps are of one file, whatever its content. */
export function isSameFile(a: Pick<FileStamp, 'inode' | 'device'>, b: Pick<FileStamp, 'inode' | 'device'>): boolean {
  return a.inode === b.inode && a.device === b.device;
}

/** The same, where the file got another name meanwhile: that alone changes `changedNs`. */
export function isSameContent(a: FileStamp, b: FileStamp): boolean {
  return isSameFile(a, b) && a.sizeBytes === b.sizeBytes && a.mtimeNs === b.mtimeNs;
}

/** Nothing was written to the file between the two stamps. `changedNs` cannot be set by a program that hides a write. */
export function isSameStamp(a: FileStamp, b: FileStamp): boolean {
  return isSameContent(a, b) && a.changedNs === b.changedNs;
}

/** Reads the records of an indexed transcript again. */
export type RecordReaders = {
  /** The exact bytes of an entry's line. */
  readonly readLine: (entry: Entry) => Uint8Array;
  /** The parsed line; null: it is not JSON. */
  readonly readJson: (entry: Entry) => Json | null;
  readonly readMessage: (entry: Entry) => ConversationMessage | null;
  /** What the archive keeps of the message of an entry, whose bytes are at hand in case they must be read again. */
  readonly messageFacts: (entry: Entry, bytes: Uint8Array) => MessageFacts | null;
};

/** What is known of a message without its text. */
type MessageFacts = Omit<MessageDraft, 'index'>;

export function factsOf({ id, role, name, created_at: at, content }: ConversationMessage): MessageFacts {
  return { id, role, name: name ?? null, at, traits: readTraits(content) };
}

/** A message is read to be scored, to be summarized and to be archived. Of most sessions, all fit into this; of others the facts are kept. */
const MAX_KNOWN_CHARS = 4_000_000;

type ReadersInput = {
  readonly source: Pick<SourceFile, 'read'>;
  readonly codec: Codec;
  readonly session: CodecSession;
};

export function createReaders(
  { formats }: Pick<AppDeps, 'formats'>,
  { source, codec, session }: ReadersInput,
): RecordReaders {
  const readLine = (entry: Entry): Uint8Array => source.read(entry.start, entry.length);
  const parse = (bytes: Uint8Array): Json | null => {
    const parsed = parseUntrimmed(formats, codec, bytes);
    return parsed.ok ? parsed.value : null;
  };
  const known = new Map<Entry, ConversationMessage | null>();
  const facts = createFactsTable();
  let roomChars = MAX_KNOWN_CHARS;
  const decode = (entry: Entry, bytes: Uint8Array): ConversationMessage | null => {
    const decoded = session.decode(parse(bytes), entry.line);
    const message = 'problem' in decoded ? null : (decoded.message ?? null);
    roomChars -= bytes.length;
    if (roomChars >= 0) known.set(entry, message);
    else if (message !== null) facts.note(entry, message);
    return message;
  };
  const knownOr = (entry: Entry, bytes: () => Uint8Array): ConversationMessage | null => {
    const message = known.get(entry);
    return message === undefined ? decode(entry, bytes()) : message;
  };
  return {
    readLine,
    readJson: (entry) => parse(readLine(entry)),
    readMessage: (entry) => knownOr(entry, () => readLine(entry)),
    messageFacts: (entry, bytes) => {
      const noted = facts.read(entry);
      const message = noted === null ? knownOr(entry, () => bytes) : null;
      return message === null ? noted : factsOf(message);
    },
  };
}

const [IS_KNOWN, HAS_TIME, IS_QUESTION, MENTIONS_TIME] = [1, 2, 4, 8];

/** The facts of many messages, in a few bytes for each. Ids and roles are those of their entries. */
function createFactsTable() {
  let marks = new Uint8Array();
  let times = new Float64Array();
  const names = new Map<number, string>();
  return {
    note: (entry: Entry, message: ConversationMessage): void => {
      const { line } = entry;
      const { id, role, name, at, traits } = factsOf(message);
      if (id !== entry.id || role !== entry.role) return;
      if (line >= marks.length) {
        const [grownMarks, grownTimes] = [new Uint8Array(2 * line + 1), new Float64Array(2 * line + 1)];
        grownMarks.set(marks);
        grownTimes.set(times);
        [marks, times] = [grownMarks, grownTimes];
      }
      const found = (traits.isQuestion ? IS_QUESTION : 0) + (traits.mentionsTime ? MENTIONS_TIME : 0);
      marks[line] = IS_KNOWN + (at === null ? 0 : HAS_TIME) + found;
      times[line] = at?.getTime() ?? 0;
      if (name !== null) names.set(line, name);
    },
    read: ({ line, id, role }: Entry): MessageFacts | null => {
      const mark = marks[line] ?? 0;
      if (mark === 0 || id === undefined || role === undefined) return null;
      const at = (mark & HAS_TIME) === 0 ? null : new Date(times[line] ?? 0);
      const traits = { isQuestion: (mark & IS_QUESTION) !== 0, mentionsTime: (mark & MENTIONS_TIME) !== 0 };
      return { id, role, name: names.get(line) ?? null, at, traits };
    },
  };
}
