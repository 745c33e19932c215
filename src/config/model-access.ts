import { err, ok } from '../core/result.ts';
import type { Result } from '../core/result.ts';
import type { Environment } from './find.ts';
import type { LoadedConfig } from './load.ts';
import type { ResolvedSettings, SettingFlags } from './resolve.ts';
import { hideCredentials } from './shown-url.ts';

/** Where a model is asked, and with what. The key is a secret: it is never shown. */
export type ModelAccess = {
  readonly provider: ModelProviderName;
  readonly model: string;
  readonly baseUrl: string;
  /** Null: the service wants none. */
  readonly apiKey: string | null;
  readonly redactsSecrets: boolean;
};

type ModelProviderName = 'anthropic' | 'openai-compat' | 'ollama';

type ProviderFacts = {
  readonly baseUrl: string;
  /** The environment variable that holds the key by custom; null: no key is needed. */
  readonly keyVariable: string | null;
};

const PROVIDERS: { readonly [name in ModelProviderName]: ProviderFacts } = {
  anthropic: { baseUrl: 'https://api.anthropic.com', keyVariable: 'ANTHROPIC_API_KEY' },
  'openai-compat': { baseUrl: 'https://api.openai.com/v1', keyVariable: 'OPENAI_API_KEY' },
  ollama: { baseUrl: 'http://localhost:11434/v1', keyVariable: null },
};

export type AccessInput = {
  readonly settings: ResolvedSettings;
  readonly config: LoadedConfig;
  readonly flags: SettingFlags;
  readonly environment: Environment;
  /** `--trust-config` */
  readonly trustsConfig: boolean;
  /** Nothing will be sent, so that no key is needed. */
  readonly isDryRun: boolean;
};

/** Null for the provider that needs no model; the error is a sentence for the user. */
export function resolveModelAccess(input: AccessInput): Result<ModelAccess | null, string> {
  const { name: model, base_url: givenUrl, provider } = input.settings.summarization;
  if (!isModelProvider(provider)) return offlineAccess(input);
  const facts = PROVIDERS[provider];
  if (model === null)
    return err(`the provider '${provider}' needs a model: name it with --model, or as name in the configuration`);
  const baseUrl = givenUrl ?? facts.baseUrl;
  const host = hostOf(baseUrl);
  if (host === null) {
    return err(`'${hideCredentials(baseUrl)}' is no http or https URL: give another with --base-url`);
  }
  const isLocal = isLoopback(host);
  const isOwn = originOf(baseUrl) === originOf(facts.baseUrl);
  const isForeign = !isLocal && !isOwn && isFromProject(input);
  if (isForeign && !input.trustsConfig) {
    return err(
      `${input.config.file?.path ?? 'the configuration'} would have transcripts and keys sent to ${host}: give --trust-config if you know that host, or another one with --base-url`,
    );
  }
  const wish = input.trustsConfig ? null : findUntrustedWish(input, { facts, isLocal });
  if (wish !== null) return err(wish);
  if (hideCredentials(baseUrl) !== baseUrl) {
    return err(
      `the URL '${hideCredentials(baseUrl)}' must hold no name and no password: give the key in ${facts.keyVariable ?? 'a variable that api_key_env names'}`,
    );
  }
  const key = input.isDryRun ? ok(null) : findKey(input, facts);
  if (!key.ok) return key;
  if (!input.isDryRun && key.value === null && isOwn && facts.keyVariable !== null) {
    return err(
      `the provider '${provider}' needs a key: set ${facts.keyVariable}, or name another variable with api_key_env in the configuration`,
    );
  }
  const redactsSecrets = input.config.values.privacy?.redact ?? (input.settings.privacy.redact && !isLocal);
  return ok({ provider, model, baseUrl, apiKey: key.value, redactsSecrets });
}

/** Whoever names a model on the command line believes that it is asked. */
function offlineAccess({ flags: { summarization } }: AccessInput): Result<null, string> {
  const unused = [
    ...(summarization?.name === undefined ? [] : ['--model']),
    ...(summarization?.base_url === undefined ? [] : ['--base-url']),
  ];
  if (unused.length === 0) return ok(null);
  return err(
    `the provider 'extractive' works offline and has no models, so ${unused.join(' and ')} would do nothing: add --provider ${Object.keys(PROVIDERS).join('|')}`,
  );
}

function isModelProvider(name: string): name is ModelProviderName {
  return Object.hasOwn(PROVIDERS, name);
}

/** Somebody else may have written the file that names the host. */
function isFromProject({ config, flags }: AccessInput): boolean {
  const isFlag = flags.summarization?.base_url !== undefined && flags.summarization.base_url !== null;
  return !isFlag && config.file?.place === 'project' && config.values.summarization?.base_url !== undefined;
}

/** What a file that somebody else may have written must not ask for without a word of the user; null: nothing. */
function findUntrustedWish(
  { config: { file, values } }: AccessInput,
  { facts, isLocal }: { readonly facts: ProviderFacts; readonly isLocal: boolean },
): string | null {
  if (file?.place !== 'project') return null;
  const variable = values.summarization?.api_key_env;
  if (variable !== undefined && variable !== facts.keyVariable) {
    return `${file.path} would have the value of ${variable} sent as a key: give --trust-config if that is meant`;
  }
  if (values.privacy?.redact === false && !isLocal) {
    return `${file.path} would have transcripts sent to another machine with their secrets: give --trust-config if that is meant`;
  }
  return null;
}

/** The file's own key, the variable that it names, or the provider's; an empty one is none. */
function findKey(
  { settings, environment }: AccessInput,
  { keyVariable }: ProviderFacts,
): Result<string | null, string> {
  const { api_key: ownKey, api_key_env: namedVariable } = settings.summarization;
  if (ownKey !== null) return ok(ownKey);
  const variable = namedVariable ?? keyVariable;
  const found = variable === null ? '' : (environment[variable] ?? '').trim();
  if (found === '' && namedVariable !== null) {
    return err(`the configuration says that the key is in ${namedVariable}, and that variable is not set`);
  }
  return ok(found === '' ? null : found);
}

function originOf(url: string): string | null {
  return URL.parse(url)?.origin ?? null;
}

function hostOf(url: string): string | null {
  const parsed = URL.parse(url);
  return parsed !== null && /^https?:$/.test(parsed.protocol) ? parsed.hostname : null;
}

/** As URLs write this machine's own addresses, whatever form they were given in. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(?:\.\d+){3}$/.test(host);
}
