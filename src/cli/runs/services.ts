import type { Summarizer } from '../../app/contract/deps.ts';
import type { Created, EmbedderChoice, Embeddings, ModelChoice } from '../../compose/services.ts';
import { resolveEmbeddingAccess, resolveModelAccess } from '../../config/access.ts';
import type { CompactionConfig } from '../../core/policy.ts';
import { ok, type Result } from '../../core/result.ts';
import { safeText } from '../../messages/text.ts';
import type { Session } from '../session.ts';

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

/** Creates the summarizer that the settings name. The error is a sentence that says why it cannot be used. */
export async function createSummarizer(
  session: ServiceSession,
  {
    isDryRun,
    asksAgain = false,
    compaction,
  }: { readonly isDryRun: boolean; readonly asksAgain?: boolean; readonly compaction: CompactionConfig },
): Promise<Result<Summarizer, string>> {
  const model = chooseModel(session, { isDryRun });
  if (!model.ok) return model;
  const choice = model.value && { ...model.value, asksAgain };
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
