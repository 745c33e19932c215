import { planLines, type PlannedConversation, type TranscriptPlan } from '../../core/plan/line-outcomes.ts';
import { type ConversationPlan, planConversation } from '../../core/plan/plan.ts';
import { sentMessages, sumTokens } from '../../core/plan/view.ts';
import {
  batchTokensOf,
  chunkLimitsOf,
  type CompactionConfig,
  compactionWithin,
  DEFAULT_SCORING_CONFIG,
  type TranscriptPolicy,
} from '../../core/policy.ts';
import { rulesBudget } from '../../core/standing-rules/rules.ts';
import { CHARS_PER_TOKEN, describeUnder, estimateTokensByBytes } from '../../core/tokens.ts';
import type { Prior } from '../read/lineage.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import type { Prepared, PreparedConversation } from '../read/prepare.ts';
import { pinnedKeys } from './choices.ts';

/** Tokens of a batch's heading, with its times. */
const BATCH_FRAME_TOKENS = 20;
/** Tokens of a clip-archive apart from its batches: first lines, section headings, last line. */
const CLIP_FRAME_TOKENS = 110;

/** Tokens of the line above a message that is quoted verbatim in the clip-archive: who said it, and when. */
const SURVIVOR_FRAME_TOKENS = 14;

export type CompactPlan = Extract<ConversationPlan, { kind: 'compact' }>;

/** What is assumed about the size of a clip-archive. */
type Expectation = {
  readonly policy: TranscriptPolicy;
  /** The size of a batch; by default the maximum. */
  readonly batchTokens?: number;
  /** A correction learned from a finished clip-archive: how much larger (or smaller, below 0) it was than expected. */
  readonly extraTokens?: number;
};

export function planPrepared(
  transcript: Pick<Prepared, 'codec'>,
  prepared: PreparedConversation,
  expectation: Expectation,
): ConversationPlan {
  const { policy } = expectation;
  const { chunkOrder, targetTokens } = policy;
  const compaction = compactionWithin(policy);
  const tokens = sumTokens(sentMessages(prepared.view));
  if (targetTokens !== null && tokens <= targetTokens) {
    return {
      kind: 'skip',
      reason: 'under-limit',
      detail: describeUnder(tokens, { what: 'target', limit: targetTokens }),
    };
  }
  const { chunkSize, maxChunkTokens } = chunkLimitsOf(compaction);
  const rulesTokens = mostRulesTokens(prepared, compaction);
  const { layout } = transcript.codec.format;
  return planConversation({
    view: prepared.view,
    lastStays: layout.links === 'parents' || layout.kind !== 'lines',
    cutProblem: prepared.conversation.cutProblem,
    pinned: new Set(prepared.pins?.map(({ index }) => index)),
    settings: {
      keepRecent: compaction.keepRecent,
      keepRecentTokens: compaction.keepRecentTokens ?? 0,
      chunkSize,
      maxChunkTokens,
      chunkOrder,
      scoring: compaction.scoring ?? DEFAULT_SCORING_CONFIG,
      targetTokens,
      clipTokens: (going) => {
        const chunks = maxChunkTokens === null ? going.messages / chunkSize : going.tokens / maxChunkTokens;
        const fresh = { count: Math.ceil(chunks), sourceTokens: going.tokens };
        const frames = layout.links === 'parents' ? going.staying * SURVIVOR_FRAME_TOKENS : 0;
        return expectBatchTokens(prepared, fresh, { ...expectation, rulesTokens }) + frames;
      },
    },
  });
}

/** The expected size of the clip-archive that a plan leads to, including the messages quoted in it. */
export function expectClipTokens(
  { codec }: Prepared,
  prepared: PreparedConversation,
  { plan, ...expectation }: Expectation & { plan: CompactPlan },
): number {
  const tokensOfMessage = (index: number): number => prepared.view.messages[index]?.tokens ?? 0;
  const sum = (indices: readonly number[]): number => indices.reduce((all, index) => all + tokensOfMessage(index), 0);
  const retained = codec.format.layout.links === 'parents' ? [...plan.retained] : [];
  const fresh = { count: plan.chunks.length, sourceTokens: sum(plan.chunks.flat()) };
  const wordForWord = sum(retained) + retained.length * SURVIVOR_FRAME_TOKENS;
  const rulesTokens = mostRulesTokens(prepared, compactionWithin(expectation.policy));
  return expectBatchTokens(prepared, fresh, { ...expectation, rulesTokens }) + wordForWord;
}

/** The shown batches: those of earlier cycles at their real size, new ones at their expected size, but never larger than their source. */
function expectBatchTokens(
  { prior }: PreparedConversation,
  fresh: Fresh,
  { policy, batchTokens, extraTokens = 0, rulesTokens }: Expectation & { rulesTokens: number },
): number {
  const compaction = compactionWithin(policy);
  const { clipFirst, clipLast, summaryTokens, requestTokens = 0 } = compaction;
  const isWhole = summaryTokens !== undefined;
  const live = prior.kind === 'lineage' ? prior.cycle.live : [];
  const largestTokens = batchTokens ?? batchTokensOf(compaction);
  const meanSource = Math.ceil(fresh.sourceTokens / Math.max(1, fresh.count));
  const freshTokens = Math.min(largestTokens, isWhole ? mostWhole(prior, fresh) : meanSource);
  const sizes = [
    // The new batch replaces the last one; the batches before it came from another archive.
    ...(isWhole ? live.slice(0, -1) : live).map(({ content }) => estimateTokensByBytes(content)),
    ...Array.from({ length: fresh.count }, () => freshTokens),
  ];
  const shown = sizes.filter((_, at) => at < clipFirst || at >= sizes.length - clipLast);
  const isBeside = prior.kind === 'foreign' && (prior.isOurs || !isWhole);
  const foreign = isBeside ? estimateTokensByBytes(prior.text) : 0;
  const requests = Math.min(
    requestTokens,
    prior.kind === 'lineage' ? requestTokens : Math.ceil(fresh.sourceTokens / 4),
  );
  const texts = shown.reduce((sum, size) => sum + size, foreign + requests);
  return CLIP_FRAME_TOKENS + rulesTokens + shown.length * BATCH_FRAME_TOKENS + texts + extraTokens;
}

/** The section of rules is no longer than its limit, and no longer than what was typed. */
function mostRulesTokens({ prior, view }: PreparedConversation, compaction: CompactionConfig): number {
  const { keepRules = true, rules = [] } = compaction;
  if (!keepRules) return 0;
  const bound = Math.ceil(rulesBudget(batchTokensOf(compaction)) / CHARS_PER_TOKEN);
  const typed = view.messages.reduce((sum, { typedTokens = 0 }) => sum + typedTokens, 0);
  return prior.kind === 'none' ? Math.min(bound, typed + estimateTokensByBytes(rules.join('\n'))) : bound;
}

type Fresh = { readonly count: number; readonly sourceTokens: number };

const MIN_SUMMARY_TOKENS = 100;

/** A summary of everything has at most half the size of its source. How large a lineage is, is unknown here. */
function mostWhole(prior: Prior, { sourceTokens }: Fresh): number {
  if (prior.kind === 'lineage') return Number.POSITIVE_INFINITY;
  const foreign = prior.kind === 'foreign' && !prior.isOurs ? estimateTokensByBytes(prior.text) : 0;
  return Math.max(MIN_SUMMARY_TOKENS, Math.ceil((sourceTokens + foreign) / 2));
}

/** The outcome of every line, given the plan of each conversation (null: nothing is done). */
export function planOutcomes(transcript: Prepared, plans: readonly PlannedConversation['plan'][]): TranscriptPlan {
  const planned = transcript.conversations.map(({ view }, index): PlannedConversation => ({
    view,
    plan: plans[index] ?? null,
  }));
  const { layout } = transcript.codec.format;
  return planLines(planned, transcript.loose, {
    lineCount: transcript.recordIndex.lineCount,
    isChain: layout.links === 'parents',
    summaryStandsFirst: 'summaryPlace' in layout && layout.summaryPlace === 'start',
  });
}

/** Increase this when the same settings would give a different result, so that older results are not reused. */
const RESULT_VERSION = 5;

export type ResultSettings = Pick<CompactFileRequest, 'policy' | 'provider' | 'modelName'> & {
  /** Whether secrets are masked; undefined: the model is not a service. */
  readonly isMasked?: boolean | undefined;
};

/**
 * The settings that a result depends on, as JSON with sorted keys. Equal texts mean equal results for equal bytes. `before`: as for
 * `pinnedKeys`.
 */
export function describeSettings(
  transcript: Prepared,
  { policy, provider, modelName, isMasked }: ResultSettings,
  before?: Date,
): string {
  const { compaction, chunkOrder, keepSystem, targetTokens, conversation, summaryIsUsers } = policy;
  const kept = { chunkOrder, keepSystem, targetTokens, conversation, summaryIsUsers };
  const [format, pinned] = [transcript.codec.format.name, pinnedKeys(transcript, before)];
  return writeSettings(compaction, { format, provider, modelName, isMasked, pinned, ...kept });
}

/** The same for the settings of a compaction and anything else that its result depends on. */
export function writeSettings(compaction: CompactionConfig, others: Record<string, unknown>): string {
  const { timeout: _timeout, maxRetries: _retries, maxConsecutiveFailures: _failures, ...result } = compaction;
  return JSON.stringify({ version: RESULT_VERSION, ...others, ...result }, (_key, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
