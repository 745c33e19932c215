import { lstatSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { assertNever, err, ok, type Result } from '../core/result.ts';
import {
  type ConfigPlace,
  type ConfigRequest,
  type ConfigSearch,
  describeOwner,
  findConfig,
  type HostEnvironment,
  lookAtFolder,
} from './find.ts';
import type { ConfigProblem, KeyLines } from './parse.ts';
import { type ConfigFile, splitUntrusted } from './settings.ts';
import type { FileFailure } from '../ports/files.ts';
import { orElse } from '../system/files.ts';
import { decodeText, readOutsideFile, readOutsideStream } from '../system/outside-file.ts';

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

/** A configuration file, read once, so that the parsed text is the hashed text. */
type ConfigText = {
  readonly bytes: Uint8Array;
  readonly text: string;
  /** Why a project's file counts as another user's; null: it does not, or the user named the file. */
  readonly owner: string | null;
};

const MAX_CONFIG_BYTES = 1024 * 1024; // a larger file was named by mistake

/**
 * Reads a configuration file. A project's file must be a regular file, because it could be a link to a device, or a
 * FIFO that never ends. A file that the user named may be a pipe: `--config <(…)`.
 */
export async function readConfigText(
  { path, place }: { path: string; place: ConfigPlace },
  host: Pick<HostEnvironment, 'userId'>,
): Promise<Result<ConfigText, ConfigProblem>> {
  const read = place === 'project' ? readProjectFile(path, host) : await readNamedFile(path);
  const unreadable = (reason: string) => err({ kind: 'config-unreadable', path, reason } as const);
  if (!read.ok) {
    if (read.error.kind === 'not-found' && (place === 'flag' || place === 'environment')) {
      return err({ kind: 'config-missing', path, namedBy: place === 'flag' ? '--config' : '$COMPACT_CONFIG' });
    }
    return unreadable(describeFailure(read.error, place));
  }
  const text = decodeText(read.value.bytes);
  return text === null ? unreadable('it is not UTF-8 text') : ok({ ...read.value, text });
}

type ConfigBytes = Result<Omit<ConfigText, 'text'>, FileFailure>;

async function readNamedFile(path: string): Promise<ConfigBytes> {
  const read = await readOutsideStream(path, { name: path, maxBytes: MAX_CONFIG_BYTES, patienceMs: 0 });
  if (!read.ok) return read;
  const isSilent = read.value.length === 0 && orElse(false, () => statSync(path).isFIFO());
  return isSilent ? err({ kind: 'not-a-file', path, is: 'a pipe' }) : ok({ bytes: read.value, owner: null });
}

function readProjectFile(path: string, host: Pick<HostEnvironment, 'userId'>): ConfigBytes {
  const read = readOutsideFile(path, { followsLinks: true, maxBytes: MAX_CONFIG_BYTES });
  if (!read.ok) return read;
  const { bytes, stats } = read.value;
  // The user must own the folder, the file and, if the name is a link, the link.
  const owners: readonly (readonly ['it' | 'its folder', Pick<Stats, 'uid'> | null])[] = [
    ['its folder', lookAtFolder(dirname(path))],
    ['it', orElse(null, () => lstatSync(path))],
    ['it', { uid: Number(stats.uid) }],
  ];
  const strangers = owners.flatMap(([what, owned]) => (owned === null ? [] : (describeOwner(what, owned, host) ?? [])));
  return ok({ bytes, owner: strangers[0] ?? null });
}

const SILENT_PIPE = 'a pipe, and nothing was written to it';

function describeFailure(failure: FileFailure, place: ConfigPlace): string {
  switch (failure.kind) {
    case 'not-found':
      return 'it does not exist';
    case 'not-a-file':
      if (place === 'project' && /pipe|device/.test(failure.is)) return 'it is not a regular file';
      return `it is ${/pipe/.test(failure.is) ? SILENT_PIPE : failure.is}`;
    case 'denied':
      return 'permission denied';
    case 'too-large':
      return 'it is larger than 1 MiB';
    default:
      return 'code' in failure ? failure.code : failure.kind;
  }
}
