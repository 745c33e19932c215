import { quoteBatch, quoteText } from '../../core/quoted-text.ts';
import { type LastWords, readLastExchange } from '../../core/handover/last-exchange.ts';
import type { ConversationMessage } from '../../core/message.ts';
import { chunkMessagesByTokenBudget } from '../../core/chunk.ts';
import type { CompactionConfig, TranscriptPolicy } from '../../core/policy.ts';
import { ok, type Result } from '../../core/result.ts';
import type { Count, IsoTime } from '../../core/units.ts';
import { transcriptPathOf, withDroppedRules } from '../compact/choices.ts';
import { reportUsage } from '../compact/report.ts';
import { createLineageReader, wholeConversation } from '../compact/summarize-conversation.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure, noSummary, stop } from '../contract/failure.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import type { UsageReport } from '../contract/reports.ts';
import { NO_MATERIAL } from '../read/lineage.ts';
import { findLastTime, type PreparedConversation, readTranscript, type ReadTranscript } from '../read/prepare.ts';
import { requestsBefore, standingRules } from '../summarize/rules-and-requests.ts';
import { runCycle } from '../summarize/run-cycle.ts';
import { createSummaryDeps } from '../summarize/summarizer.ts';
import { openForStoring, openUnsettled } from '../write/settle.ts';
import { findTitle } from '../read/title.ts';
import { findProject } from './scan-file.ts';
import { CHARS_PER_TOKEN } from '../../core/tokens.ts';

export type HandOffRequest = Pick<CompactFileRequest, 'input' | 'summarizer' | 'modelName'> & {
  readonly policy: TranscriptPolicy;
  /** How long the hand-over may be. */
  readonly maxTokens: number;
};

/** What a session hands over. The texts are Markdown in which nothing of the session looks like a heading of ours. */
export type HandOff = {
  readonly file: string;
  readonly format: string;
  readonly conversation: string;
  readonly title: string | null;
  /** The folder that was worked in; null: unknown. */
  readonly project: string | null;
  /** ISO time of the last message; null: it has none. */
  readonly at: IsoTime | null;
  /** Of the whole conversation, with what left it in compactions. */
  readonly messages: Count;
  /** Whether the format says what a person typed. */
  readonly marksTyped: boolean;
  /** Rules, requests and summaries, in order. */
  readonly sections: readonly string[];
  readonly lastExchange: readonly LastWords[];
  /** Undefined: no model was called. */
  readonly usage?: UsageReport;
};

const LAST_SHARE = 0.15;
/** Its first lines, and how to look further. */
const FRAME_TOKENS = 300;
/** Offline, a summary has at least this much room, whatever the rules take. */
const MIN_SUMMARY_TOKENS = 100;

/** Summarizes a whole session for whoever goes on with it elsewhere. Only reads the session. */
export async function handOff(deps: AppDeps, request: HandOffRequest): Promise<Result<HandOff, Failure>> {
  const { input, policy } = request;
  return attempt({ file: input.name, progress: deps.progress }, async () => {
    const transcript = await readTranscript(deps, input, { policy, archive: () => openUnsettled(deps) });
    try {
      const [prepared, ...others] = transcript.conversations;
      if (prepared === undefined || others.length > 0)
        return stop({ kind: 'several-conversations', file: input.name, count: transcript.conversations.length });
      return ok(await describe(deps, request, { transcript, prepared }));
    } finally {
      transcript.source.close();
    }
  });
}

type Opened = { readonly transcript: ReadTranscript; readonly prepared: PreparedConversation };

async function describe(deps: AppDeps, request: HandOffRequest, { transcript, prepared }: Opened): Promise<HandOff> {
  const { input, policy, maxTokens, summarizer, modelName } = request;
  const { id, view, prior } = prepared;
  const isService = summarizer.service !== undefined;
  const archive = isService ? await openForStoring(deps) : await openUnsettled(deps);
  const place = { path: transcriptPathOf(deps, input), conversationIds: [id] };
  const { compaction } = await withDroppedRules(policy, archive, place);
  const lineage = createLineageReader(deps, transcript, archive);
  const readMaterial = async () => (prior.kind === 'lineage' ? lineage(prior.cycle) : NO_MATERIAL);
  const whole = wholeConversation(transcript, prepared, compaction);
  const isVerbatim = summarizer.model.isVerbatim === true;
  const lastExchange = readLastExchange(loadEnd(view.messages, whole.load), {
    maxChars: Math.floor(maxTokens * CHARS_PER_TOKEN * LAST_SHARE),
    followHandover: isVerbatim,
  });
  const rules = await standingRules(whole, readMaterial);
  const above = (rules?.length ?? 0) + lastExchange.reduce((sum, { text }) => sum + text.length, 0);
  const leftTokens = Math.max(MIN_SUMMARY_TOKENS, maxTokens - FRAME_TOKENS - Math.ceil(above / CHARS_PER_TOKEN));
  const config = isVerbatim ? { ...compaction, summaryTokens: leftTokens } : inFewParts(compaction, leftTokens);
  const tokens = (index: number): number => view.messages[index]?.tokens ?? 0;
  const leaving = {
    ...whole,
    chunks: chunkMessagesByTokenBudget([...view.messages.keys()], config.maxChunkTokens ?? Infinity, tokens),
    config: { ...config, keepRules: false },
  };
  const requests = await requestsBefore(leaving, { isVerbatim, readLineage: readMaterial });
  const summaries = createSummaryDeps(deps, { summarizer, input }, archive);
  const done = await runCycle(summaries, {
    ...leaving,
    conversationId: id,
    originKey: '',
    readLineage: lineage,
    keptWordForWord: [],
    modelName,
    onChunk: (count, all) => deps.progress.update('summarizing', count, all),
  });
  if (!done.ok) return stop(noSummary(input.name, done.error));
  const { name, marksTyped } = transcript.codec.format;
  return {
    file: input.name,
    format: name,
    conversation: id,
    title: findTitle(transcript),
    project: findProject(transcript),
    at: findLastTime(transcript)?.toISOString() ?? null,
    messages: done.value.draft.messagesCompressed,
    marksTyped: marksTyped === true,
    sections: [
      ...(rules === null ? [] : [rules]),
      ...(requests.length === 0 ? [] : [['## Requests and how they ended', ...requests.map(quoteText)].join('\n')]),
      ...done.value.live.map(({ content }) => quoteBatch(content)),
    ],
    lastExchange: lastExchange.map(({ role, text }) => ({ role, text: quoteText(text) })),
    ...(isService && { usage: reportUsage([done.value], request) }),
  };
}

/** As many summaries as there may be without merging them: what is made of larger parts loses less on the way. */
const MOST_PARTS = 2;
/** The shares of the requests and of what is summarized by one call of a model. */
const REQUESTS_SHARE = 0.3;
const WINDOW_SHARE = 0.5;
const DEFAULT_WINDOW_TOKENS = 200_000;

/** For a model: few large parts. Older summaries are merged into one. */
function inFewParts(compaction: CompactionConfig, tokens: number): CompactionConfig {
  const { modelMaxTokens = DEFAULT_WINDOW_TOKENS, maxChunkTokens = modelMaxTokens * WINDOW_SHARE } = compaction;
  const requestTokens = Math.floor(tokens * REQUESTS_SHARE);
  const maxSummaryTokens = Math.floor((tokens - requestTokens) / MOST_PARTS);
  return { ...compaction, clipFirst: 0, clipLast: 0, maxChunkTokens, requestTokens, maxSummaryTokens };
}

/** Of a conversation in which nobody asked for anything. */
const MAX_END_MESSAGES = 20;

/** The messages from the last request on. */
function loadEnd(messages: PreparedConversation['view']['messages'], load: (index: number) => ConversationMessage) {
  const typed = messages.findLastIndex(({ typedTokens }) => typedTokens !== undefined);
  const end = typed < 0 ? -MAX_END_MESSAGES : typed;
  return [...messages.keys()].slice(end).map(load);
}
