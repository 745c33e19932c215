import { resolveModelAccess } from '../config/access.ts';
import type { ExitCode } from './exit-codes.ts';
import type { CommonRequest } from './invocation.ts';
import { safeText } from './render/safe-text.ts';
import type { Session } from './session.ts';

/** Has the use cases summarize by the model that the settings name. An exit code instead of null: it cannot be asked, which was said. */
export async function chooseModel(
  session: Session,
  asked: CommonRequest & { readonly isDryRun: boolean },
): Promise<ExitCode | null> {
  const { settings, config, terminal, voice } = session;
  const access = resolveModelAccess({
    settings,
    config,
    flags: asked.settings.flags,
    environment: terminal.surroundings.environment,
    isDryRun: asked.isDryRun,
  });
  if (!access.ok) return session.refuse(access.error);
  if (access.value === null) return null;
  const { summarization, privacy } = settings;
  const chosen = await session.useCases.chooseModel({
    ...access.value,
    limits: {
      requestsPerMinute: summarization.requests_per_minute,
      inputTokensPerMinute: summarization.input_tokens_per_minute,
      outputTokensPerMinute: summarization.output_tokens_per_minute,
    },
    maxTokensField: summarization.max_tokens_field,
    fallsBack: summarization.fallback === 'extractive',
    redactRulesPath: privacy.redact_rules,
    notice: (sentence) => voice.report([safeText(sentence)]),
    isDryRun: asked.isDryRun,
    ...(asked.manner.verbosity === 'verbose' ? { log: (line: string) => voice.report([safeText(line)]) } : {}),
  });
  if (!chosen.ok) return session.refuse(chosen.error);
  for (const warning of chosen.value) voice.report([safeText(warning)]);
  return null;
}
