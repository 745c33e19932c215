import { err, ok, type Result } from '../core/result.ts';
import type { Environment } from './find.ts';
import type { LoadedConfig } from './load.ts';
import type { ResolvedSettings, SettingFlags } from './resolve.ts';
import { hideCredentials } from './setting.ts';

/** The model to ask, and with what. The key is a secret and never shown. */
export type ModelAccess = ServiceAccess & { readonly provider: ServiceName; readonly model: string };

type AccessInput = {
  readonly settings: ResolvedSettings;
  readonly config: LoadedConfig;
  readonly flags: SettingFlags;
  readonly environment: Environment;
  /** Nothing will be sent, so no key is needed. */
  readonly isDryRun: boolean;
};

/** Null for the provider that needs no model; the error is a sentence for the user. */
export function resolveModelAccess(input: AccessInput): Result<ModelAccess | null, string> {
  const { settings } = input;
  const { name: model, provider } = settings.summarization;
  const useless = findUselessLength(input);
  if (useless !== null) return err(useless);
  if (!isModelProvider(provider)) return offlineAccess(input);
  if (model === null)
    return err(
      `the provider '${provider}' needs a model: give its name with --model, or as summarization.name in the configuration`,
    );
  const access = resolveServiceAccess({
    ...input,
    provider,
    section: settings.summarization,
    otherUrl: 'one with --base-url',
  });
  return access.ok ? ok({ provider, model, ...access.value }) : access;
}

/** A user who gives a length on the command line expects that it limits something. */
function findUselessLength({ settings: { summarization }, flags }: AccessInput): string | null {
  const { chunk_size: chunkSize, max_chunk_tokens: chunkTokens, provider } = summarization;
  const isWhole = provider === 'extractive' && chunkSize === null && chunkTokens === null;
  if (isWhole && flags.summarization?.max_summary_tokens !== undefined)
    return '--max-summary-tokens is for the summary of a chunk, and offline there is one summary of everything: use --summary-tokens';
  if (!isWhole && flags.summarization?.summary_tokens !== undefined)
    return '--summary-tokens is for the one summary that is made offline, and here each chunk gets one: use --max-summary-tokens';
  return null;
}

/** A user who names a model on the command line expects it to be used. */
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

/** The embedding model to ask, and with what. The key is a secret and never shown. */
export type EmbeddingAccess = ServiceAccess & {
  readonly provider: Exclude<ServiceName, 'anthropic'>;
  readonly model: string;
  /** Null: the model's default. */
  readonly dimensions: number | null;
};

/** Null: no embedding model is configured; the error is a sentence for the user. */
export function resolveEmbeddingAccess(input: Omit<AccessInput, 'flags'>): Result<EmbeddingAccess | null, string> {
  const { provider, model, dimensions } = input.settings.embedding;
  if (provider === null) {
    return model === null ? ok(null) : err(`[embedding] names the model '${model}' but no provider: set provider`);
  }
  if (model === null) return err(`[embedding] has the provider '${provider}' but no model: set model`);
  const access = resolveServiceAccess({
    ...input,
    provider,
    section: input.settings.embedding,
    otherUrl: 'one as base_url of [embedding] in a configuration of your own',
  });
  return access.ok ? ok({ provider, model, dimensions, ...access.value }) : access;
}

type ServiceName = 'anthropic' | 'openai' | 'openai-compat' | 'ollama';

type ServiceFacts = {
  /** Null: the user says where it is. */
  readonly baseUrl: string | null;
  /** The usual environment variable for the key; null: no key is needed. */
  readonly keyVariable: string | null;
};

const SERVICES: { readonly [name in ServiceName]: ServiceFacts } = {
  anthropic: { baseUrl: 'https://api.anthropic.com', keyVariable: 'ANTHROPIC_API_KEY' },
  openai: { baseUrl: 'https://api.openai.com/v1', keyVariable: 'OPENAI_API_KEY' },
  'openai-compat': { baseUrl: null, keyVariable: 'OPENAI_API_KEY' },
  ollama: { baseUrl: 'http://localhost:11434/v1', keyVariable: null },
};

/** Where a service is, and how to access it. The key is a secret and never shown. */
type ServiceAccess = {
  readonly baseUrl: string;
  /** Null: the service needs no key. */
  readonly apiKey: string | null;
  readonly redactsSecrets: boolean;
};

type ServiceInput = Omit<AccessInput, 'flags'> & {
  readonly provider: ServiceName;
  /** The settings that apply. */
  readonly section: {
    readonly base_url: string | null;
    readonly api_key: string | null;
    readonly api_key_env: string | null;
  };
  /** How the user can name a host: "one with --base-url". */
  readonly otherUrl: string;
};

/** The error is a sentence for the user. */
function resolveServiceAccess(input: ServiceInput): Result<ServiceAccess, string> {
  const { provider, otherUrl, config, settings, section } = input;
  const facts = SERVICES[provider];
  const baseUrl = section.base_url ?? facts.baseUrl;
  if (baseUrl === null)
    return err(`the provider '${provider}' needs the URL of its API: give ${otherUrl}. For OpenAI itself, use openai`);
  const url = URL.parse(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol))
    return err(`'${hideCredentials(baseUrl)}' is not an http or https URL: give ${otherUrl}`);
  if (hideCredentials(baseUrl) !== baseUrl) {
    return err(
      `the URL '${hideCredentials(baseUrl)}' must not contain a user name or password: give the key in ${facts.keyVariable ?? 'a variable that api_key_env names'}`,
    );
  }
  const isOwn = facts.baseUrl !== null && url.origin === URL.parse(facts.baseUrl)?.origin;
  const key = input.isDryRun ? ok(null) : findKey(input, facts);
  if (!key.ok) return key;
  if (!input.isDryRun && key.value === null && isOwn && facts.keyVariable !== null) {
    return err(
      `the provider '${provider}' needs a key: set ${facts.keyVariable}, or name another variable with api_key_env in the configuration`,
    );
  }
  const redactsSecrets = config.values.privacy?.redact ?? (settings.privacy.redact && !isLoopback(url.hostname));
  return ok({ baseUrl, apiKey: key.value, redactsSecrets });
}

/** The file's own key, the variable that it names, or the provider's variable. An empty variable counts as not set. */
function findKey({ section, environment }: ServiceInput, { keyVariable }: ServiceFacts): Result<string | null, string> {
  const { api_key: ownKey, api_key_env: namedVariable } = section;
  if (ownKey !== null) return ok(ownKey);
  const variable = namedVariable ?? keyVariable;
  const found = variable === null ? '' : (environment[variable] ?? '').trim();
  if (found === '' && namedVariable !== null) {
    return err(`the configuration names ${namedVariable} for the key, but that variable is not set`);
  }
  return ok(found === '' ? null : found);
}

/**
 * Recognizes this machine's own addresses in the form that URL parsing or a socket gives them. Names below localhost do not count,
 * because many systems ask a name server for them.
 */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|\[?::1\]?|(?:::ffff:)?127(?:\.\d+){3})$/.test(host);
}
