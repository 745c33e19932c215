import { type SummaryBatch, type SummaryLevel, timeSpanOf } from '../../core/batch.ts';
import { createCondenser } from '../../core/handover/condense.ts';
import { type ConversationMessage, joinPieces } from '../../core/message.ts';
import type { CallLines, KeptRequest, ModelRequest } from '../../core/model-request.ts';
import { batchTokensOf, type CompactionConfig, DEFAULT_COMPACTION_CONFIG } from '../../core/policy.ts';
import { buildSummarizationRequest, callLines } from '../../core/prompt.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Retention } from '../../core/retention/audit.ts';
import { CHARS_PER_TOKEN, estimateTokens } from '../../core/tokens.ts';
import { isInterrupted } from '../contract/deps.ts';
import type { LineageMaterial } from '../read/lineage.ts';
import { summarizeChunk, type SummaryDeps } from './summarize-chunk.ts';
import { addUsage, NO_USAGE, type Usage } from './usage.ts';

/** A batch of this run, with the messages it summarizes. */
export type FreshBatch = SummaryBatch & {
  readonly members: readonly number[];
  readonly level: SummaryLevel;
  /** Null: not audited. */
  readonly retention: Retention | null;
};

type SummarizeInput = {
  /** Indices of messages; each chunk in the order in which it was said. */
  readonly chunks: readonly (readonly number[])[];
  readonly load: (index: number) => ConversationMessage;
  /** The 1-based position in the whole conversation. */
  readonly lifeIndex: (index: number) => number;
  /** The summary that the history began with; null: none (L1). */
  readonly previousSummary: string | null;
  /** What earlier batches of the conversation already say. */
  readonly earlier: readonly string[];
  readonly config: CompactionConfig;
  readonly modelName: string;
  readonly onChunk?: (done: number, total: number) => void;
};

/** A chunk is not halved below this many messages, nor below this many tokens where chunks are formed by tokens (L5). */
const MIN_CHUNK_MESSAGES = 2;
const MIN_CHUNK_TOKENS = 1000;

type Waiting = {
  readonly members: readonly number[];
  readonly halvings: number;
  /** Requests that failed as a whole and of which this is the first part. */
  readonly firstOf: readonly ModelRequest[];
};

/**
 * Summarizes chunk after chunk, each with the previous summary as context unless `foldIn` is false. The error tells people what went wrong, or
 * that answers come later; without fold-in, every chunk has been asked for by then.
 */
export async function summarizeChunks(
  deps: SummaryDeps,
  input: SummarizeInput,
): Promise<Result<{ readonly batches: readonly FreshBatch[]; readonly usage: Usage }, string>> {
  const { config, modelName } = input;
  const maxRetries = config.maxRetries ?? DEFAULT_COMPACTION_CONFIG.maxRetries;
  const waiting: Waiting[] = input.chunks.map((members) => ({ members, halvings: 0, firstOf: [] }));
  const batches: FreshBatch[] = [];
  let usage = NO_USAGE;
  const foldsIn = config.foldIn !== false;
  let previousSummary = foldsIn ? input.previousSummary : null;
  let deferred: string | null = null;
  const calls = deps.paid === undefined ? undefined : callsIn(input);
  for (let chunk = waiting.shift(); chunk !== undefined; chunk = waiting.shift()) {
    if (await isInterrupted(deps)) return err('it was interrupted');
    const messages = joinPieces(chunk.members.map(input.load));
    const mayHalve = chunk.halvings < maxRetries && canHalve(messages, config);
    // Without fold-in nothing depends on other chunks, so that all can be asked for at once.
    const earlier = foldsIn ? [...input.earlier, ...batches.map((batch) => batch.content)] : input.earlier;
    const request = chunkRequest(messages, { previousSummary, earlier, calls, config, modelName });
    const answer = await summarizeChunk(
      deps,
      { request, messages, previousSummary, earlier, config },
      {
        inputTokens: inputTokens(messages, previousSummary),
        maxRetries,
        canHalve: mayHalve,
        halvings: chunk.halvings,
      },
    );
    usage = addUsage(usage, answer.usage);
    if (answer.kind === 'summary') {
      const { text, level, retention } = answer;
      const batch = toBatch(text, { members: chunk.members, messages, lifeIndex: input.lifeIndex });
      batches.push({ ...batch, level, retention });
      if (level !== 'fallback') for (const whole of chunk.firstOf) await deps.paid?.keepHalved(whole);
      if (foldsIn) previousSummary = text;
      input.onChunk?.(batches.length, batches.length + waiting.length);
    } else if (answer.kind === 'smaller' && mayHalve) {
      const middle = Math.max(MIN_CHUNK_MESSAGES, Math.ceil(chunk.members.length / 2));
      const halvings = chunk.halvings + 1;
      waiting.unshift(
        { members: chunk.members.slice(0, middle), halvings, firstOf: [...chunk.firstOf, request] },
        { members: chunk.members.slice(middle), halvings, firstOf: [] },
      );
    } else if (answer.kind === 'deferred' && !foldsIn) {
      deferred = answer.message;
    } else {
      return err(answer.message);
    }
  }
  return deferred === null ? ok({ batches, usage }) : err(deferred);
}

/** The calls of all chunks: a result may be in another chunk than its call. */
export function callsIn({ chunks, load }: Pick<SummarizeInput, 'chunks' | 'load'>): CallLines {
  return callLines(
    (function* () {
      for (const chunk of chunks) for (const index of chunk) yield load(index);
    })(),
  );
}

export function chunkRequest(
  messages: readonly ConversationMessage[],
  context: {
    readonly previousSummary: string | null;
    /** What earlier batches already say. */
    readonly earlier: readonly string[];
    readonly calls: CallLines | undefined;
    readonly config: CompactionConfig;
    readonly modelName: string;
  },
): ModelRequest {
  const { previousSummary, earlier, calls, config, modelName } = context;
  const request = buildSummarizationRequest({
    systemPrompt: config.prompt,
    previousSummary,
    messages,
    modelName,
    maxTokens: batchTokensOf(config),
    earlier,
    ...(calls === undefined ? {} : { calls }),
    ...maxMessageChars(config, previousSummary),
  });
  return withTimeout(request, config);
}

/** Room for the system prompt and the directive. */
const FRAME_TOKENS = 1000;

/** The room for one message in the model's window, after everything else in the request (C2). */
function maxMessageChars(
  config: CompactionConfig,
  previousSummary: string | null,
): { readonly maxMessageChars?: number } {
  const { modelMaxTokens } = config;
  if (modelMaxTokens === undefined) return {};
  const taken = FRAME_TOKENS + batchTokensOf(config) + (previousSummary === null ? 0 : estimateTokens(previousSummary));
  return { maxMessageChars: Math.max(FRAME_TOKENS, modelMaxTokens - taken) * CHARS_PER_TOKEN };
}

function canHalve(messages: readonly ConversationMessage[], { maxChunkTokens }: CompactionConfig): boolean {
  if (messages.length <= MIN_CHUNK_MESSAGES) return false;
  return maxChunkTokens === undefined || inputTokens(messages, null) > MIN_CHUNK_TOKENS;
}

export function withTimeout<T extends object>(request: T, { timeout }: CompactionConfig): T & { timeout?: number } {
  return timeout === undefined ? request : { ...request, timeout };
}

function inputTokens(messages: readonly ConversationMessage[], previousSummary: string | null): number {
  const chunk = messages.reduce((sum, message) => sum + estimateTokens(message.content), 0);
  return chunk + (previousSummary === null ? 0 : estimateTokens(previousSummary));
}

/** L2: the times are the earliest and the latest of the chunk, however it was formed. */
function toBatch(
  content: string,
  chunk: {
    readonly members: readonly number[];
    readonly messages: readonly ConversationMessage[];
    readonly lifeIndex: (index: number) => number;
  },
): Omit<FreshBatch, 'level' | 'retention'> {
  return {
    content,
    depth: 0,
    ...timeSpanOf(chunk.messages.map((message) => message.created_at)),
    messageCount: chunk.members.length,
    ...indexSpan(chunk.members.map(chunk.lifeIndex)),
    members: chunk.members,
  };
}

function indexSpan(indices: readonly number[]): Required<Pick<SummaryBatch, 'firstIndex' | 'lastIndex'>> {
  return {
    firstIndex: indices.reduce((a, b) => Math.min(a, b)),
    lastIndex: indices.reduce((a, b) => Math.max(a, b)),
  };
}

/** How to ask for a summary that cannot be made of halves. */
export function asWhole({ maxRetries = DEFAULT_COMPACTION_CONFIG.maxRetries }: CompactionConfig) {
  return { maxRetries, canHalve: false, halvings: 0 } as const;
}

type EverythingInput = Pick<SummarizeInput, 'load' | 'lifeIndex' | 'earlier' | 'config' | 'modelName'> & {
  /** Indices of the leaving messages, in the order in which they were said. */
  readonly members: readonly number[];
  /** Called with each of them, in order, as it is read. */
  readonly onMessage: (index: number, message: ConversationMessage) => void;
  /** The messages that stay and that a person typed, ascending. */
  readonly keptRequests: readonly number[];
  readonly lineage: LineageMaterial;
  /** A summary that another program left instead of what it compacted. */
  readonly foreign: { readonly message: ConversationMessage; readonly batch: SummaryBatch } | null;
};

/**
 * One summary of everything that has left a conversation so far, made from the originals of all its compactions,
 * because summarizing summaries loses something each time. The error is a sentence for the user.
 */
export async function summarizeEverything(
  deps: SummaryDeps,
  input: EverythingInput,
): Promise<Result<{ readonly batch: FreshBatch; readonly usage: Usage }, string>> {
  const { members, lineage, foreign, earlier, config, modelName } = input;
  const before = [...lineage.messages, ...(foreign === null ? [] : [foreign.message])];
  const going = await gatherMessages(deps, input);
  if (going === null) return err('it was interrupted');
  const messages = joinPieces([...before, ...going.messages]);
  const request = {
    messages: [],
    model: modelName,
    max_tokens: batchTokensOf(config),
    source: { kind: 'chunk', messages, earlier, kept: readKept(input) },
  } as const;
  const answer = await summarizeChunk(
    deps,
    { request, messages, previousSummary: null, earlier, config },
    { inputTokens: going.tokens + inputTokens(before, null), ...asWhole(config) },
  );
  if (answer.kind !== 'summary') return err(answer.message);
  const { text, level, retention, usage } = answer;
  const sources = [...lineage.replaced, ...(foreign === null ? [] : [foreign.batch])];
  const batch = {
    content: text,
    depth: sources.reduce((deepest, { depth }) => Math.max(deepest, depth + 1), 0),
    ...timeSpanOf([
      going.times.startTime,
      going.times.endTime,
      ...sources.flatMap(({ startTime, endTime }) => [startTime, endTime]),
    ]),
    messageCount: members.length + sources.reduce((sum, { messageCount }) => sum + messageCount, 0),
    ...indexSpan([
      ...members.map(input.lifeIndex),
      ...sources.flatMap(({ firstIndex, lastIndex }) => [firstIndex ?? [], lastIndex ?? []].flat()),
    ]),
  };
  return ok({ batch: { ...batch, members, level, retention }, usage });
}

function readKept({ keptRequests, members, load }: EverythingInput): readonly KeptRequest[] {
  return keptRequests.flatMap((index) => {
    const { id, typed } = load(index);
    const before = members.findLast((member) => member < index);
    return typed === undefined
      ? []
      : [{ messageId: id, text: typed, after: before === undefined ? null : load(before).id }];
  });
}

/** Far more than a summary can use; longer conversations are shortened to stay within memory. */
const MAX_GATHERED_CHARS = 8 * 1024 * 1024;
/** Yields to other work, such as storing lines, after this many characters. */
const CHARS_A_TURN = 2 * 1024 * 1024;

/**
 * Loads the messages that leave: shortened if they are very long together, with the estimated tokens before that. Null:
 * the run was interrupted.
 */
async function gatherMessages(deps: SummaryDeps, { members, load, onMessage }: EverythingInput) {
  // An audit looks for facts in all of the text.
  const condenser = createCondenser(deps.audit === undefined ? MAX_GATHERED_CHARS : Infinity);
  let tokens = 0;
  let times = timeSpanOf([]);
  let charsLeft = 0;
  for (const index of members) {
    if (charsLeft <= 0) {
      if (await isInterrupted(deps)) return null;
      charsLeft = CHARS_A_TURN;
    }
    const message = load(index);
    onMessage(index, message);
    condenser.add(message);
    tokens += estimateTokens(message.content);
    times = timeSpanOf([times.startTime, times.endTime, message.created_at]);
    charsLeft -= message.content.length;
  }
  return { messages: condenser.messages(), tokens, times };
}
