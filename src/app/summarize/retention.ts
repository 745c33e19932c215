import type { Stemmer } from '../../core/extract/lexicon.ts';
import type { ConversationMessage } from '../../core/message.ts';
import { buildAppendix } from '../../core/retention/appendix.ts';
import { auditRetention, type Retention } from '../../core/retention/audit.ts';
import { describeFlaws } from '../../core/retention/feedback.ts';
import { type FalseQuotation, findFalseQuotations, markQuotations } from '../../core/retention/quotations.ts';
import type { Redactor } from '../../ports/redactor.ts';
import { redactMessages } from './redacting-model.ts';

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

export type AuditedSummary = {
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
