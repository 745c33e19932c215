import { err, ok, type Result } from '../core/result.ts';
import type { AccessInput } from './model-access.ts';
import { resolveServiceAccess, type ServiceAccess } from './service-access.ts';

/** Where texts are turned into vectors, and with what. The key is a secret: it is never shown. */
export type EmbeddingAccess = ServiceAccess & {
  readonly provider: 'openai-compat' | 'ollama';
  readonly model: string;
  /** Null: as the model gives them. */
  readonly dimensions: number | null;
};

/** Null: nobody is to be asked; the error is a sentence for the user. */
export function resolveEmbeddingAccess(input: Omit<AccessInput, 'flags'>): Result<EmbeddingAccess | null, string> {
  const { provider, model, dimensions } = input.settings.embedding;
  if (provider === null) {
    return model === null ? ok(null) : err(`[embedding] names the model '${model}' and no provider: say who gives it`);
  }
  if (model === null) return err(`[embedding] has the provider '${provider}' and no model: name one`);
  const access = resolveServiceAccess({
    ...input,
    provider,
    section: input.settings.embedding,
    otherUrl: 'another one as base_url of [embedding] in a configuration of your own',
  });
  return access.ok ? ok({ provider, model, dimensions, ...access.value }) : access;
}
