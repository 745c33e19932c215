import type { ConversationMessage } from '../../core/message.ts';
import { type ConversationView, type PlanMessage, viewConversation } from '../../core/plan/view.ts';
import { DEFAULT_SCORING_CONFIG, type TranscriptPolicy } from '../../core/policy.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { ClipMark, Entry } from '../../core/transcript.ts';
import type { Archive, StoredCycle } from '../../ports/archive.ts';
import type { Codec, CodecSession, Json } from '../../ports/codec.ts';
import type { SourceFile } from '../../ports/files.ts';
import type { RunningHash } from '../../ports/runtime.ts';
import type { AppDeps } from '../contract/deps.ts';
import type { Failure } from '../contract/failure.ts';
import type { TranscriptInput } from '../contract/requests.ts';
import { type Conversation, splitConversations } from './conversations.ts';
import { createMeasure, type MeasureMessage } from './entry.ts';
import { findRewrittenCycle } from './find-cycles.ts';
import { asFileSource, indexRecords, type RecordIndex } from './index-records.ts';
import { type CarriedMessage, foreignPrior, type Prior, readCarried } from './lineage.ts';
import { openTranscript } from './open-transcript.ts';
import { parseRecord, trimRecord } from './records.ts';
import { trustChats } from './trust-chats.ts';

/** A conversation ready to be planned. */
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
};

/** A transcript after the first pass. `source` stays open for the second; the caller closes it. */
export type ReadTranscript = IndexedTranscript & { readonly source: SourceFile };

/** The same, wherever its bytes come from. */
export type IndexedTranscript = {
  readonly codec: Codec;
  readonly session: CodecSession;
  readonly recordIndex: RecordIndex;
  readonly conversations: readonly PreparedConversation[];
  readonly loose: readonly Entry[];
  /** The exact bytes of an entry's line. */
  readonly readLine: (entry: Entry) => Uint8Array;
  /** The parsed line; null: it is not JSON. */
  readonly readJson: (entry: Entry) => Json | null;
  readonly readMessage: (entry: Entry) => ConversationMessage | null;
  /** The message of an entry whose bytes were already read. */
  readonly decodeMessage: (entry: Entry, bytes: Uint8Array) => ConversationMessage | null;
};

/** A transcript whose bytes were hashed as they were read, so that a later change is noticed. `sha256` (hex): of the whole file. */
export type Prepared = ReadTranscript & { readonly recordIndex: { readonly sha256: string } };

/** Called only if a transcript begins with a summary, because opening an archive takes time. */
type ArchiveSource = () => Promise<Archive | null>;

type ReadOptions = { readonly policy: TranscriptPolicy; readonly archive: ArchiveSource };

/** Reads a transcript that may be compacted next. */
export async function prepareTranscript(
  deps: AppDeps,
  input: TranscriptInput,
  options: ReadOptions,
): Promise<Result<Prepared, Failure>> {
  const hash = deps.runtime.createHash();
  const read = await readTranscript(deps, input, { ...options, hash });
  if (!read.ok) return read;
  const sha256 = hash.digest();
  if (input.planned === undefined || input.planned.sha256 === sha256)
    return ok({ ...read.value, recordIndex: { ...read.value.recordIndex, sha256 } });
  read.value.source.close();
  return err({ kind: 'source-changed', file: input.name });
}

/** Reads a transcript that stays as it is. */
export async function readTranscript(
  deps: AppDeps,
  input: TranscriptInput,
  options: ReadOptions & { readonly hash?: RunningHash },
): Promise<Result<ReadTranscript, Failure>> {
  const opened = await openTranscript(input, deps);
  if (!opened.ok) return opened;
  const { source } = opened.value;
  let isRead = false;
  try {
    const indexed = await indexTranscript(deps, {
      ...opened.value,
      name: input.name,
      isOneFormat: input.format === null,
      ...options,
    });
    isRead = indexed.ok;
    return indexed.ok ? ok({ ...indexed.value, source }) : indexed;
  } finally {
    if (!isRead) source.close();
  }
}

/** The content of a transcript: a file's, or one that was restored into memory. */
export type TranscriptBytes = Pick<SourceFile, 'bomLength' | 'sizeBytes' | 'lines' | 'read'>;

type ReadInput = {
  readonly source: TranscriptBytes;
  readonly codec: Codec;
  readonly name: string;
  readonly isOneFormat: boolean;
  readonly policy: TranscriptPolicy;
  readonly archive: ArchiveSource;
  readonly hash?: RunningHash;
};

export async function indexTranscript(deps: AppDeps, input: ReadInput): Promise<Result<IndexedTranscript, Failure>> {
  const { source, name, policy } = input;
  const codec = policy.compaction.rulesFromChats === true ? trustChats(input.codec) : input.codec;
  const session = codec.open();
  const measure = createMeasure(deps.runtime, policy.compaction.scoring ?? DEFAULT_SCORING_CONFIG);
  const scanned = await indexRecords(deps, {
    source: asFileSource(source, codec),
    codec,
    session,
    name,
    measure,
    hash: input.hash,
    keepInvalid: policy.keepInvalid,
    isOneFormat: input.isOneFormat,
  });
  if (!scanned.ok) return scanned;
  const recordIndex = scanned.value;
  const said = recordIndex.entries.filter((entry) => entry.kind === 'message' || entry.kind === 'summary');
  if (said.length === 0)
    return err({ kind: 'no-messages', file: name, contains: describeContents(recordIndex.entries) });
  if (said.every(({ tokens }) => tokens === 0)) return err({ kind: 'no-text', file: name, messages: said.length });
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
  return ok({ codec, session, recordIndex, conversations, loose: split.loose, ...readers });
}

function createReaders(
  deps: AppDeps,
  { source, codec, session }: Pick<ReadInput, 'source' | 'codec'> & { readonly session: CodecSession },
): Pick<Prepared, 'readLine' | 'readJson' | 'readMessage' | 'decodeMessage'> {
  const readLine = (entry: Entry): Uint8Array => source.read(entry.start, entry.length);
  const parse = (bytes: Uint8Array): Json | null => {
    const parsed = parseRecord(deps.formats, codec, trimRecord(codec, bytes));
    return parsed.ok ? parsed.value : null;
  };
  const decodeMessage = ({ line }: Entry, bytes: Uint8Array): ConversationMessage | null => {
    const decoded = session.decode(parse(bytes), line);
    return 'problem' in decoded ? null : (decoded.message ?? null);
  };
  return {
    readLine,
    readJson: (entry) => parse(readLine(entry)),
    readMessage: (entry) => decodeMessage(entry, readLine(entry)),
    decodeMessage,
  };
}

async function prepareConversation(
  conversation: Conversation,
  context: {
    readonly deps: AppDeps;
    readonly policy: TranscriptPolicy;
    readonly codec: Codec;
    readonly session: CodecSession;
    readonly archive: Archive | null;
    readonly findCycle: CycleFinder;
    readonly measure: MeasureMessage;
    readonly readMessage: (entry: Entry) => ConversationMessage | null;
  },
): Promise<PreparedConversation> {
  const { entries, context: rules } = conversation;
  const { archive, policy, codec, session, measure, deps } = context;
  const view = (carried: readonly PlanMessage[]): ConversationView =>
    viewConversation({ entries, ...rules, carried, keepSystem: policy.keepSystem });
  const plain = view([]);
  if (plain.prior === null) {
    return {
      id: conversation.id,
      conversation,
      view: plain,
      prior: { kind: 'none' },
      carried: [],
      compressedBefore: 0,
      isArchiveMissing: false,
    };
  }
  const text = context.readMessage(plain.prior)?.content ?? '';
  const { cycle, isKnown } = await context.findCycle(plain.prior, conversation.id);
  if (archive === null || cycle === undefined) {
    const prior = foreignPrior(text, {
      staleMessageCount: plain.staleMessageCount,
      isMarked: plain.prior.isUnmarked !== true,
    });
    const compressedBefore = prior.kind === 'foreign' ? prior.messages : 0;
    const isArchiveMissing = prior.kind === 'foreign' && prior.isOurs && !isKnown;
    return { id: conversation.id, conversation, view: plain, prior, carried: [], compressedBefore, isArchiveMissing };
  }
  const carried = await readCarried(archive, cycle, { formats: deps.formats, codec, session, measure });
  return {
    id: cycle.conversationId,
    conversation,
    view: carried.length === 0 ? plain : view(carried.map(({ plan }) => plan)),
    prior: { kind: 'lineage', cycle, text },
    carried,
    compressedBefore: cycle.messagesCompressed,
    isArchiveMissing: false,
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
