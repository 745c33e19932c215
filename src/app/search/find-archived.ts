import { originOf, SHOWN_KEY_DIGITS } from '../../core/clip-archive.ts';
import type { ConversationMessage } from '../../core/message.ts';
import { readTraits } from '../../core/search/query-hints.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type {
  ArchivedBatch,
  ArchivedLine,
  ArchiveLookup,
  BatchName,
  CompactionSummary,
  CapturedFacts,
} from '../../ports/archive-lookup.ts';
import type { Archive } from '../../ports/archive.ts';
import type { Codec, FormatRegistry } from '../../ports/codec.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { LookupFailure } from '../contract/failure.ts';
import { concat, parseRecord, parseUntrimmed, splitPieces, trimRecord } from '../read/records.ts';

export type FoundArchived =
  | { readonly kind: 'batch'; readonly batch: ArchivedBatch }
  | { readonly kind: 'line'; readonly line: ArchivedLine }
  | { readonly kind: 'compaction'; readonly key: string; readonly compaction: CompactionSummary };

/** How many candidates are named if a name is ambiguous or unknown. */
const MAX_NAMED = 5;
const KEY = new RegExp(`^[\\da-f]{${SHOWN_KEY_DIGITS},64}$`);
const LABEL_START = 'compaction-batch-';
/** How many characters after that a mistyped label must share; with fewer the two are unrelated. */
const MIN_SHARED = 4;

/**
 * Finds what a name means: a label, `batch:N`, `message:N`, `captured:N`, a clip-archive's key, a message's own id, or the unique beginning of a label. A
 * key is tried before an id because the ids come from the transcript's author.
 */
export async function findArchived(archive: Archive, name: string, sha256: Runtime['sha256']) {
  return (
    (await findBatch(archive, { kind: 'label', label: name })) ??
    (await findByNumber(archive, name)) ??
    (await findByKey(archive, name, sha256)) ??
    (await findByMessageId(archive, name)) ??
    (await findByPrefix(archive, name)) ??
    err({ kind: 'not-archived', name, near: await nearNames(archive, name), archive: archive.path })
  );
}

type Outcome = Result<FoundArchived, LookupFailure> | null;

async function findBatch(archive: Archive, name: BatchName): Promise<Outcome> {
  const [batch] = await archive.findBatches(name, 1);
  return batch === undefined ? null : ok({ kind: 'batch', batch });
}

async function findByNumber(archive: Archive, name: string): Promise<Outcome> {
  const [, kind, digits] = /^(batch|message|captured):(\d{1,15})$/.exec(name) ?? [];
  if (digits === undefined) return null;
  const id = Number(digits);
  if (kind === 'batch') return findBatch(archive, { kind: 'id', id });
  const [line] = await archive.findLines({ kind: 'id', id: kind === 'captured' ? -id : id }, 1);
  return line === undefined ? null : ok({ kind: 'line', line });
}

/** What `compact show` calls an archived or a captured message. */
export function nameLine(lineId: number): string {
  return lineId < 0 ? `captured:${-lineId}` : `message:${lineId}`;
}

async function findByMessageId(archive: Archive, name: string): Promise<Outcome> {
  if (name === '') return null;
  const lines = await archive.findLines({ kind: 'message', messageId: name }, MAX_NAMED + 1);
  const [line, second] = lines;
  if (line === undefined) return null;
  if (second === undefined) return ok({ kind: 'line', line });
  return ambiguous(
    name,
    lines.map((one) => ({ name: nameLine(one.lineId), about: `line ${one.line} of ${one.sourcePath}` })),
  );
}

/** Finds the newest compaction if the same file was compacted more than once. */
async function findByKey(archive: Archive, name: string, sha256: Runtime['sha256']): Promise<Outcome> {
  const key = name.toLowerCase();
  if (!KEY.test(key)) return null;
  const compaction = (await archive.listCompactions()).find((one) =>
    sha256(originOf(one.sourceSha256, one.settingsSha256)).startsWith(key),
  );
  return compaction === undefined ? null : ok({ kind: 'compaction', key, compaction });
}

async function findByPrefix(archive: Archive, name: string): Promise<Outcome> {
  if (name === '') return null;
  for (const prefix of [name, LABEL_START + name]) {
    const batches = await archive.findBatches({ kind: 'prefix', prefix }, MAX_NAMED + 1);
    const [batch, second] = batches;
    if (batch === undefined) continue;
    if (second === undefined) return ok({ kind: 'batch', batch });
    return ambiguous(
      name,
      batches.map(({ id, label }) => ({ name: label, about: `batch:${id}` })),
    );
  }
  return null;
}

function ambiguous(name: string, found: readonly { readonly name: string; readonly about: string }[]): Outcome {
  return err({ kind: 'ambiguous', name, candidates: found.slice(0, MAX_NAMED), hasMore: found.length > MAX_NAMED });
}

/** Labels that begin like the name; others would be misleading. */
async function nearNames(archive: Archive, name: string): Promise<readonly string[]> {
  const sought = name.startsWith(LABEL_START) ? name : LABEL_START + name;
  const beginning = sought.slice(0, LABEL_START.length + MIN_SHARED);
  if (beginning.length < LABEL_START.length + MIN_SHARED) return [];
  return (await archive.nearLabels(sought, MAX_NAMED)).filter((label) => label.startsWith(beginning));
}

/**
 * The message in the bytes of a line, as its format reads it; otherwise the record's `content`, otherwise the line itself as a text (truncated, or
 * of a format that this version does not know).
 */
export function readArchivedMessage(
  formats: FormatRegistry,
  codec: Codec | null,
  stored: { readonly line: number; readonly bytes: Uint8Array },
): ConversationMessage | string {
  const bytes = trimRecord(codec ?? {}, stored.bytes);
  const parsed = parseRecord(formats, codec ?? {}, bytes);
  if (!parsed.ok) return new TextDecoder().decode(bytes);
  const { value } = parsed;
  const decoded = codec?.open().observe(value, stored.line);
  if (decoded !== undefined && !('problem' in decoded) && decoded.message !== undefined) return decoded.message;
  const content = typeof value === 'object' && value !== null && 'content' in value ? value.content : null;
  return typeof content === 'string' ? content : new TextDecoder().decode(bytes);
}

/** A message of a captured line, and what search knows of it. */
type CapturedText = {
  readonly text: string;
  readonly facts: CapturedFacts;
  readonly messages: readonly ConversationMessage[];
};

/**
 * What a captured line says; null: it is no message, or not of a format whose messages can be read one by one. Where messages are no lines, one piece
 * may have several.
 */
function readCapturedText(formats: FormatRegistry, codec: Codec | null, bytes: Uint8Array): CapturedText | null {
  if (codec === null || (codec.records !== undefined && codec.format.layout.kind !== 'lines')) return null;
  const records = codec.records === undefined ? [{ bytes }] : [...splitPieces(codec.records.open(0), [bytes])];
  const messages = records.flatMap((record) => {
    const parsed = parseUntrimmed(formats, codec, record.bytes);
    const decoded = parsed.ok ? codec.open().observe(parsed.value, 1) : null;
    return decoded === null || 'problem' in decoded || decoded.message === undefined ? [] : [decoded.message];
  });
  const [first] = messages;
  if (first === undefined) return null;
  const { role, name = null, created_at: at } = first;
  const text = messages.map(({ content }) => content).join('\n\n');
  return { text, facts: { role, name, at, traits: readTraits(text) }, messages };
}

/** Search only knows text from this many bytes of a line; the rest is not decompressed. */
const MAX_HEAD_BYTES = 1024 * 1024;
/** A longer first message has no title: it is pasted. */
const MAX_TITLE_BYTES = 64 * 1024;

/** The message of a captured line, which may have been captured in two parts. */
export async function readCaptured(
  { readBefore }: Pick<ArchiveLookup, 'readBefore'>,
  formats: FormatRegistry,
  { lineId, codec, bytes }: { lineId: number; codec: Codec | null; bytes: Uint8Array },
): Promise<CapturedText | null> {
  const whole = readCapturedText(formats, codec, bytes);
  const isWhole = codec === null || codec.records !== undefined || parseUntrimmed(formats, codec, bytes).ok;
  if (whole !== null || isWhole) return whole;
  const before = await readBefore(lineId, MAX_HEAD_BYTES);
  return before === null ? null : readCapturedText(formats, codec, concat([before, bytes]));
}

const MAX_TITLE_CHARS = 200;

/** Finds what sessions are about, each once: the first line of the first message that a person typed, as far as the format tells. */
export function createTitles(
  archive: Pick<ArchiveLookup, 'listOpenings' | 'loadLines' | 'readHeads'>,
  formats: FormatRegistry,
): (session: Parameters<ArchiveLookup['listOpenings']>[0]) => Promise<string | null> {
  const known = new Map<string, string | null>();
  const find = async (session: Parameters<ArchiveLookup['listOpenings']>[0]): Promise<string | null> => {
    const ids = await archive.listOpenings(session);
    const lines = new Map((await archive.loadLines(ids)).map((line) => [line.lineId, line]));
    const heads = await archive.readHeads([...lines.keys()], MAX_TITLE_BYTES);
    for (const id of ids) {
      const codec = await formats.load(lines.get(id)?.format ?? '');
      const parsed = codec === null ? null : parseUntrimmed(formats, codec, heads.get(id) ?? new Uint8Array());
      const decoded = codec === null || parsed?.ok !== true ? null : codec.open().observe(parsed.value, 1);
      const message = decoded === null || 'problem' in decoded ? undefined : decoded.message;
      const said = codec?.format.marksTyped === true ? message?.typed : message?.content;
      const line = said?.split('\n').find((one) => one.trim() !== '');
      if (line !== undefined) return Array.from(line.trim().replace(/\s+/g, ' ')).slice(0, MAX_TITLE_CHARS).join('');
    }
    return null;
  };
  return async (session) => {
    const key = session.conversation ?? session.file;
    if (!known.has(key)) known.set(key, await find(session));
    return known.get(key) ?? null;
  };
}

type LineOfText = Pick<ArchivedLine, 'lineId' | 'line' | 'format'>;

export type TextReader = {
  readonly load: (lines: readonly LineOfText[]) => Promise<readonly string[]>;
  /** Of a line that was loaded. */
  readonly textOf: (line: Pick<LineOfText, 'lineId'>) => string;
  /** The messages in it: one, but for lines of a document. */
  readonly messagesOf: (line: Pick<LineOfText, 'lineId'>) => readonly ConversationMessage[];
};

/** Reads texts of messages, each once; a block that holds several of them is decompressed once. */
export function createTextReader(
  archive: Pick<ArchiveLookup, 'readHeads' | 'readBefore'>,
  formats: FormatRegistry,
): TextReader {
  const texts = new Map<number, string>();
  const messages = new Map<number, readonly ConversationMessage[]>();
  const load = async (lines: readonly LineOfText[]): Promise<readonly string[]> => {
    const missing = lines.filter(({ lineId }) => !texts.has(lineId));
    const heads = await archive.readHeads(
      missing.map(({ lineId }) => lineId),
      MAX_HEAD_BYTES,
    );
    for (const { lineId, format, line } of missing) {
      const bytes = heads.get(lineId) ?? new Uint8Array();
      const codec = await formats.load(format);
      const captured = lineId < 0 ? await readCaptured(archive, formats, { lineId, codec, bytes }) : null;
      const read = captured === null ? readArchivedMessage(formats, codec, { line, bytes }) : captured.text;
      texts.set(lineId, typeof read === 'string' ? read : read.content);
      messages.set(lineId, typeof read === 'string' ? (captured?.messages ?? []) : [read]);
    }
    return lines.map(({ lineId }) => texts.get(lineId) ?? '');
  };
  return {
    load,
    textOf: ({ lineId }) => texts.get(lineId) ?? '',
    messagesOf: ({ lineId }) => messages.get(lineId) ?? [],
  };
}
