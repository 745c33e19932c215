import { joinBatches, planResummarize, type SummaryBatch, type SummaryLevel } from '../../core/batch.ts';
import { buildClipArchive, type KeptMessage, QUOTATION_NOTICE, SHOWN_KEY_DIGITS } from '../../core/clip-archive.ts';
import type { ConversationMessage } from '../../core/message.ts';
import { batchTokensOf, type CompactionConfig } from '../../core/policy.ts';
import { buildResummarizationRequest } from '../../core/prompt.ts';
import { quoteText } from '../../core/quoted-text.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Retention } from '../../core/retention/audit.ts';
import { readStatements, type StatingMessage } from '../../core/standing-rules/rules.ts';
import { estimateTokens } from '../../core/tokens.ts';
import type { StoredBatch } from '../../ports/archive-lookup.ts';
import type { BatchDraft, BatchRef, CycleDraft } from '../../ports/archive.ts';
import { type LineageMaterial, NO_MATERIAL, type Prior, type ReadLineage, summaryMessage } from '../read/lineage.ts';
import { type LeavingMessages, requestsBefore, standingRules } from './rules-and-requests.ts';
import { summarizeChunk, type SummaryDeps } from './summarize-chunk.ts';
import { asWhole, type FreshBatch, summarizeChunks, summarizeEverything, withTimeout } from './summarize.ts';
import { addUsage, NO_USAGE, type Usage } from './usage.ts';

export type CycleInput = LeavingMessages & {
  readonly conversationId: string;
  /** Hex digits that are equal only for the same original and settings. */
  readonly originKey: string;
  readonly readLineage: ReadLineage;
  readonly keptWordForWord: readonly KeptMessage[];
  readonly modelName: string;
  readonly onChunk?: (done: number, total: number) => void;
};

export type FinishedCycle = {
  /** The clip-archive. It is built on demand because it repeats its batches and a file may have thousands of conversations. */
  readonly text: () => string;
  readonly draft: Omit<CycleDraft, 'clipSha256'>;
  readonly live: readonly LiveBatch[];
  /** The position in `draft.newBatches` of each leaving message's batch. */
  readonly batchOf: ReadonlyMap<number, number>;
  /** The retention of each audited batch, by its position in `draft.newBatches`. */
  readonly retentionOf: ReadonlyMap<number, Retention>;
  readonly usage: Usage;
};

/** One compaction of one conversation: summaries, re-summarizing, clip-archive. The error tells people why there is no summary. */
export async function runCycle(deps: SummaryDeps, input: CycleInput): Promise<Result<FinishedCycle, string>> {
  const { prior, config, compressedBefore } = input;
  // The originals are read once for the summary, the requests and the rules.
  let known: ReturnType<ReadLineage> | null = null;
  const readLineage: ReadLineage = (cycle) => (known ??= input.readLineage(cycle));
  // A summarizer that quotes can summarize everything again each time; a model would be paid each time.
  const isWhole = config.summaryTokens !== undefined && deps.model.isVerbatim === true;
  const made = isWhole ? await makeOneBatch(deps, { ...input, readLineage }) : await makeChunkBatches(deps, input);
  if (!made.ok) return made;
  const { closed, batches, offset, usage, stating } = made.value;
  const { live, drafts } = closed;
  const batchOf = new Map<number, number>();
  for (const [at, { members }] of batches.entries()) for (const index of members) batchOf.set(index, offset + at);
  const messagesCompressed = compressedBefore + batchOf.size;
  const cycle = cyclesOf(prior) + 1;
  const lineageOf = async () => (prior.kind === 'lineage' ? readLineage(prior.cycle) : NO_MATERIAL);
  const rules = await standingRules({ ...input, ...(stating !== undefined && { stating }) }, lineageOf);
  const extras = {
    notice: QUOTATION_NOTICE,
    rules,
    requests: await requestsBefore(input, { isVerbatim: deps.model.isVerbatim === true, readLineage: lineageOf }),
    keptWordForWord: input.keptWordForWord,
    // Says how to find what is not shown. The key makes the line unique to one original: two different originals could be summarized in the
    // same words, and the line's hash leads back to the archive.
    archiveLine: `[Archive: ${input.originKey.slice(0, SHOWN_KEY_DIGITS)} holds what left; \`compact search WORDS\` (memory_read) finds it, \`compact show LABEL\` (memory_expand) shows it]`,
  };
  return ok({
    text: () => buildClipArchive(live, config, messagesCompressed, cycle, extras),
    draft: {
      conversationId: input.conversationId,
      cycle,
      parentCycleId: prior.kind === 'lineage' ? prior.cycle.id : null,
      messagesCompressed,
      newBatches: drafts,
      live: live.map(({ ref }) => ref),
    },
    live,
    batchOf,
    retentionOf: retentionOfShown(batches, { offset, closed }),
    usage,
  });
}

/** The batches of a cycle. `batches` are those made from messages; `offset` is the position of the first of them in `closed.drafts`. */
type MadeBatches = {
  readonly closed: CycleBatches;
  readonly batches: readonly FreshBatch[];
  readonly offset: number;
  readonly usage: Usage;
  /** The messages that state rules; undefined: not all were read at once. */
  readonly stating?: readonly StatingMessage[];
};

/** Summarizes chunk after chunk and keeps the batches of earlier cycles. */
async function makeChunkBatches(deps: SummaryDeps, input: CycleInput): Promise<Result<MadeBatches, string>> {
  const { prior, config, modelName, compressedBefore } = input;
  const inherited = inheritedBatches(prior);
  const summarized = await summarizeChunks(deps, {
    chunks: input.chunks,
    load: input.load,
    lifeIndex: (index) => compressedBefore + index + 1,
    previousSummary: prior.kind === 'none' ? null : prior.text,
    earlier: [...inherited.stored, ...inherited.foreign].map((batch) => batch.content),
    config,
    modelName,
    ...(input.onChunk === undefined ? {} : { onChunk: input.onChunk }),
  });
  if (!summarized.ok) return summarized;
  const { batches, usage } = summarized.value;
  const fresh = [...inherited.foreign, ...batches];
  const closed = await collectLiveBatches(deps, { earlier: inherited.stored, fresh, config, modelName });
  if (!closed.ok) return closed;
  return ok({
    closed: closed.value,
    batches,
    offset: inherited.foreign.length,
    usage: addUsage(usage, closed.value.usage),
  });
}

/** Makes one batch that replaces everything earlier cycles made. A clip-archive from elsewhere stays beside it (L8). */
async function makeOneBatch(deps: SummaryDeps, input: CycleInput): Promise<Result<MadeBatches, string>> {
  const { prior, compressedBefore } = input;
  const lineage = prior.kind === 'lineage' ? await input.readLineage(prior.cycle) : NO_MATERIAL;
  const [foreign = null] = inheritedBatches(prior).foreign;
  const isOurs = prior.kind === 'foreign' && prior.isOurs;
  const beside = [...lineage.kept, ...(foreign !== null && isOurs ? [foreign] : [])];
  const stating: StatingMessage[] = [];
  const summarized = await summarizeEverything(deps, {
    members: input.chunks.flat().sort((a, b) => a - b),
    load: input.load,
    onMessage: (index, { ruleText }) => {
      if (ruleText === undefined || input.config.keepRules === false || input.isTyped?.(index) === false) return;
      const stated = readStatements({ index: compressedBefore + index + 1, text: ruleText });
      if (stated !== null) stating.push(stated);
    },
    lifeIndex: (index) => compressedBefore + index + 1,
    lineage,
    foreign:
      foreign === null || isOurs ? null : { batch: foreign, message: summaryMessage(foreign.content, 'summary') },
    earlier: beside.map(({ content }) => content),
    keptRequests: input.keptRequests ?? [],
    config: input.config,
    modelName: input.modelName,
  });
  if (!summarized.ok) return summarized;
  input.onChunk?.(1, 1);
  const { batch, usage } = summarized.value;
  return ok({
    closed: replaceLiveBatches({ lineage, foreign, isOurs, batch }),
    batches: [batch],
    offset: foreign === null ? 0 : 1,
    usage,
    stating,
  });
}

/** The retention of the batches that are shown: a merged batch replaces its sources. */
function retentionOfShown(
  batches: readonly FreshBatch[],
  { offset, closed }: { offset: number; closed: CycleBatches },
): ReadonlyMap<number, Retention> {
  const shown = new Set(closed.live.flatMap(({ ref }) => (ref.kind === 'new' ? [ref.position] : [])));
  const all = batches.map(({ retention }, at) => [offset + at, retention] as const);
  const merged = [closed.drafts.length - 1, closed.mergedRetention] as const;
  return new Map(
    [...all, merged].flatMap(([position, retention]) =>
      retention !== null && shown.has(position) ? [[position, retention] as const] : [],
    ),
  );
}

/** How often a conversation was compacted before. */
export function cyclesOf(prior: Prior): number {
  if (prior.kind === 'none') return 0;
  return prior.kind === 'lineage' ? prior.cycle.cycle : prior.cycles;
}

/** The batches of earlier compactions: the lineage's, or a foreign summary as a batch of its own (L8). */
function inheritedBatches(prior: Prior): {
  readonly stored: readonly StoredBatch[];
  readonly foreign: readonly SummaryBatch[];
} {
  if (prior.kind === 'lineage') return { stored: prior.cycle.live, foreign: [] };
  if (prior.kind === 'none') return { stored: [], foreign: [] };
  const batch = {
    content: quoteText(prior.text),
    depth: 0,
    startTime: null,
    endTime: null,
    messageCount: prior.messages,
  };
  return {
    stored: [],
    foreign: [prior.messages === 0 ? batch : { ...batch, firstIndex: 1, lastIndex: prior.messages }],
  };
}

/** A batch in the clip-archive, and where it is stored. */
type LiveBatch = SummaryBatch & { readonly ref: BatchRef; readonly level?: SummaryLevel };

type CycleBatches = {
  readonly drafts: readonly BatchDraft[];
  readonly live: readonly LiveBatch[];
  readonly usage: Usage;
  /** The retention of the merged batch, which is the last draft. */
  readonly mergedRetention: Retention | null;
};

/**
 * Joins the batches of earlier cycles with the new ones and re-summarizes the older ones if there are too many (A3). A re-summarized batch is
 * an additional draft; its sources stay in the archive.
 */
async function collectLiveBatches(
  deps: SummaryDeps,
  input: {
    readonly earlier: readonly StoredBatch[];
    readonly fresh: readonly (SummaryBatch & { readonly level?: SummaryLevel })[];
    readonly config: CompactionConfig;
    readonly modelName: string;
  },
): Promise<Result<CycleBatches, string>> {
  const drafts = input.fresh.map((batch): BatchDraft => ({
    ...plainBatch(batch),
    sources: [],
    level: batch.level ?? 'plain',
  }));
  const live = [
    ...input.earlier.map(storedBatch),
    ...drafts.map((batch, position): LiveBatch => ({
      ...plainBatch(batch),
      level: batch.level ?? 'plain',
      ref: { kind: 'new', position },
    })),
  ];
  const done = await resummarizeBatches(deps, live, input);
  if (!done.ok) return done;
  const { merged, sources, kept, usage, retention: mergedRetention } = done.value;
  if (merged === null) return ok({ drafts, live, usage, mergedRetention });
  return ok({
    drafts: [...drafts, { ...merged, sources: sources.map(({ ref }) => ref) }],
    live: [{ ...merged, ref: { kind: 'new', position: drafts.length } }, ...kept],
    usage,
    mergedRetention,
  });
}

/**
 * The batches of a cycle with a single new batch. It replaces the batches whose originals it was made from, and another program's summary
 * (`foreign`), which is stored for search. A summary of ours from another archive stays beside it.
 */
function replaceLiveBatches({
  lineage,
  foreign,
  isOurs,
  batch,
}: {
  lineage: LineageMaterial;
  foreign: SummaryBatch | null;
  isOurs: boolean;
  batch: SummaryBatch & { level: SummaryLevel };
}): CycleBatches {
  const { level } = batch;
  const first: BatchRef = { kind: 'new', position: 0 };
  const sources = [
    ...lineage.replaced.map(({ id }): BatchRef => ({ kind: 'stored', id })),
    ...(foreign === null || isOurs ? [] : [first]),
  ];
  const whole = plainBatch(batch);
  const position = foreign === null ? 0 : 1;
  return {
    drafts: [
      ...(foreign === null ? [] : [{ ...foreign, sources: [], level: 'plain' } as const]),
      { ...whole, sources, level },
    ],
    live: [
      ...lineage.kept.map(storedBatch),
      ...(foreign !== null && isOurs ? [{ ...foreign, level: 'plain', ref: first } as const] : []),
      { ...whole, level, ref: { kind: 'new', position } },
    ],
    usage: NO_USAGE,
    mergedRetention: null,
  };
}

function storedBatch(batch: StoredBatch): LiveBatch {
  return { ...plainBatch(batch), level: batch.level, ref: { kind: 'stored', id: batch.id } };
}

/** The batch without its creator's extra fields. */
function plainBatch({
  content,
  depth,
  startTime,
  endTime,
  messageCount,
  firstIndex,
  lastIndex,
}: SummaryBatch): SummaryBatch {
  const indices = firstIndex === undefined || lastIndex === undefined ? {} : { firstIndex, lastIndex };
  return { content, depth, startTime, endTime, messageCount, ...indices };
}

type Resummarized<B> = {
  /** The batch that replaces the older ones; null: there are not too many. */
  readonly merged: (SummaryBatch & { readonly level: SummaryLevel }) | null;
  /** The batches that `merged` replaces, oldest first. */
  readonly sources: readonly B[];
  readonly kept: readonly B[];
  readonly usage: Usage;
  /** Retention of the facts in the merged summaries; null: not audited. */
  readonly retention: Retention | null;
};

/** If there are more live batches than are shown (A3), all but the last `clipLast` are merged. The error says why there is no summary. */
export async function resummarizeBatches<B extends SummaryBatch>(
  deps: SummaryDeps,
  batches: readonly B[],
  { config, modelName }: { config: CompactionConfig; modelName: string },
): Promise<Result<Resummarized<B>, string>> {
  const due = planResummarize(batches, config);
  if (due === null) return ok({ merged: null, sources: [], kept: batches, usage: NO_USAGE, retention: null });
  const batchContents = due.merge.map(({ content }) => content);
  const request = buildResummarizationRequest({
    systemPrompt: config.prompt,
    batchContents,
    batches: due.merge,
    modelName,
    maxTokens: batchTokensOf(config),
  });
  const chunk = {
    request: withTimeout(request, config),
    // The merged summary is all that will be shown of its sources, so it is audited against them.
    messages: due.merge.map(asMessage),
    previousSummary: null,
    earlier: [],
    config,
  };
  const answer = await summarizeChunk(deps, chunk, {
    inputTokens: batchContents.reduce((sum, text) => sum + estimateTokens(text), 0),
    ...asWhole(config),
  });
  if (answer.kind !== 'summary') return err(answer.message);
  const { text, level, usage, retention } = answer;
  return ok({
    merged: { ...joinBatches(due.merge, text), level },
    sources: due.merge,
    kept: due.keep,
    usage,
    retention,
  });
}

function asMessage({ content, endTime }: SummaryBatch, at: number): ConversationMessage {
  return { id: `batch:${at + 1}`, conversation_id: '', role: 'assistant', content, created_at: endTime };
}
