import { assertNever, err, ok, type Result } from '../core/result.ts';
import { type ConfigPlace, type ConfigRequest, type ConfigSearch, findConfig, type HostEnvironment } from './find.ts';
import type { ConfigProblem, KeyLines } from './parse.ts';
import type { ConfigText } from './read-config.ts';
import { type ConfigFile, splitUntrusted } from './settings.ts';

export type LoadedConfig = {
  readonly file: {
    readonly path: string;
    readonly place: ConfigPlace;
    readonly lines: KeyLines;
    readonly trust: FileTrust;
  } | null;
  /** The settings that apply. */
  readonly values: ConfigFile;
  /** The settings that do not apply, because the file is not trusted. */
  readonly refused: ConfigFile;
  readonly ignored: ConfigSearch['ignored'];
};

/**
 * given: the user named the file, or trusts it for this run. recorded: `compact config trust` recorded this content.
 * changed: it recorded other content. foreign: the file belongs to another user, and nothing in it applies. unknown:
 * not recorded; `reason` is set if the records cannot be used.
 */
export type FileTrust =
  | { readonly kind: 'given' | 'recorded' }
  | { readonly kind: 'changed' }
  | { readonly kind: 'foreign'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string | null };

/** Reads the configuration file that applies, if there is one. TOML and zod are loaded only then. */
export async function loadConfig(
  host: HostEnvironment,
  request: ConfigRequest,
): Promise<Result<LoadedConfig, readonly ConfigProblem[]>> {
  const { found, ignored } = findConfig(host, request);
  if (found === null) return ok({ file: null, values: {}, refused: {}, ignored });
  const { readConfigText } = await import('./read-config.ts');
  const read = await readConfigText(found, host);
  if (!read.ok) return err([read.error]);
  const { parseConfig } = await import('./parse.ts');
  const parsed = parseConfig(read.value.text, found.path);
  if (!parsed.ok) return parsed;
  const { values, lines } = parsed.value;
  const isTrusted = found.place !== 'project' || request.project === 'trusted';
  const trust = isTrusted ? ({ kind: 'given' } as const) : await findTrust(host, found.path, read.value);
  return ok({ file: { ...found, lines, trust }, ...(await applyTrust(values, trust)), ignored });
}

async function findTrust(host: HostEnvironment, path: string, { bytes, owner }: ConfigText): Promise<FileTrust> {
  const { createTrustStore, hashConfig, trustedPath } = await import('./trust-store.ts');
  const known = createTrustStore(host).find(trustedPath(path));
  // The owner does not matter here, because the user has seen exactly this content.
  if (known.ok && known.value?.sha256 === hashConfig(bytes)) return { kind: 'recorded' };
  if (owner !== null) return { kind: 'foreign', reason: owner };
  if (!known.ok) return { kind: 'unknown', reason: known.error };
  return known.value === null ? { kind: 'unknown', reason: null } : { kind: 'changed' };
}

async function applyTrust(values: ConfigFile, trust: FileTrust): Promise<Pick<LoadedConfig, 'values' | 'refused'>> {
  switch (trust.kind) {
    case 'given':
    case 'recorded':
      return { values, refused: {} };
    case 'foreign':
      return { values: {}, refused: values };
    case 'unknown':
    case 'changed':
      return splitUntrusted(values);
    default:
      return assertNever(trust);
  }
}
