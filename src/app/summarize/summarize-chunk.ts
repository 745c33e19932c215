import type { SummaryLevel } from '../../core/batch.ts';
import type { Stemmer } from '../../core/extract/lexicon.ts';
import type { ConversationMessage } from '../../core/message.ts';
import type { ModelRequest } from '../../core/model-request.ts';
import type { CompactionConfig } from '../../core/policy.ts';
import { addFeedback } from '../../core/prompt.ts';
import { quoteText } from '../../core/quoted-text.ts';
import { buildAppendix } from '../../core/retention/appendix.ts';
import { auditRetention, type Retention } from '../../core/retention/audit.ts';
import {
  describeFlaws,
  type FalseQuotation,
  findFalseQuotations,
  markQuotations,
} from '../../core/retention/quotations.ts';
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

export type SummaryDeps = FallbackDeps & {
  /** Looks for what a summary lost, and adds it to a model's; undefined: nobody looks. */
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
      /** Null: nobody looked. */
      readonly retention: Retention | null;
    }
  | Exclude<Answer, { readonly kind: 'summary' }>;

/** The summary of one chunk: asked for, checked, and made good where it lost what it should have kept. */
export async function summarizeChunk(
  deps: SummaryDeps,
  chunk: ChunkToSummarize,
  options: AskOptions,
): Promise<ChunkAnswer> {
  const asked = await askWithFallback(deps, chunk.request, options);
  if (asked.kind !== 'summary') return asked;
  const isOwnWords = !asked.isFallback && deps.model.isVerbatim !== true;
  // What quotes by itself has headings of ours; a model's words never have.
  const answer = isOwnWords ? { ...asked, text: quoteText(asked.text) } : asked;
  const level = levelOf(answer, options);
  const { text, usage } = answer;
  if (deps.audit === undefined) return { kind: 'summary', text, level, usage, retention: null };
  if (!isOwnWords) return { kind: 'summary', text, level, usage, retention: measure(text, chunk, deps.audit) };
  const audited = await audit({ ...deps, audit: deps.audit }, { chunk, options, answer });
  const wasBettered = audited.wasRetried && level === 'plain';
  return { kind: 'summary', ...audited, level: wasBettered ? 'feedback' : level };
}

function levelOf({ isFallback, neededFeedback }: Summary, { halvings }: AskOptions): SummaryLevel {
  if (isFallback) return 'fallback';
  if (halvings > 0) return 'halved';
  return neededFeedback ? 'feedback' : 'plain';
}

const NO_TOKENS = { input_tokens: 0, output_tokens: 0 };

type Summary = Extract<SummaryAnswer, { readonly kind: 'summary' }>;

/** Quotations stay as they are; what they leave out is told. */
function measure(
  summary: string,
  { messages, previousSummary }: ChunkToSummarize,
  { redactor }: NonNullable<SummaryDeps['audit']>,
): Retention {
  const shown = redactor === undefined ? messages : redactMessages(messages, redactor);
  return auditRetention({ summary, messages: shown, previousSummary });
}

async function audit(
  deps: SummaryDeps & { readonly audit: NonNullable<SummaryDeps['audit']> },
  {
    chunk,
    options,
    answer,
  }: { readonly chunk: ChunkToSummarize; readonly options: AskOptions; readonly answer: Summary },
): Promise<{
  readonly text: string;
  readonly usage: Usage;
  readonly retention: Retention;
  readonly wasRetried: boolean;
}> {
  const { request, messages, previousSummary, earlier, config } = chunk;
  let { usage } = answer;
  const { text, retention, wasRetried } = await auditSummary({
    ...deps.audit,
    summary: answer.text,
    messages,
    previousSummary,
    earlier,
    inputTokens: options.inputTokens,
    appendixShare: config.appendixShare ?? 0,
    minShare: config.minRetention ?? 0,
    retry: async (flaws) => {
      const again = addFeedback(request, flaws);
      const second = await askForSummary(deps, again, { ...options, maxRejections: 0, canHalve: false });
      usage = addUsage(usage, { ...second.usage, retries: second.usage.calls });
      if (second.kind === 'summary') {
        const better = quoteText(second.text);
        return better === answer.text ? null : better;
      }
      // The next run is to come to the same: the first is all there was.
      if (second.wasRejected) deps.paid?.keep(again, { text: answer.text, usage: NO_TOKENS });
      else deps.notice?.(`${second.message}: the summary stays as it is`);
      return null;
    },
  });
  return { text, usage, retention, wasRetried };
}

export type SummaryAudit = {
  /** A model's, that has passed the check of summaries. */
  readonly summary: string;
  /** What it stands for, in the order in which it was said. */
  readonly messages: readonly ConversationMessage[];
  readonly previousSummary: string | null;
  /** Summaries that stand beside it. */
  readonly earlier: readonly string[];
  /** Of what was summarized, previous summary included, as the check of summaries counts it: summary and appendix never have more. */
  readonly inputTokens: number;
  /** Of the summary's length that is kept for details word for word. */
  readonly appendixShare: number;
  /** The share of the facts that should be kept; 0: whatever there is. */
  readonly minShare: number;
  readonly stem: Stemmer;
  /** What masked the request: facts and details are then of the masked messages. */
  readonly redactor?: Redactor;
  /** Asks for the summary again, told what was wrong with it. Null: no better one could be had. Called once at most. */
  readonly retry: (flaws: string) => Promise<string | null>;
};

type AuditedSummary = {
  /** What the batch says: the summary, and the details behind it. */
  readonly text: string;
  /** Of that text. Whether it is enough is the caller's to decide. */
  readonly retention: Retention;
  readonly appendixChars: number;
  readonly wasRetried: boolean;
  /** Quotations of the user that the user did not say: they stand without quotation marks. */
  readonly unquoted: number;
};

const CHARS_PER_TOKEN = 4; // as estimateTokens counts

/** A model's summary made good: false quotations and lost facts are told to the model once, then the marks are taken away and details added by code. */
export async function auditSummary(audit: SummaryAudit): Promise<AuditedSummary> {
  const { summary, minShare, retry, redactor } = audit;
  const messages = redactor === undefined ? audit.messages : redactMessages(audit.messages, redactor);
  const judge = (text: string): Judged => judgeSummary(text, { ...audit, messages });
  const first = judge(summary);
  const { quotations, retention } = first;
  const isShort = retention.share < minShare;
  if (quotations.length === 0 && !isShort) return finished(first, false);
  const second = await retry(describeFlaws({ quotations, lost: isShort ? retention.lost : [] }));
  const best = second === null ? first : betterOf(first, judge(second));
  return finished(best, second !== null);
}

type Judged = {
  readonly text: string;
  readonly appendixChars: number;
  readonly quotations: readonly FalseQuotation[];
  readonly retention: Retention;
};

function judgeSummary(
  summary: string,
  { messages, previousSummary, earlier, inputTokens, appendixShare: share, stem }: Omit<SummaryAudit, 'summary'>,
): Judged {
  const maxChars = inputTokens * CHARS_PER_TOKEN;
  const quotations = findFalseQuotations({ summary, messages, previousSummary });
  const marked = markQuotations(summary, quotations, maxChars);
  const beside = previousSummary === null ? earlier : [...earlier, previousSummary];
  const appendix = buildAppendix({ summary: marked, messages, share, maxChars, stem, earlier: beside });
  const text = marked + appendix;
  const retention = auditRetention({ summary: text, messages, previousSummary });
  return { text, appendixChars: appendix.length, quotations, retention };
}

/** Fewer false quotations count more than facts, which the appendix can give back. */
function betterOf(first: Judged, second: Judged): Judged {
  const fewer = first.quotations.length - second.quotations.length;
  if (fewer !== 0) return fewer > 0 ? second : first;
  return second.retention.share > first.retention.share ? second : first;
}

function finished({ text, appendixChars, quotations, retention }: Judged, wasRetried: boolean): AuditedSummary {
  return { text, retention, appendixChars, wasRetried, unquoted: quotations.length };
}
