import { resolveEmbeddingAccess } from '../config/access.ts';
import { ok, type Result } from '../core/result.ts';
import { safeText } from './render/safe-text.ts';
import type { Session } from './session.ts';
import type { EmbedderChoice } from './use-cases.ts';

/**
 * Has the use cases make vectors as the settings name it; false: the settings name nobody. The error is a sentence about why they cannot, and
 * what can be done without them may go on.
 */
export async function chooseEmbedding(
  { settings, config, terminal, voice, useCases }: Session,
  { outage }: Pick<EmbedderChoice, 'outage'> = {},
): Promise<Result<boolean, string>> {
  const { environment } = terminal.surroundings;
  const access = resolveEmbeddingAccess({ settings, config, environment, isDryRun: false });
  if (!access.ok) return access;
  if (access.value === null) return ok(false);
  const { embedding, privacy } = settings;
  const chosen = await useCases.chooseEmbedder({
    ...access.value,
    limits: {
      requestsPerMinute: embedding.requests_per_minute,
      inputTokensPerMinute: embedding.input_tokens_per_minute,
      outputTokensPerMinute: null,
    },
    ...(outage === undefined ? {} : { outage }),
    redactRulesPath: privacy.redact_rules,
    notice: (sentence) => voice.report([safeText(`embeddings: ${sentence}`)]),
  });
  if (!chosen.ok) return chosen;
  for (const warning of chosen.value) voice.report([safeText(warning)]);
  return ok(true);
}

/** As `chooseEmbedding`, for what is done without vectors where there can be none: `instead` says what becomes of it. */
export async function chooseEmbeddingIfAny(
  session: Session,
  asked: Pick<EmbedderChoice, 'outage'> & { readonly instead: string },
): Promise<void> {
  const chosen = await chooseEmbedding(session, asked);
  if (!chosen.ok) session.voice.report([safeText(`embeddings: ${chosen.error}; ${asked.instead}`)]);
}
