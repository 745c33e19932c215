import type { SummaryLevel } from '../../core/batch.ts';
import type { Stemmer } from '../../core/extract/terms.ts';
import type { ConversationMessage } from '../../core/message.ts';
import type { ModelRequest } from '../../core/model-request.ts';
import type { CompactionConfig } from '../../core/policy.ts';
import { addFeedback } from '../../core/prompt.ts';
import { quoteText } from '../../core/quoted-text.ts';
import type { Retention } from '../../core/retention/audit.ts';
import { describeFlaws, findFalseQuotations, markQuotations, quotedIn } from '../../core/retention/quotations.ts';
import type { Redactor } from '../../ports/model.ts';
import {
  type Answer,
  askForSummary,
  type AskOptions,
  askWithFallback,
  type FallbackDeps,
  type SummaryAnswer,
} from './ask.ts';
import { redactMessages } from './redacting-model.ts';
import { addUsage, type Usage } from './usage.ts';
import { CHARS_PER_TOKEN } from '../../core/tokens.ts';

export type SummaryDeps = FallbackDeps & {
  /** Whether answers come later, from a batch. */
  readonly isWaiting?: () => boolean;
  /** Checks what a summary lost and adds it to a model's summary; undefined: no audit. */
  readonly audit?: { readonly stem: Stemmer; readonly redactor?: Redactor };
};

type ChunkToSummarize = {
  readonly request: ModelRequest;
  readonly messages: readonly ConversationMessage[];
  readonly previousSummary: string | null;
  /** What earlier batches already say. */
  readonly earlier: readonly string[];
  readonly config: CompactionConfig;
};

type ChunkAnswer =
  | {
      readonly kind: 'summary';
      readonly text: string;
      readonly level: SummaryLevel;
      readonly usage: Usage;
      /** Null: not audited. */
      readonly retention: Retention | null;
    }
  | Exclude<Answer, { readonly kind: 'summary' }>;

/** Asks for the summary of one chunk, checks it, and repairs what it lost. */
export async function summarizeChunk(
  deps: SummaryDeps,
  chunk: ChunkToSummarize,
  options: AskOptions,
): Promise<ChunkAnswer> {
  const asked = await askWithFallback(deps, chunk.request, options);
  if (asked.kind !== 'summary') return asked;
  const isOwnWords = !asked.isFallback && deps.model.isVerbatim !== true;
  // A verbatim summarizer writes our headings; a model must not.
  const answer = isOwnWords ? { ...asked, text: quoteText(asked.text) } : asked;
  const level = levelOf(answer, options);
  const { text, usage } = answer;
  if (deps.audit === undefined) return { kind: 'summary', text, level, usage, retention: null };
  if (isOwnWords) return audit({ ...deps, audit: deps.audit }, { chunk, options, answer: { ...answer, level } });
  // What a verbatim summary leaves out is measured without changing it.
  const messages = asShown(chunk, deps.audit);
  const { auditRetention } = await import('../../core/retention/audit.ts');
  const retention = auditRetention({ summary: text, messages, previousSummary: chunk.previousSummary });
  return { kind: 'summary', text, level, usage, retention };
}

function levelOf({ isFallback, neededFeedback }: Summary, { halvings }: AskOptions): SummaryLevel {
  if (isFallback) return 'fallback';
  if (halvings > 0) return 'halved';
  return neededFeedback ? 'feedback' : 'plain';
}

type Summary = Extract<SummaryAnswer, { readonly kind: 'summary' }>;
type Audit = NonNullable<SummaryDeps['audit']>;

/** The messages as the model saw them. */
function asShown({ request, messages }: ChunkToSummarize, { redactor }: Audit): readonly ConversationMessage[] {
  const calls = request.source?.kind === 'chunk' ? request.source.calls : undefined;
  return redactor === undefined ? messages : redactMessages(messages, redactor, calls);
}

async function audit(
  deps: SummaryDeps & { readonly audit: Audit },
  {
    chunk,
    options,
    answer,
  }: {
    chunk: ChunkToSummarize;
    options: AskOptions;
    answer: Summary & { level: SummaryLevel };
  },
): Promise<ChunkAnswer> {
  const { request, previousSummary, earlier, config } = chunk;
  let { usage } = answer;
  let deferred: ChunkAnswer | null = null;
  const retry = async (flaws: string): Promise<string | null> => {
    const again = addFeedback(request, flaws);
    const second = await askForSummary(deps, again, { ...options, maxRejections: 0, canHalve: false });
    usage = addUsage(usage, { ...second.usage, retries: second.usage.calls });
    if (second.kind === 'summary') {
      const better = quoteText(second.text);
      return better === answer.text ? null : better;
    }
    // Remember the first summary as the answer, so that the next run gets the same result.
    if (second.kind === 'deferred') deferred = second;
    else if (second.wasRejected) await deps.paid?.keep(again, { text: answer.text, usage: NO_TOKENS });
    else deps.notice?.(`${second.message}: the summary stays as it is`);
    return null;
  };
  const { text, retention, wasRetried } = await auditSummary({
    stem: deps.audit.stem,
    summary: answer.text,
    messages: asShown(chunk, deps.audit),
    previousSummary,
    earlier,
    checked:
      request.source?.kind === 'batches' ? request.source.batches.flatMap(({ content }) => quotedIn(content)) : [],
    inputTokens: options.inputTokens,
    appendixShare: config.appendixShare ?? 0,
    minShare: config.minRetention ?? 0,
    retry,
  });
  const level = wasRetried && answer.level === 'plain' ? 'feedback' : answer.level;
  return deferred ?? { kind: 'summary', text, level, usage, retention };
}

const NO_TOKENS = { input_tokens: 0, output_tokens: 0 };

export type SummaryAudit = Pick<ChunkToSummarize, 'previousSummary' | 'earlier'> & {
  /** A model's summary that has passed `checkSummary`. */
  readonly summary: string;
  /** The summarized messages as the model saw them, in the order in which they were said. */
  readonly messages: readonly ConversationMessage[];
  /** What the batches that the summary merges quote, which was checked before. */
  readonly checked?: readonly string[];
  /** Estimated tokens of the source including the previous summary; summary and appendix together never have more. */
  readonly inputTokens: number;
  /** The share of the summary's length for verbatim details. */
  readonly appendixShare: number;
  /** The share of facts that should be kept; 0: any. */
  readonly minShare: number;
  readonly stem: Stemmer;
  /** Asks for the summary again with a description of its flaws; null: there is no better one. Called once at most. */
  readonly retry: (flaws: string) => Promise<string | null>;
};

/**
 * Repairs a model's summary: the model is told once about false quotations and lost facts; then quotation marks are removed and details added
 * by code. Gives the text of the batch, with its appendix, and what that keeps. `unquoted`: false quotations, whose marks were removed.
 */
export async function auditSummary(audited: SummaryAudit) {
  const { summary, minShare, retry } = audited;
  const first = await judgeSummary(summary, audited);
  const { quotations, retention } = first;
  const isShort = retention.share < minShare;
  const isGood = quotations.length === 0 && !isShort;
  const second = isGood ? null : await retry(describeFlaws({ quotations, lost: isShort ? retention.lost : [] }));
  const { quotations: unquoted, ...best } =
    second === null ? first : betterOf(first, await judgeSummary(second, audited));
  return { ...best, wasRetried: second !== null, unquoted: unquoted.length };
}

type Judged = Awaited<ReturnType<typeof judgeSummary>>;

async function judgeSummary(
  summary: string,
  { messages, previousSummary, earlier, checked = [], inputTokens, appendixShare: share, stem }: SummaryAudit,
) {
  const { auditRetention, buildAppendix } = await import('../../core/retention/audit.ts');
  const maxChars = inputTokens * CHARS_PER_TOKEN;
  const quotations = findFalseQuotations({ summary, messages, checked: [...checked, previousSummary ?? ''] });
  const marked = markQuotations(summary, quotations, maxChars);
  const beside = previousSummary === null ? earlier : [...earlier, previousSummary];
  const appendix = buildAppendix({ summary: marked, messages, share, maxChars, stem, earlier: beside });
  const text = marked + appendix;
  const retention = auditRetention({ summary: text, messages, previousSummary });
  return { text, appendixChars: appendix.length, quotations, retention };
}

/** Fewer false quotations matter more than facts, which the appendix can restore. */
function betterOf(first: Judged, second: Judged): Judged {
  const fewer = first.quotations.length - second.quotations.length;
  if (fewer !== 0) return fewer > 0 ? second : first;
  return second.retention.share > first.retention.share ? second : first;
}
