import type { ConversationMessage } from '../../core/message.ts';
import { type ConversationView, type PlanMessage, viewConversation } from '../../core/plan/view.ts';
import { DEFAULT_SCORING_CONFIG, type TranscriptPolicy } from '../../core/policy.ts';
import type { Result } from '../../core/result.ts';
import type { ClipMark, Decoded, Entry } from '../../core/transcript.ts';
import type { Archive, StoredCycle } from '../../ports/archive.ts';
import type { Codec, CodecSession, ListedFile, ListedRecord, RecordProblem } from '../../ports/codec.ts';
import type { FileStamp, SourceFile } from '../../ports/files.ts';
import type { RunningHash } from '../../ports/runtime.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attemptStep, type Failure, stop } from '../contract/failure.ts';
import type { TranscriptInput } from '../contract/requests.ts';
import { type Conversation, splitConversations } from './conversations.ts';
import { asFileSource, createMeasure, indexRecords, type MeasureMessage, type RecordIndex } from './index-records.ts';
import { type CarriedMessage, findRewrittenCycle, foreignPrior, type Prior, readCarried } from './lineage.ts';
import { closedOnError, mayBeOlder, openTranscript } from './open-transcript.ts';
import { createReaders, isSameStamp, type RecordReaders, trimRecord } from './records.ts';

export type PreparedConversation = {
  readonly id: string;
  readonly conversation: Conversation;
  readonly view: ConversationView;
  readonly prior: Prior;
  readonly carried: readonly CarriedMessage[];
  /** Messages that earlier cycles compressed. */
  readonly compressedBefore: number;
  /** The archive does not know the compaction that wrote the clip-archive at its head. */
  readonly isArchiveMissing: boolean;
  /** Undefined: none. */
  readonly pins?: readonly Pin[];
};

/** A message that stays word for word because a person pinned it. */
export type Pin = {
  /** Among the messages of the view, and after them the instructions. */
  readonly index: number;
  readonly id: string;
  /** What the archive remembers it by. */
  readonly key: string;
  readonly since: Date;
};

/** A transcript after the first pass. `source` stays open for the second; the caller closes it. */
export type ReadTranscript = IndexedTranscript & { readonly source: SourceFile };

/** The same, wherever its bytes come from. */
export type IndexedTranscript = RecordReaders & {
  readonly codec: Codec;
  readonly session: CodecSession;
  readonly recordIndex: RecordIndex;
  readonly conversations: readonly PreparedConversation[];
  readonly loose: readonly Entry[];
};

/** A transcript whose bytes were hashed as they were read, so that a later change is noticed. `sha256` (hex): of the whole file. */
export type Prepared = ReadTranscript & { readonly recordIndex: { readonly sha256: string } };

/** Called only if a transcript begins with a summary, because opening an archive takes time. */
type ArchiveSource = () => Promise<Archive | null>;

type ReadOptions = { readonly policy: TranscriptPolicy; readonly archive: ArchiveSource };

/**
 * Reads a transcript that may be compacted next. With `before`, a session that is being written is left alone after a look at the end of the
 * file, without reading it.
 */
export async function prepareTranscript(
  deps: AppDeps,
  input: TranscriptInput,
  options: ReadOptions & { readonly before?: Date | undefined },
): Promise<Prepared> {
  const unread = await deps.files.stamp(input.path);
  const hash = deps.runtime.createHash();
  const read = await attemptStep(() => readTranscript(deps, input, { ...options, hash }));
  const changed: Failure = { kind: 'source-changed', file: input.name };
  if (!read.ok) {
    const { error } = read;
    // An invalid line or a truncated compressed file may be one that is still being written.
    const isUnfinished = error.kind === 'bad-line' || (error.kind === 'file' && error.failure.kind === 'damaged');
    const isUnsettled = isUnfinished && (await hasChanged(deps, input, unread));
    return stop(isUnsettled ? changed : error);
  }
  const { source, recordIndex } = read.value;
  const sha256 = hash.digest();
  if (input.planned === undefined || input.planned.sha256 === sha256)
    return { ...read.value, recordIndex: { ...recordIndex, sha256 } };
  source.close();
  return stop(changed);
}

async function hasChanged({ files }: AppDeps, { path }: TranscriptInput, before: Result<FileStamp, unknown>) {
  const now = await files.stamp(path);
  return !before.ok || !now.ok || !isSameStamp(before.value, now.value);
}

export async function readTranscript(
  deps: AppDeps,
  input: TranscriptInput,
  { before, ...options }: ReadOptions & { hash?: RunningHash; before?: Date | undefined },
): Promise<ReadTranscript> {
  const opened = await openTranscript(input, deps);
  return closedOnError(opened.source, async () => {
    if (before !== undefined && !mayBeOlder(opened, deps.formats, before))
      stop({ kind: 'too-recent', file: input.name });
    const named = { name: input.name, isOneFormat: input.format === null };
    return { ...(await indexTranscript(deps, { ...opened, ...named, ...options })), source: opened.source };
  });
}

/** The content of a transcript: a file's, or one that was restored into memory. */
type TranscriptBytes = Pick<SourceFile, 'bomLength' | 'sizeBytes' | 'lines' | 'read'>;

type ReadInput = {
  readonly source: TranscriptBytes;
  readonly codec: Codec;
  readonly name: string;
  readonly isOneFormat: boolean;
  readonly policy: TranscriptPolicy;
  readonly archive: ArchiveSource;
  readonly hash?: RunningHash;
};

export async function indexTranscript(deps: AppDeps, input: ReadInput): Promise<IndexedTranscript> {
  const { source, name, policy } = input;
  const codec = policy.compaction.rulesFromChats === true ? trustChats(input.codec) : input.codec;
  const session = codec.open();
  const measure = createMeasure(deps.runtime, policy.compaction.scoring ?? DEFAULT_SCORING_CONFIG);
  const recordIndex = await indexRecords(deps, {
    source: asFileSource(source, codec),
    codec,
    session,
    name,
    measure,
    hash: input.hash,
    keepInvalid: policy.keepInvalid,
    isOneFormat: input.isOneFormat,
  });
  const said = recordIndex.entries.filter((entry) => entry.kind === 'message' || entry.kind === 'summary');
  if (said.length === 0) stop({ kind: 'no-messages', file: name, contains: describeContents(recordIndex.entries) });
  if (said.every(({ tokens }) => tokens === 0)) stop({ kind: 'no-text', file: name, messages: said.length });
  const readers = createReaders(deps, { source, codec, session });
  const hashLine = (entry: Entry): string => deps.runtime.sha256(trimRecord(codec, readers.readLine(entry)));
  const split = splitConversations({
    entries: recordIndex.entries,
    codec,
    session,
    conversation: policy.conversation,
    hashLine,
    hashText: deps.runtime.sha256,
  });
  const wasCompacted = split.conversations.some(({ context }) => context.priorLine !== null);
  const archive = wasCompacted ? await input.archive() : null;
  const findCycle = createCycleFinder(deps, codec, archive);
  const { readMessage } = readers;
  const context = { deps, policy, codec, session, archive, findCycle, measure, readMessage };
  const conversations: PreparedConversation[] = [];
  for (const conversation of split.conversations) conversations.push(await prepareConversation(conversation, context));
  return { codec, session, recordIndex, conversations, loose: split.loose, ...readers };
}

type ConversationContext = Pick<ReadInput, 'policy' | 'codec'> & {
  readonly deps: AppDeps;
  readonly session: CodecSession;
  readonly archive: Archive | null;
  readonly findCycle: CycleFinder;
  readonly measure: MeasureMessage;
  readonly readMessage: (entry: Entry) => ConversationMessage | null;
};

async function prepareConversation(
  conversation: Conversation,
  { archive, policy, codec, session, measure, deps, readMessage, findCycle }: ConversationContext,
): Promise<PreparedConversation> {
  const { id, entries, context: rules } = conversation;
  const view = (carried: readonly PlanMessage[]): ConversationView =>
    viewConversation({ entries, ...rules, carried, keepSystem: policy.keepSystem });
  const plain = view([]);
  const alone = { id, conversation, view: plain, carried: [], compressedBefore: 0, isArchiveMissing: false };
  if (plain.prior === null) return { ...alone, prior: { kind: 'none' } };
  const text = readMessage(plain.prior)?.content ?? '';
  const { cycle, isKnown } = await findCycle(plain.prior, id);
  if (archive === null || cycle === undefined) {
    const isMarked = plain.prior.isUnmarked !== true;
    const prior = foreignPrior(text, { staleMessageCount: plain.staleMessageCount, isMarked });
    return { ...alone, prior, compressedBefore: prior.messages, isArchiveMissing: prior.isOurs && !isKnown };
  }
  const carried = await readCarried(archive, cycle, { formats: deps.formats, codec, session, measure });
  return {
    ...alone,
    id: cycle.conversationId,
    view: carried.length === 0 ? plain : view(carried.map(({ plan }) => plan)),
    prior: { kind: 'lineage', cycle, text },
    carried,
    compressedBefore: cycle.messagesCompressed,
  };
}

/** `isKnown`: the archive has the cycle, or had it before it was erased, even if the conversation cannot continue it. */
type FoundCycle = { readonly cycle: StoredCycle | undefined; readonly isKnown: boolean };
type CycleFinder = (prior: Entry, conversation: string) => Promise<FoundCycle>;

/** The newest cycle that wrote a clip-archive. Each is looked up once: lists may contain a conversation, and with it its cycles, many times. */
function createCycleFinder(deps: AppDeps, codec: Codec, archive: Archive | null): CycleFinder {
  const known = new Map<string, FoundCycle>();
  const find = async (from: Archive, sha256: string, rewriting: Rewriting): Promise<FoundCycle> => {
    const cycles = await from.findCycles(sha256);
    const cycle = cycles.find(({ isErased }) => !isErased);
    if (cycle !== undefined) return { cycle, isKnown: true };
    const rewritten = await findRewritten(deps, from, rewriting);
    return { ...rewritten, isKnown: rewritten.isKnown || cycles.length > 0 };
  };
  return async ({ sha256, clip, isUnmarked }, conversation) => {
    if (archive === null || sha256 === undefined) return { cycle: undefined, isKnown: false };
    const pastedUnless = isUnmarked === true ? conversation : null;
    const found = known.get(sha256) ?? (await find(archive, sha256, { codec, clip, pastedUnless }));
    known.set(sha256, found);
    return found;
  };
}

type Rewriting = {
  readonly codec: Codec;
  readonly clip: ClipMark | undefined;
  /** A person could have pasted it, unless it is of this conversation. */
  readonly pastedUnless: string | null;
};

/**
 * The cycle of a clip-archive that its producer rewrote. Its archived lines must be readable as lines of this file: if the format changed, or
 * lines of a log are quoted in the clip-archive, the summary is carried on as text. Elements of a document can be read by themselves.
 */
async function findRewritten(
  deps: AppDeps,
  archive: Archive,
  { codec, clip, pastedUnless }: Rewriting,
): Promise<FoundCycle> {
  const found = clip === undefined ? null : await findRewrittenCycle(deps, archive, clip);
  if (found === null) return { cycle: undefined, isKnown: false };
  const isReadable =
    found.format === codec.format.name &&
    (pastedUnless === null || found.cycle.conversationId === pastedUnless) &&
    (codec.format.layout.kind === 'document' || (await archive.readSurvivors(found.cycle.id)).length === 0);
  return { cycle: isReadable ? found.cycle : undefined, isKnown: true };
}

/** What the file contains instead of messages: "22 file-history-snapshot and 1 summary records". */
function describeContents(entries: readonly Entry[]): string {
  const counts = new Map<string, number>();
  for (const entry of entries) {
    if (entry.kind === 'blank' || entry.list !== undefined) continue;
    const name = entry.latestKey ?? (entry.kind === 'instruction' ? 'system' : entry.kind);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  if (counts.size === 0)
    return entries.some(({ list }) => list !== undefined) ? 'empty conversations' : 'blank lines only';
  const parts = [...counts].map(([name, count]) => `${count} ${name}`);
  const last = parts.pop() ?? '';
  return `${parts.length === 0 ? last : `${parts.join(', ')} and ${last}`} records`;
}

/** A codec whose user messages may state rules, although its format does not say who wrote them. */
function trustChats(codec: Codec): Codec {
  if (codec.format.marksTyped === true) return codec;
  const trust = <T extends Decoded | RecordProblem>(decoded: T): T | Decoded => {
    if ('problem' in decoded || decoded.message?.typed === undefined) return decoded;
    return { ...decoded, message: { ...decoded.message, ruleText: decoded.message.typed } };
  };
  return {
    ...codec,
    open: () => {
      const session = codec.open();
      return {
        ...session,
        observe: (value, line) => trust(session.observe(value, line)),
        decode: (value, line) => trust(session.decode(value, line)),
      };
    },
  };
}

/** Whether the last message (or the last write, if no message has a time) was before a time. */
export function isOlder(transcript: Prepared, before: Date): boolean {
  return (findLastTime(transcript) ?? lastWrite(transcript.source)) < before;
}

export function lastWrite({ stamp }: Pick<SourceFile, 'stamp'>): Date {
  return new Date(Number(stamp.mtimeNs / 1_000_000n));
}

/** Messages may be stored out of order, so a few more than the last one are looked at. If none of these has a time, we assume that none has. */
const MAX_MESSAGES = 100;

/** The newest time among the last messages; null: none of them has a time. */
export function findLastTime({ recordIndex, readMessage }: Pick<IndexedTranscript, 'recordIndex' | 'readMessage'>) {
  let newest: Date | null = null;
  let looked = 0;
  for (let index = recordIndex.entries.length - 1; index >= 0 && looked < MAX_MESSAGES; index -= 1) {
    const entry = recordIndex.entries[index];
    if (entry?.kind !== 'message') continue;
    looked += 1;
    const time = readMessage(entry)?.created_at ?? null;
    if (time !== null && (newest === null || time > newest)) newest = time;
  }
  return newest;
}

type Reading = Pick<IndexedTranscript, 'recordIndex' | 'readJson'>;

/** A transcript as the list of its producer finds it. */
export function listSource(transcript: Reading): ListedFile {
  return asListed(transcript.recordIndex.entries, (entry) => sourceLine(transcript, entry));
}

export function sourceLine({ readJson }: Reading, entry: Entry): LineOfFile {
  return { sizeBytes: entry.length, kind: entry.kind, read: () => readJson(entry) };
}

/** A line of a file, wherever it will be in it. */
export type LineOfFile = Pick<ListedRecord, 'kind' | 'read'> & { readonly sizeBytes: number };

export function asListed<T>(items: readonly T[], lineOf: (item: T) => LineOfFile): ListedFile {
  const sizeBytes = items.reduce((sum, item) => sum + lineOf(item).sizeBytes, 0);
  function* fromStart(): Generator<ListedRecord> {
    let start = 0;
    for (const item of items) {
      const line = lineOf(item);
      yield { ...line, start, end: start + line.sizeBytes };
      start += line.sizeBytes;
    }
  }
  function* fromEnd(): Generator<ListedRecord> {
    let end = sizeBytes;
    for (let at = items.length - 1; at >= 0; at -= 1) {
      const item = items[at];
      if (item === undefined) return;
      const line = lineOf(item);
      yield { ...line, start: end - line.sizeBytes, end };
      end -= line.sizeBytes;
    }
  }
  return { sizeBytes, records: (from) => (from === 'start' ? fromStart() : fromEnd()) };
}
