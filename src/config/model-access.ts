import { err, ok, type Result } from '../core/result.ts';
import type { Environment } from './find.ts';
import type { LoadedConfig } from './load.ts';
import type { ResolvedSettings, SettingFlags } from './resolve.ts';
import { resolveServiceAccess, type ServiceAccess, type ServiceName, SERVICES } from './service-access.ts';

/** Where a model is asked, and with what. The key is a secret: it is never shown. */
export type ModelAccess = ServiceAccess & { readonly provider: ServiceName; readonly model: string };

export type AccessInput = {
  readonly settings: ResolvedSettings;
  readonly config: LoadedConfig;
  readonly flags: SettingFlags;
  readonly environment: Environment;
  /** Nothing will be sent, so that no key is needed. */
  readonly isDryRun: boolean;
};

/** Null for the provider that needs no model; the error is a sentence for the user. */
export function resolveModelAccess(input: AccessInput): Result<ModelAccess | null, string> {
  const { settings } = input;
  const { name: model, provider } = settings.summarization;
  if (!isModelProvider(provider)) return offlineAccess(input);
  if (model === null)
    return err(`the provider '${provider}' needs a model: name it with --model, or as name in the configuration`);
  const access = resolveServiceAccess({
    ...input,
    provider,
    section: settings.summarization,
    otherUrl: 'another one with --base-url',
  });
  return access.ok ? ok({ provider, model, ...access.value }) : access;
}

/** Whoever names a model on the command line believes that it is asked. */
function offlineAccess({ flags: { summarization } }: AccessInput): Result<null, string> {
  const unused = [
    ...(summarization?.name === undefined ? [] : ['--model']),
    ...(summarization?.base_url === undefined ? [] : ['--base-url']),
  ];
  if (unused.length === 0) return ok(null);
  return err(
    `the provider 'extractive' works offline and has no models, so ${unused.join(' and ')} would do nothing: add --provider ${Object.keys(SERVICES).join('|')}`,
  );
}

function isModelProvider(name: string): name is ServiceName {
  return Object.hasOwn(SERVICES, name);
}
