import { lstatSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { err, ok, type Result } from '../core/result.ts';
import type { FileFailure } from '../ports/files.ts';
import { orElse } from '../system/files.ts';
import { decodeText, readOutsideFile, readOutsideStream } from '../system/outside-file.ts';
import { type ConfigPlace, describeOwner, type HostEnvironment, lookAtFolder } from './find.ts';
import type { ConfigProblem } from './parse.ts';

/** A configuration file, read once, so that the parsed text is the hashed text. */
export type ConfigText = {
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
  { path, place }: { readonly path: string; readonly place: ConfigPlace },
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
