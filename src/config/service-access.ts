import { err, ok, type Result } from '../core/result.ts';
import type { AccessInput } from './model-access.ts';
import { hideCredentials } from './shown-url.ts';

export type ServiceName = 'anthropic' | 'openai-compat' | 'ollama';

type ServiceFacts = {
  readonly baseUrl: string;
  /** The environment variable that holds the key by custom; null: no key is needed. */
  readonly keyVariable: string | null;
};

export const SERVICES: { readonly [name in ServiceName]: ServiceFacts } = {
  anthropic: { baseUrl: 'https://api.anthropic.com', keyVariable: 'ANTHROPIC_API_KEY' },
  'openai-compat': { baseUrl: 'https://api.openai.com/v1', keyVariable: 'OPENAI_API_KEY' },
  ollama: { baseUrl: 'http://localhost:11434/v1', keyVariable: null },
};

/** Where a service is, and with what it is asked. The key is a secret: it is never shown. */
export type ServiceAccess = {
  readonly baseUrl: string;
  /** Null: the service wants none. */
  readonly apiKey: string | null;
  readonly redactsSecrets: boolean;
};

export type ServiceInput = Omit<AccessInput, 'flags'> & {
  readonly provider: ServiceName;
  /** As it applies. */
  readonly section: {
    readonly base_url: string | null;
    readonly api_key: string | null;
    readonly api_key_env: string | null;
  };
  /** How another host can be named: "another one with --base-url". */
  readonly otherUrl: string;
};

/** The error is a sentence for the user. */
export function resolveServiceAccess(input: ServiceInput): Result<ServiceAccess, string> {
  const { provider, otherUrl, config, settings, section } = input;
  const facts = SERVICES[provider];
  const baseUrl = section.base_url ?? facts.baseUrl;
  const host = hostOf(baseUrl);
  if (host === null) return err(`'${hideCredentials(baseUrl)}' is no http or https URL: give ${otherUrl}`);
  const isLocal = isLoopback(host);
  const isOwn = originOf(baseUrl) === originOf(facts.baseUrl);
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
  const redactsSecrets = config.values.privacy?.redact ?? (settings.privacy.redact && !isLocal);
  return ok({ baseUrl, apiKey: key.value, redactsSecrets });
}

/** The file's own key, the variable that it names, or the provider's; an empty one is none. */
function findKey({ section, environment }: ServiceInput, { keyVariable }: ServiceFacts): Result<string | null, string> {
  const { api_key: ownKey, api_key_env: namedVariable } = section;
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

/** As URLs write this machine's own addresses, whatever form they were given in. Names below localhost are asked of a name server by many systems. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(?:\.\d+){3}$/.test(host);
}
