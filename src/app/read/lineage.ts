import { clipArchiveBody, parseClipArchiveHead } from '../../core/clip-archive.ts';
import { condenseMessages } from '../../core/handover/condense.ts';
import type { ConversationMessage } from '../../core/message.ts';
import type { PlanMessage } from '../../core/plan/view.ts';
import type { ImportanceScoringConfig } from '../../core/policy.ts';
import { createFeatureReader } from '../../core/scoring.ts';
import { type ParsedRules, parseRules, type TypedMessage } from '../../core/standing-rules/rules.ts';
import type { ArchivedLine, StoredBatch } from '../../ports/archive-lookup.ts';
import type { Archive, StoredCycle } from '../../ports/archive.ts';
import type { Codec, CodecSession, Json } from '../../ports/codec.ts';
import type { FormatRegistry } from '../../ports/formats.ts';
import { toEntry } from './index-records.ts';
import { parseRecord, trimRecord } from './records.ts';

/**
 * What stands behind the summary found in a transcript (L8). lineage: the archive has the record that wrote it. foreign: another
 * program's summary, or ours (`isOurs`) with its archive elsewhere; it is kept as a batch of its own.
 */
export type Prior =
  | { readonly kind: 'none' }
  | { readonly kind: 'lineage'; readonly cycle: StoredCycle; readonly text: string }
  | {
      readonly kind: 'foreign';
      readonly text: string;
      readonly isOurs: boolean;
      /** Of ours: the rules above its batches, which `text` is without. */
      readonly rules: Pick<ParsedRules, 'rules' | 'dropped'>;
      readonly messages: number;
      readonly cycles: number;
    };

/** No conversation has more messages or cycles: a summary that says so is somebody's text. */
const MAX_BELIEVED = 1_000_000_000;

const NO_RULES = { rules: [], dropped: [] };

/**
 * A foreign summary that tells its counts is believed; a producer's own stands for the messages before it, in one cycle. Its rules are believed
 * only where its record is marked as a summary (`isMarked`): elsewhere a person could have pasted it as a message.
 */
export function foreignPrior(
  text: string,
  { staleMessageCount, isMarked }: { readonly staleMessageCount: number; readonly isMarked: boolean },
): Prior {
  const head = parseClipArchiveHead(text);
  if (head === null || Math.max(head.messages, head.cycles) > MAX_BELIEVED)
    return { kind: 'foreign', text, isOurs: false, rules: NO_RULES, messages: staleMessageCount, cycles: 1 };
  const { messages, cycles } = head;
  const body = clipArchiveBody(text) ?? text;
  if (!isMarked) return { kind: 'foreign', text: body, isOurs: true, rules: NO_RULES, messages, cycles };
  const { rest, ...rules } = parseRules(body);
  return { kind: 'foreign', text: rest, isOurs: true, rules, messages, cycles };
}

/** A message that stands word for word in an earlier clip-archive, as the plan and the summarizer see it. */
export type CarriedMessage = { readonly plan: PlanMessage; readonly message: ConversationMessage };

export function readCarried(
  archive: Archive,
  cycle: StoredCycle,
  read: {
    readonly formats: FormatRegistry;
    readonly codec: Codec;
    readonly session: CodecSession;
    readonly scoring: ImportanceScoringConfig;
  },
): readonly CarriedMessage[] {
  const readFeatures = createFeatureReader(read.scoring);
  return archive.readSurvivors(cycle.id).map((stored): CarriedMessage => {
    const parsed = parseRecord(read.formats, read.codec, trimRecord(read.codec, stored.bytes));
    const decoded = parsed.ok ? read.session.decode(parsed.value, stored.line) : null;
    if (decoded === null || 'problem' in decoded || decoded.message === undefined) {
      throw new Error(
        `line ${stored.line} of the archive, which was a message when it left, can no longer be read as one`,
      );
    }
    const entry = toEntry(decoded, { line: 0, start: 0, length: stored.bytes.length }, readFeatures);
    return { plan: { ...entry, kind: 'message', carriedLineId: stored.id }, message: decoded.message };
  });
}

/** What earlier compactions of a conversation give to a summary that is made anew from the originals. */
export type LineageMaterial = {
  /** The originals in the order in which they were said, and the summaries of which nothing but the text is known. */
  readonly messages: readonly ConversationMessage[];
  /** What persons typed among them, by its place in the conversation's life. */
  readonly typed: readonly TypedMessage[];
  /** Live batches whose originals are among them. */
  readonly replaced: readonly StoredBatch[];
  /** Live batches that the archive has no originals of: they stay as they are. */
  readonly kept: readonly StoredBatch[];
};

export const NO_MATERIAL: LineageMaterial = { messages: [], typed: [], replaced: [], kept: [] };

export type ReadLineage = (cycle: StoredCycle) => LineageMaterial;

type LineageArchive = Pick<Archive, 'readOriginals' | 'loadSources'>;

/** An archived line with its bytes. */
type Original = ArchivedLine & { readonly bytes: Uint8Array };

type Placed = { readonly message: ConversationMessage; readonly compactionId: number; readonly index: number };

/** Reads everything that earlier cycles archived. `decode` gives the message of a line; null: it is none. */
export function readLineage(
  archive: LineageArchive,
  cycle: StoredCycle,
  decode: (original: Original) => ConversationMessage | null,
): LineageMaterial {
  const replaced: StoredBatch[] = [];
  const kept: StoredBatch[] = [];
  const placed: Placed[] = [];
  for (const batch of cycle.live) {
    const before = placed.length;
    for (const original of archive.readOriginals(batch.id)) {
      const message = decode(original);
      const { compactionId, line } = original;
      if (message !== null) placed.push({ message, compactionId, index: original.message?.index ?? line });
    }
    if (placed.length === before) {
      kept.push(batch);
      continue;
    }
    replaced.push(batch);
    for (const source of summariesBehind(archive, batch)) {
      placed.push({ message: summaryMessage(source.content, `batch:${source.id}`), compactionId: 0, index: source.id });
    }
  }
  placed.sort((a, b) => a.compactionId - b.compactionId || a.index - b.index);
  const typed = placed.flatMap(({ message, index }) =>
    message.typed === undefined ? [] : [{ index, text: message.typed }],
  );
  return { messages: withinBounds(placed.map(({ message }) => message)), typed, replaced, kept };
}

/** More of a lineage than this is condensed: a compaction must not cost more and more with each one before it. */
const MAX_LINEAGE_CHARS = 262_144;
/** What was typed and answered takes up to this share of it; calls and results have the rest. */
const WORDS_SHARE = 0.7;

function withinBounds(messages: readonly ConversationMessage[]): readonly ConversationMessage[] {
  if (charsOf(messages) <= MAX_LINEAGE_CHARS) return messages;
  const words = condenseMessages(messages.filter(isWords), Math.floor(MAX_LINEAGE_CHARS * WORDS_SHARE));
  const rest = condenseMessages(
    messages.filter((message) => !isWords(message)),
    Math.max(0, MAX_LINEAGE_CHARS - charsOf(words)),
  );
  const [nextWords, nextOther] = [words.values(), rest.values()];
  return messages.map((message) => (isWords(message) ? nextWords : nextOther).next().value ?? message);
}

function isWords({ typed, role, parts = [], tool_calls: calls = [] }: ConversationMessage): boolean {
  if (typed !== undefined) return true;
  return role !== 'tool' && calls.length === 0 && parts.every(({ kind }) => kind === 'text');
}

function charsOf(messages: readonly ConversationMessage[]): number {
  return messages.reduce((sum, { content }) => sum + content.length, 0);
}

/** The batches behind one that came from elsewhere: they were made from nothing that the archive has. */
function summariesBehind(archive: LineageArchive, batch: StoredBatch): readonly StoredBatch[] {
  const seen = new Set<number>();
  const found: StoredBatch[] = [];
  const waiting = [...archive.loadSources(batch.id)];
  for (let source = waiting.pop(); source !== undefined; source = waiting.pop()) {
    if (seen.has(source.id)) continue;
    seen.add(source.id);
    const sources = archive.loadSources(source.id);
    waiting.push(...sources);
    if (sources.length === 0 && archive.readOriginals(source.id).next().done === true) found.push(source);
  }
  return found;
}

/** A summary that a program wrote, as a message of the conversation. */
export function summaryMessage(content: string, id: string): ConversationMessage {
  return { id, conversation_id: '', role: 'user', content, created_at: null, isSummary: true };
}

/**
 * Reads archived lines of one format. Each compaction gets a session of its own, since line numbers begin anew in each. `headers`: of the file,
 * where they stay; they tell whose session it is.
 */
export function createOriginalDecoder(
  formats: FormatRegistry,
  codec: Codec,
  headers: readonly Json[] = [],
): (original: Original) => ConversationMessage | null {
  const sessions = new Map<number, CodecSession>();
  return ({ bytes, compactionId, line, lineId }) => {
    const session = sessions.get(compactionId) ?? openWith(codec, headers);
    sessions.set(compactionId, session);
    const parsed = parseRecord(formats, codec, trimRecord(codec, bytes));
    const decoded = parsed.ok ? session.observe(parsed.value, line) : null;
    if (decoded === null || 'problem' in decoded || decoded.message === undefined) return null;
    const { message } = decoded;
    // The name of a place would be that of another message in the next compaction.
    return message.id.startsWith('line:') ? { ...message, id: `message:${lineId}` } : message;
  };
}

function openWith(codec: Codec, headers: readonly Json[]): CodecSession {
  const session = codec.open();
  for (const header of headers) session.observe(header, 0);
  return session;
}
