import type { SummaryLevel } from '../../core/batch.ts';
import type { Stemmer } from '../../core/extract/lexicon.ts';
import type { ConversationMessage } from '../../core/message.ts';
import type { ModelRequest } from '../../core/model-request.ts';
import type { CompactionConfig } from '../../core/policy.ts';
import { addFeedback } from '../../core/prompt-feedback.ts';
import { quoteText } from '../../core/quoted-text.ts';
import { auditRetention, type Retention } from '../../core/retention/audit.ts';
import type { Redactor } from '../../ports/redactor.ts';
import { askWithFallback, type FallbackDeps, type SummaryAnswer } from './ask-with-fallback.ts';
import { type Answer, askForSummary, type AskOptions } from './ask.ts';
import { redactMessages } from './redacting-model.ts';
import { auditSummary } from './retention.ts';
import { addUsage, type Usage } from './usage.ts';

export type SummaryDeps = FallbackDeps & {
  /** Looks for what a summary lost, and adds it to a model's; undefined: nobody looks. */
  readonly audit?: { readonly stem: Stemmer; readonly redactor?: Redactor };
};

export type ChunkToSummarize = {
  readonly request: ModelRequest;
  readonly messages: readonly ConversationMessage[];
  readonly previousSummary: string | null;
  /** What earlier batches already say. */
  readonly earlier: readonly string[];
  readonly config: CompactionConfig;
};

export type ChunkAnswer =
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
