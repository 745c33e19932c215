import { clipArchiveBody, originOf, parseClipArchiveHead } from '../../core/clip-archive.ts';
import { condenseMessages } from '../../core/handover/condense.ts';
import type { ConversationMessage } from '../../core/message.ts';
import type { PlanMessage } from '../../core/plan/view.ts';
import { type ParsedRules, parseRules, type TypedMessage } from '../../core/standing-rules/rules.ts';
import type { ClipMark } from '../../core/transcript.ts';
import type { ArchivedLine, StoredBatch } from '../../ports/archive-lookup.ts';
import type { Archive, StoredCompaction, StoredCycle } from '../../ports/archive.ts';
import type { Codec, CodecSession, Json, FormatRegistry } from '../../ports/codec.ts';
import type { AppDeps } from '../contract/deps.ts';
import { createTextSharer, type MeasureMessage, normalizeClipText, toEntry } from './index-records.ts';
import { parseRecord, trimRecord } from './records.ts';

/**
 * Where the summary found in a transcript comes from (L8). lineage: the archive has the cycle that wrote it. foreign: another program wrote
 * it, or we did (`isOurs`) with another archive; it is kept as a batch of its own.
 */
export type Prior =
  | { readonly kind: 'none' }
  | { readonly kind: 'lineage'; readonly cycle: StoredCycle; readonly text: string }
  | {
      readonly kind: 'foreign';
      readonly text: string;
      readonly isOurs: boolean;
      /** If it is ours: the rules above its batches, which `text` does not contain. */
      readonly rules: Pick<ParsedRules, 'rules' | 'dropped'>;
      readonly messages: number;
      readonly cycles: number;
    };

/** No conversation has more messages or cycles; a summary that claims so was made up. */
const MAX_BELIEVED = 1_000_000_000;

const NO_RULES = { rules: [], dropped: [] };

/**
 * We believe the counts that a foreign summary states; without them it represents the messages before it, in one cycle. We believe its rules
 * only if its record is marked as a summary (`isMarked`): otherwise a person could have pasted it as a message.
 */
export function foreignPrior(
  text: string,
  { staleMessageCount, isMarked }: { staleMessageCount: number; isMarked: boolean },
): Extract<Prior, { readonly kind: 'foreign' }> {
  const head = parseClipArchiveHead(text);
  if (head === null || Math.max(head.messages, head.cycles) > MAX_BELIEVED)
    return { kind: 'foreign', text, isOurs: false, rules: NO_RULES, messages: staleMessageCount, cycles: 1 };
  const { messages, cycles } = head;
  const body = clipArchiveBody(text) ?? text;
  if (!isMarked) return { kind: 'foreign', text: body, isOurs: true, rules: NO_RULES, messages, cycles };
  const { rest, ...rules } = parseRules(body);
  return { kind: 'foreign', text: rest, isOurs: true, rules, messages, cycles };
}

/** A message that is quoted verbatim in an earlier clip-archive, as the plan and the summarizer see it. */
export type CarriedMessage = { readonly plan: PlanMessage; readonly message: ConversationMessage };

export async function readCarried(
  archive: Archive,
  cycle: StoredCycle,
  read: {
    readonly formats: FormatRegistry;
    readonly codec: Codec;
    readonly session: CodecSession;
    readonly measure: MeasureMessage;
  },
): Promise<readonly CarriedMessage[]> {
  const share = createTextSharer();
  return (await archive.readSurvivors(cycle.id)).map((stored): CarriedMessage => {
    const parsed = parseRecord(read.formats, read.codec, trimRecord(read.codec, stored.bytes));
    const decoded = parsed.ok ? read.session.decode(parsed.value, stored.line) : null;
    if (decoded === null || 'problem' in decoded || decoded.message === undefined) {
      throw new Error(
        `line ${stored.line} of the archive, which was a message when it left, can no longer be read as one`,
      );
    }
    const place = { line: 0, start: 0, length: stored.bytes.length };
    const entry = toEntry(decoded, place, { share, measure: read.measure });
    return { plan: { ...entry, kind: 'message', carriedLineId: stored.id }, message: decoded.message };
  });
}

/** What earlier compactions of a conversation contribute to a summary made from the originals. */
export type LineageMaterial = {
  /** The originals in the order in which they were said, and summaries of which only the text is known. */
  readonly messages: readonly ConversationMessage[];
  /** What in them may state rules, with its position in the whole conversation. */
  readonly typed: readonly TypedMessage[];
  /** Live batches whose originals are included. */
  readonly replaced: readonly StoredBatch[];
  /** Live batches without originals in the archive: they stay. */
  readonly kept: readonly StoredBatch[];
};

export const NO_MATERIAL: LineageMaterial = { messages: [], typed: [], replaced: [], kept: [] };

export type ReadLineage = (cycle: StoredCycle) => Promise<LineageMaterial>;

type LineageArchive = Pick<Archive, 'readOriginals' | 'loadSources'>;

type Original = ArchivedLine & { readonly bytes: Uint8Array };

type Placed = { readonly message: ConversationMessage; readonly compactionId: number; readonly index: number };

/** A longer lineage is condensed, so that compactions do not cost more and more. */
const MAX_LINEAGE_CHARS = 262_144;

/** Reads everything that earlier cycles archived. `decode` returns the message of a line; null: the line is not a message. */
export async function readLineage(
  archive: LineageArchive,
  cycle: StoredCycle,
  decode: (original: Original) => ConversationMessage | null,
): Promise<LineageMaterial> {
  const replaced: StoredBatch[] = [];
  const kept: StoredBatch[] = [];
  const placed: Placed[] = [];
  for (const batch of cycle.live) {
    const before = placed.length;
    for await (const originals of archive.readOriginals(batch.id)) {
      for (const original of originals) {
        const message = decode(original);
        const { compactionId, line } = original;
        if (message !== null) placed.push({ message, compactionId, index: original.message?.index ?? line });
      }
    }
    if (placed.length === before) {
      kept.push(batch);
      continue;
    }
    replaced.push(batch);
    for (const source of await summariesBehind(archive, batch)) {
      placed.push({ message: summaryMessage(source.content, `batch:${source.id}`), compactionId: 0, index: source.id });
    }
  }
  placed.sort((a, b) => a.compactionId - b.compactionId || a.index - b.index);
  const typed = placed.flatMap(({ message, index }) =>
    message.ruleText === undefined
      ? []
      : [{ index, text: message.ruleText, source: { id: message.id, at: message.created_at } }],
  );
  return {
    messages: condenseMessages(
      placed.map(({ message }) => message),
      MAX_LINEAGE_CHARS,
    ),
    typed,
    replaced,
    kept,
  };
}

/** The sources of a batch that came from elsewhere: they have no originals in the archive. */
async function summariesBehind(archive: LineageArchive, batch: StoredBatch): Promise<readonly StoredBatch[]> {
  const seen = new Set<number>();
  const found: StoredBatch[] = [];
  const waiting = [...(await archive.loadSources(batch.id))];
  for (let source = waiting.pop(); source !== undefined; source = waiting.pop()) {
    if (seen.has(source.id)) continue;
    seen.add(source.id);
    const sources = await archive.loadSources(source.id);
    waiting.push(...sources);
    if (sources.length === 0 && !(await hasOriginals(archive, source))) found.push(source);
  }
  return found;
}

async function hasOriginals(archive: LineageArchive, batch: StoredBatch): Promise<boolean> {
  for await (const originals of archive.readOriginals(batch.id)) if (originals.length > 0) return true;
  return false;
}

/** A summary that a program wrote, as a message of the conversation. */
export function summaryMessage(content: string, id: string): ConversationMessage {
  return { id, conversation_id: '', role: 'user', content, created_at: null, isSummary: true };
}

/**
 * Decodes archived lines of one format. Each compaction gets its own session because line numbers start again in each. `headers`: those that
 * stay in the file; they say which session it is.
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
    // In the next compaction this line number would belong to another message.
    return message.id.startsWith('line:') ? { ...message, id: `message:${lineId}` } : message;
  };
}

function openWith(codec: Codec, headers: readonly Json[]): CodecSession {
  const session = codec.open();
  for (const header of headers) session.observe(header, 0);
  return session;
}

type Deps = Pick<AppDeps, 'formats' | 'runtime'>;

/**
 * The cycle whose clip-archive has the same text, although its producer rewrote the record: a document that became a log, a session of an
 * older version, an export. The key alone proves nothing, because anybody can write one into a transcript.
 */
export async function findRewrittenCycle(deps: Deps, archive: Archive, clip: ClipMark): Promise<RewrittenCycle | null> {
  for await (const found of findRewrittenCycles(deps, archive, clip)) return found;
  return null;
}

type RewrittenCycle = { readonly cycle: StoredCycle; readonly format: string };

/** All of them, the newest first: copies of a file have one each. */
export async function* findRewrittenCycles(
  deps: Deps,
  archive: Archive,
  { key, textSha256 }: ClipMark,
): AsyncGenerator<RewrittenCycle> {
  for (const { compactionId, sourceSha256, settingsSha256 } of key === null ? [] : await archive.listCompactions()) {
    if (!deps.runtime.sha256(originOf(sourceSha256, settingsSha256)).startsWith(key ?? '')) continue;
    const compaction = await archive.loadCompaction(compactionId);
    const codec = compaction === null ? null : await deps.formats.load(compaction.format);
    if (compaction === null || codec === null) continue;
    const recordOf = await insertedRecords(deps, compaction);
    const textOf = ({ clipSha256 }: StoredCycle): string | null => clipTextOf(deps, codec, recordOf(clipSha256));
    const cycle = compaction.cycles.find((one) => textOf(one) === textSha256);
    if (cycle !== undefined) yield { cycle, format: compaction.format };
  }
}

/**
 * The values of the records that a compaction inserted, by the sha256 of their trimmed lines. Undefined: it inserted no such line, or it cannot
 * be read.
 */
export async function insertedRecords(
  { formats, runtime }: Deps,
  { inserted, format }: Pick<StoredCompaction, 'inserted' | 'format'>,
): Promise<(sha256: string) => Json | undefined> {
  const codec = (await formats.load(format)) ?? {};
  const lines = new Map(
    inserted.map(({ bytes }) => trimRecord(codec, bytes)).map((line) => [runtime.sha256(line), line]),
  );
  return (sha256) => {
    const line = lines.get(sha256);
    const parsed = line === undefined ? null : parseRecord(formats, codec, line);
    return parsed?.ok === true ? parsed.value : undefined;
  };
}

/** The sha256 of the text in a record, as `ClipMark` has it; null: it cannot be read. */
export function clipTextOf({ runtime }: Pick<Deps, 'runtime'>, codec: Codec, record: Json | undefined): string | null {
  const decoded = record === undefined ? null : codec.open().observe(record, 1);
  if (decoded === null || 'problem' in decoded) return null;
  return runtime.sha256(normalizeClipText(decoded.message?.content ?? ''));
}

/** Checks on the way back through compactions that every continued cycle is found. */
export function createLineageCheck(archive: Archive) {
  const children = new Map<number, StoredCycle>();
  const found = new Set<number>();
  /** Cycles whose clip-archive was found, also in a record that its producer rewrote. */
  const addFound = async (cycles: readonly StoredCycle[]): Promise<void> => {
    // Copies of one file, or of one conversation in it, contain the same line: each of them counts as that cycle.
    const clips = new Set(cycles.map(({ clipSha256 }) => clipSha256));
    for (const clip of clips) for (const { id } of await archive.findCycles(clip)) found.add(id);
  };
  return {
    add: async ({ cycles }: StoredCompaction): Promise<void> => {
      for (const cycle of cycles) if (cycle.parentCycleId !== null) children.set(cycle.parentCycleId, cycle);
      await addFound(cycles);
    },
    addFound,
    /** Cycles that continue one that was not found: what came before it is lost. */
    orphans: () => [...children].flatMap(([parentId, child]) => (found.has(parentId) ? [] : [child])),
  };
}
