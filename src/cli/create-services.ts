import type { Summarizer } from '../app/contract/deps.ts';
import { resolveEmbeddingAccess, resolveModelAccess } from '../config/access.ts';
import type { CompactionConfig } from '../core/policy.ts';
import { ok, type Result } from '../core/result.ts';
import type { CommonRequest } from './invocation.ts';
import { safeText } from './render/text.ts';
import type { Session } from './session.ts';
import type { EmbedderChoice, Embeddings, ModelChoice } from '../compose/services.ts';

/** The model that the settings name; null: summaries are made on this machine. The error is a sentence that says why it cannot be used. */
export function chooseModel(
  { settings, config, terminal, reporter }: Session,
  request: Pick<CommonRequest, 'settings' | 'outputOptions'> & {
    readonly isDryRun: boolean;
  },
): Result<ModelChoice | null, string> {
  const access = resolveModelAccess({
    settings,
    config,
    flags: request.settings.flags,
    environment: terminal.host.environment,
    isDryRun: request.isDryRun,
  });
  if (!access.ok) return access;
  const { summarization, privacy } = settings;
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
      notice: (sentence: string) => reporter.report([safeText(sentence)]),
      isDryRun: request.isDryRun,
      ...(request.outputOptions.verbosity === 'verbose' && {
        log: (line: string) => reporter.report([safeText(line)]),
      }),
    },
  );
}

/** Creates the summarizer that the settings name. The error is a sentence that says why it cannot be used. */
export async function createSummarizer(
  session: Session,
  request: Parameters<typeof chooseModel>[1] & { readonly compaction: CompactionConfig },
): Promise<Result<Summarizer, string>> {
  const { reporter, useCases } = session;
  const model = chooseModel(session, request);
  if (!model.ok) return model;
  const created = await useCases.createSummarizer({ model: model.value, compaction: request.compaction });
  if (!created.ok) return created;
  reporter.report(created.value.warnings.map(safeText));
  return ok(created.value.value);
}

/** Creates the embeddings that the settings name; null if they name none. The error is a sentence that says why they cannot be used. */
export async function createEmbeddings(
  { settings, config, terminal, reporter, useCases }: Session,
  { outage }: Pick<EmbedderChoice, 'outage'> = {},
): Promise<Result<Embeddings | null, string>> {
  const { environment } = terminal.host;
  const access = resolveEmbeddingAccess({ settings, config, environment, isDryRun: false });
  if (!access.ok) return access;
  if (access.value === null) return ok(null);
  const { embedding, privacy } = settings;
  const created = await useCases.createEmbeddings({
    ...access.value,
    limits: {
      requestsPerMinute: embedding.requests_per_minute,
      inputTokensPerMinute: embedding.input_tokens_per_minute,
      outputTokensPerMinute: null,
    },
    ...(outage === undefined ? {} : { outage }),
    redactRulesPath: privacy.redact_rules,
    notice: (sentence) => reporter.report([safeText(`embeddings: ${sentence}`)]),
  });
  if (!created.ok) return created;
  reporter.report(created.value.warnings.map(safeText));
  return ok(created.value.value);
}

/** For work that can go on without embeddings: a failure is only reported, and `instead` says what happens then. */
export async function createEmbeddingsIfAny(
  session: Session,
  options: Pick<EmbedderChoice, 'outage'> & { readonly instead: string },
): Promise<Embeddings | null> {
  const created = await createEmbeddings(session, options);
  if (created.ok) return created.value;
  session.reporter.report([safeText(`embeddings: ${created.error}; ${options.instead}`)]);
  return null;
}
