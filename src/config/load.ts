import { err, ok } from '../core/result.ts';
import type { Result } from '../core/result.ts';
import { findConfig } from './find.ts';
import type { ConfigPlace, Surroundings } from './find.ts';
import type { KeyLines } from './locate.ts';
import type { ConfigProblem } from './problem.ts';
import type { ConfigFile } from './schema.ts';

export type LoadedConfig = {
  readonly file: { readonly path: string; readonly place: ConfigPlace; readonly lines: KeyLines } | null;
  readonly values: ConfigFile;
};

const MAX_CONFIG_BYTES = 1024 * 1024; // a config of a megabyte is some other file, named by mistake

/** Reads the config file that applies, if there is one. TOML and zod are loaded only when there is. */
export async function loadConfig(
  surroundings: Surroundings,
  flag: string | null,
): Promise<Result<LoadedConfig, readonly ConfigProblem[]>> {
  const { found } = findConfig(surroundings, flag);
  if (found === null) return ok({ file: null, values: {} });
  const text = await readText(found);
  if (!text.ok) return err([text.error]);
  const { parseConfig } = await import('./parse.ts');
  const parsed = parseConfig(text.value, found.path);
  if (!parsed.ok) return parsed;
  return ok({ file: { ...found, lines: parsed.value.lines }, values: parsed.value.values });
}

async function readText(found: {
  readonly path: string;
  readonly place: ConfigPlace;
}): Promise<Result<string, ConfigProblem>> {
  const { path } = found;
  const { readFile } = await import('node:fs/promises');
  try {
    const bytes = await readFile(path);
    if (bytes.length > MAX_CONFIG_BYTES) return unreadable(path, 'it is larger than 1 MiB');
    // Fatal, so that a file in another encoding is an error; a byte order mark is dropped.
    return ok(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof TypeError) return unreadable(path, 'it is not UTF-8 text');
    const code = error instanceof Error && 'code' in error ? String(error.code) : null;
    if (code === null) throw error;
    if ((code === 'ENOENT' || code === 'ENOTDIR') && found.place !== 'project' && found.place !== 'user') {
      return err({ kind: 'config-missing', path, namedBy: found.place === 'flag' ? '--config' : '$COMPACT_CONFIG' });
    }
    return unreadable(path, REASONS[code] ?? code);
  }
}

const REASONS: { readonly [code: string]: string } = {
  EISDIR: 'it is a folder',
  EACCES: 'you may not read it',
  EPERM: 'you may not read it',
  ENOENT: 'it has vanished',
};

function unreadable(path: string, reason: string): Result<never, ConfigProblem> {
  return err({ kind: 'config-unreadable', path, reason });
}
