import type { Summarizer } from '../../app/contract/deps.ts';
import {
  type Created,
  type EmbedderChoice,
  type Embeddings,
  loadPrices,
  type ModelChoice,
} from '../../compose/services.ts';
import { resolveEmbeddingAccess, resolveModelAccess } from '../../config/access.ts';
import type { CompactionConfig } from '../../core/policy.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { quoteForShell, safeText } from '../../messages/text.ts';
import type { FindPrice, Price } from '../../ports/model.ts';
import type { Session } from '../session.ts';
import type { ScanReport } from '../../app/survey/scan-file.ts';
import { costOf } from '../../app/summarize/usage.ts';
import type { ReadCost } from '../reports.ts';

type ServiceSession = Pick<Session, 'settings' | 'config' | 'terminal' | 'reporter' | 'useCases' | 'asked'>;

/** The model that the settings name; null: summaries are made on this machine. The error is a sentence that says why it cannot be used. */
export function chooseModel(
  { settings, config, terminal, reporter, asked }: ServiceSession,
  { isDryRun }: { readonly isDryRun: boolean },
): Result<ModelChoice | null, string> {
  const { flags } = asked.settings;
  const { environment } = terminal.host;
  const access = resolveModelAccess({ settings, config, flags, environment, isDryRun });
  if (!access.ok) return access;
  const { summarization, privacy } = settings;
  const print = (line: string): void => reporter.report([safeText(line)]);
  return ok(
    access.value && {
      ...access.value,
      limits: {
        requestsPerMinute: summarization.requests_per_minute,
        inputTokensPerMinute: summarization.input_tokens_per_minute,
        outputTokensPerMinute: summarization.output_tokens_per_minute,
      },
      maxTokensField: summarization.max_tokens_field,
      fallsBack: summarization.fallback === 'extractive',
      redactRulesPath: privacy.redact_rules,
      notice: print,
      isDryRun,
      ...(asked.outputOptions.verbosity === 'verbose' && { log: print }),
    },
  );
}

type SummarizerRequest = {
  readonly isDryRun: boolean;
  readonly asksAgain?: boolean;
  readonly compaction: CompactionConfig;
  /** The most that the run may cost; undefined: any sum. */
  readonly maxCost?: number | undefined;
  /** Batches cost a part of the price. */
  readonly shareOfPrice?: number;
};

/** What a model costs by the settings, or else by the list of its vendor, on which no model of this machine is. Loading the list takes a while. */
export async function findPrice(
  { settings: { prices, summarization } }: Pick<Session, 'settings'>,
  model: string,
  { share = 1, provider = summarization.provider }: { readonly share?: number; readonly provider?: string } = {},
): Promise<Price | undefined> {
  const isListed = prices[model] === undefined && provider !== 'ollama';
  const price = isListed ? (await loadPrices({}))(model, 0) : prices[model];
  return price ? { ...price, input: price.input * share, output: price.output * share } : undefined;
}

/** Creates the summarizer that the settings name. The error is a sentence that says why it cannot be used. */
export async function createSummarizer(
  session: ServiceSession,
  { isDryRun, asksAgain = false, compaction, maxCost, shareOfPrice }: SummarizerRequest,
): Promise<Result<Summarizer, string>> {
  const model = chooseModel(session, { isDryRun });
  if (!model.ok) return model;
  const price = model.value === null ? undefined : await findPrice(session, model.value.model, { share: shareOfPrice });
  if (maxCost !== undefined && model.value !== null && price === undefined) {
    const name = model.value.model;
    const set = quoteForShell(['config', 'set', `prices."${name}"`, '{ input = 1, output = 5 }']);
    const how = `Set it, per million tokens: ${session.terminal.program()} ${set}`;
    return err(`--max-cost needs the price of ${name}, and none is known. ${how}`);
  }
  const paying = { ...(price && { price }), ...(maxCost !== undefined && { maxCost }) };
  const choice = model.value && { ...model.value, asksAgain, ...paying };
  return warned(session, await session.useCases.createSummarizer({ model: choice, compaction }));
}

/** Creates the embeddings that the settings name; null if they name none. The error is a sentence that says why they cannot be used. */
export async function createEmbeddings(
  session: ServiceSession,
  { outage }: Pick<EmbedderChoice, 'outage'> = {},
): Promise<Result<Embeddings | null, string>> {
  const { settings, config, terminal, reporter, useCases } = session;
  const { environment } = terminal.host;
  const access = resolveEmbeddingAccess({ settings, config, environment, isDryRun: false });
  if (!access.ok) return access;
  if (access.value === null) return ok(null);
  const { embedding, privacy } = settings;
  const { model, provider } = access.value;
  const created = await useCases.createEmbeddings({
    ...access.value,
    findPrice: () => findPrice(session, model, { provider }),
    limits: {
      requestsPerMinute: embedding.requests_per_minute,
      inputTokensPerMinute: embedding.input_tokens_per_minute,
      outputTokensPerMinute: null,
    },
    ...(outage === undefined ? {} : { outage }),
    redactRulesPath: privacy.redact_rules,
    notice: (sentence) => reporter.report([safeText(`embeddings: ${sentence}`)]),
  });
  return warned(session, created);
}

/** For work that can go on without embeddings: a failure is only reported, and `instead` says what happens then. */
export async function createEmbeddingsIfAny(
  session: ServiceSession,
  options: Pick<EmbedderChoice, 'outage'> & { readonly instead: string },
): Promise<Embeddings | null> {
  const created = await createEmbeddings(session, options);
  if (created.ok) return created.value;
  session.reporter.report([safeText(`embeddings: ${created.error}; ${options.instead}`)]);
  return null;
}

/** Reports the warnings about what was created. */
export function warned<T>(
  { reporter }: Pick<Session, 'reporter'>,
  created: Result<Created<T>, string>,
): Result<T, string> {
  if (!created.ok) return created;
  reporter.report(created.value.warnings.map(safeText));
  return ok(created.value.value);
}

/** What sending it to its model once costs without a cache: that is how a session which lay for an hour goes on. */
export function costOfReading(
  { model, tokens }: Pick<ScanReport, 'model'> & { readonly tokens: Pick<ScanReport['tokens'], 'before' | 'after'> },
  findPrice: FindPrice,
): ReadCost | null {
  const price = model === null ? null : findPrice(model, tokens.before);
  if (model === null || price === null) return null;
  const cost = (inputTokens: number): number =>
    costOf({ inputTokens, outputTokens: 0 }, findPrice(model, inputTokens) ?? price) ?? 0;
  const { listedOn } = price;
  return { before: cost(tokens.before), after: cost(tokens.after), ...(listedOn !== undefined && { listedOn }) };
}
