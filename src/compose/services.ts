import type { LoadedRedactors } from '../adapters/redact/redactor.ts';
import type { AppDeps, ModelService, Summarizer } from '../app/contract/deps.ts';
import type { EmbeddingService } from '../app/search/embeddings/embed-texts.ts';
import type { Outage, QueryVectors } from '../app/search/embeddings/query-vectors.ts';
import type { RateLimits } from '../app/summarize/limits.ts';
import type { EmbeddingAccess, ModelAccess } from '../config/access.ts';
import type { Settings } from '../config/settings.ts';
import { type CompactionConfig, DEFAULT_COMPACTION_CONFIG } from '../core/policy.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { FindPrice, ModelProvider, Price } from '../ports/model.ts';
import type { Runtime } from '../ports/runtime.ts';

/** Something that was created, with warnings about the parts of its configuration that will not work. */
export type Created<T> = { readonly value: T; readonly warnings: readonly string[] };

export type SummarizerChoice = {
  /** Null: summaries are made on this machine. */
  readonly model: ModelChoice | null;
  readonly compaction: Pick<CompactionConfig, 'maxConsecutiveFailures' | 'minRetention'>;
};

/** A model that is a service, and how to call it. */
export type ModelChoice = Omit<ModelAccess, 'provider'> & {
  readonly provider: ModelAccess['provider'] | 'custom';
  /** The model of a library's caller. */
  readonly custom?: ModelProvider;
  readonly limits: RateLimits;
  /** Null: decided by the host. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens' | null;
  readonly fallsBack: boolean;
  /** The model is asked again for what it was paid for before. */
  readonly asksAgain?: boolean;
  /** Undefined: what the model costs is not known. */
  readonly price?: Price | undefined;
  /** What all calls may cost, for a model with a price; undefined: any sum. */
  readonly maxCost?: number | undefined;
  /** The model is never called; the run only reports what it would be sent. */
  readonly isDryRun: boolean;
  /** The path of rules in gitleaks' format; null: only ours. */
  readonly redactRulesPath: string | null;
  /** Called with sentences for people, for example about waits. */
  readonly notice: (sentence: string) => void;
  /** Receives the log of the vendor's library, without keys. */
  readonly log?: (line: string) => void;
};

/** The error says why the model cannot be used. */
export async function createSummarizer(
  { model: choice, compaction }: SummarizerChoice,
  runtime: Runtime,
): Promise<Result<Created<Summarizer>, string>> {
  const { createCachedStemmer, createExtractiveProvider } = await import('../adapters/model/extractive.ts');
  const { createBreaker } = await import('../app/summarize/limits.ts');
  const { maxConsecutiveFailures, minRetention } = compaction;
  const breaker = createBreaker(maxConsecutiveFailures ?? DEFAULT_COMPACTION_CONFIG.maxConsecutiveFailures);
  // Looking for what the offline summarizer leaves out takes time: it is only done where it matters.
  const isAudited = choice !== null || minRetention !== undefined;
  const common = { breaker, ...(isAudited && { stem: createCachedStemmer() }) };
  if (choice === null) return ok({ value: { ...common, model: createExtractiveProvider() }, warnings: [] });
  const service = await createModelService(choice, runtime);
  if (!service.ok) return service;
  // No vendor's library is loaded for a plan: it calls no model.
  const model = choice.isDryRun ? createExtractiveProvider() : (choice.custom ?? (await createModel(choice, runtime)));
  const fallback = choice.fallsBack ? { fallback: createExtractiveProvider() } : {};
  const { value, warnings } = service.value;
  return ok({ value: { ...common, model, service: value, ...fallback }, warnings });
}

async function createModelService(
  choice: ModelChoice,
  runtime: Runtime,
): Promise<Result<Created<ModelService>, string>> {
  const { provider, asksAgain = false, redactsSecrets, redactRulesPath, limits, price, maxCost, notice } = choice;
  const redactors = await loadRedactorsFor({ redactsSecrets, redactRulesPath });
  if (!redactors.ok) return redactors;
  const { createBudget, createRateLimiter } = await import('../app/summarize/limits.ts');
  const value = {
    paidAs: { provider, scope: redactsSecrets ? 'masked' : 'plain', asksAgain },
    inFlight: new Map(),
    limiter: createRateLimiter(runtime, limits),
    price,
    budget: maxCost === undefined || price === undefined ? undefined : createBudget(maxCost, price),
    createRedactor: redactors.value?.create ?? null,
    notice,
  };
  return ok({ value, warnings: redactors.value?.warnings ?? [] });
}

/** Null: secrets are not masked. */
async function loadRedactorsFor({
  redactsSecrets,
  redactRulesPath,
}: Pick<ModelChoice, 'redactsSecrets' | 'redactRulesPath'>): Promise<Result<LoadedRedactors | null, string>> {
  if (!redactsSecrets) return ok(null);
  const { loadRedactors } = await import('../adapters/redact/redactor.ts');
  const redactors = await loadRedactors(redactRulesPath);
  if (redactors.ok) return redactors;
  return err(redactors.error.map(({ path, place, problem }) => `${path}: ${place} ${problem}`).join('; '));
}

/** Prices of `[prices]`, and for other models those of the vendors' list. Loads the list, which takes a while. */
export async function loadPrices(configured: Settings['prices']): Promise<FindPrice> {
  const { findListPrice } = await import('../adapters/prices/list-prices.ts');
  return (model, requestTokens) => configured[model] ?? findListPrice(model, requestTokens);
}

/** A vendor's library takes a tenth of a second or more to load: only the chosen one is. */
async function createModel(choice: ModelChoice, { now }: Runtime): Promise<ModelProvider> {
  const { provider, apiKey, baseUrl, maxTokensField, log } = choice;
  const options = { apiKey, baseUrl, now, ...(log === undefined ? {} : { log }) };
  if (provider === 'anthropic') {
    return (await import('../adapters/model/anthropic.ts')).createAnthropicProvider(options);
  }
  const { createOpenAiCompatibleProvider } = await import('../adapters/model/openai-compatible.ts');
  const flavor = provider === 'ollama' ? 'ollama' : 'openai';
  return createOpenAiCompatibleProvider({ ...options, flavor, maxTokensField });
}

export type Mask = (text: string, before?: string) => string;

/** A function that masks secrets in texts. The error says why the rules at this path cannot be used. */
export async function createMask(redactRulesPath: string | null): Promise<Result<Created<Mask>, string>> {
  const redactors = await loadRedactorsFor({ redactsSecrets: true, redactRulesPath });
  if (!redactors.ok) return redactors;
  const redactor = redactors.value?.create();
  return ok({ value: redactor?.redact ?? ((text) => text), warnings: redactors.value?.warnings ?? [] });
}

/** Makes vectors of archived texts and of queries, during one run. */
export type Embeddings = {
  readonly service: EmbeddingService;
  readonly queryVectors: QueryVectors;
  /** The path of SQLite's extension for vectors. */
  readonly vectorExtension: string;
  /** After a failure, the service is not called again in this run. */
  readonly run: { hasFailed: boolean };
};

/** The service that turns texts into vectors, and how to call it. */
export type EmbedderChoice = EmbeddingAccess &
  Pick<ModelChoice, 'limits' | 'redactRulesPath' | 'notice'> & {
    readonly findPrice?: EmbeddingService['findPrice'];
    /** Shared by the searches of all use cases that get it. */
    readonly outage?: Outage | undefined;
  };

/** The error says why embeddings cannot be used; everything else works without them. */
export async function createEmbeddings(
  choice: EmbedderChoice,
  { runtime, signal }: Pick<AppDeps, 'runtime' | 'signal'>,
): Promise<Result<Created<Embeddings>, string>> {
  const { provider, model, dimensions, apiKey, baseUrl, redactsSecrets, redactRulesPath, limits, notice } = choice;
  const { findVectorExtension } = await import('../adapters/archive/sqlite/extension.ts');
  const extension = await findVectorExtension();
  if (!extension.ok) return extension;
  const redactors = await loadRedactorsFor({ redactsSecrets, redactRulesPath });
  if (!redactors.ok) return redactors;
  const { createRateLimiter } = await import('../app/summarize/limits.ts');
  const { createOpenAiEmbedder } = await import('../adapters/model/openai-embedder.ts');
  const { createQueryVectors } = await import('../app/search/embeddings/query-vectors.ts');
  const flavor = provider === 'ollama' ? 'ollama' : 'openai';
  const service: EmbeddingService = {
    embedder: createOpenAiEmbedder({ apiKey, baseUrl, flavor, model, dimensions, now: runtime.now }),
    provider,
    model,
    dimensions,
    limiter: createRateLimiter(runtime, limits),
    findPrice: choice.findPrice,
    createRedactor: redactors.value?.create ?? null,
    notice,
  };
  const value: Embeddings = {
    service,
    queryVectors: createQueryVectors({ service, runtime, signal, outage: choice.outage }),
    vectorExtension: extension.value,
    run: { hasFailed: false },
  };
  return ok({ value, warnings: redactors.value?.warnings ?? [] });
}
