import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { err, ok, type Result, systemCode } from '../../core/result.ts';
import type { FileFailure } from '../../ports/files.ts';
import { isFullDisk, toFileFailure } from '../../system/files.ts';
import type { Terminal } from '../terminal/terminal.ts';

export type SpooledInput = { readonly path: string; readonly remove: () => void };

/** Standard input as a private file, because a transcript is read twice. Rejects when the run is interrupted. */
export async function spoolStdin(terminal: Terminal): Promise<Result<SpooledInput, FileFailure>> {
  const made = await makeTemporaryFolder();
  if (!made.ok) return made;
  const folder = made.value;
  const remove = terminal.removeAtExit(folder);
  const path = join(folder, 'stdin');
  const source = terminal.stdin.open();
  try {
    await pipeline(source, createWriteStream(path, { mode: 0o600, flags: 'wx' }), { signal: terminal.signal });
    return ok({ path, remove });
  } catch (error) {
    source.destroy();
    remove();
    const code = systemCode(error);
    if (code === null || code === 'ABORT_ERR') throw error;
    const name = 'standard input';
    if (isFullDisk(code)) return err({ kind: 'no-space', path: tmpdir() });
    if (code === 'EISDIR') return err({ kind: 'not-a-file', path: name, is: 'a folder' });
    return err({ kind: 'io', path: name, code });
  }
}

/** How long to wait for standard input that the user did not name. */
const IMPLIED_WAIT_MS = 30_000;

/**
 * Why standard input cannot be read although no transcript is named: a script's standard input may stay silent and never end. Null:
 * there is input.
 */
export async function describeMissingInput(
  { stdin, signal }: Pick<Terminal, 'stdin' | 'signal'>,
  timeout = AbortSignal.timeout(IMPLIED_WAIT_MS),
): Promise<string | null> {
  const source = stdin.open();
  const waiting = AbortSignal.any([signal, timeout]);
  try {
    await once(source, 'readable', { signal: waiting });
  } catch (error) {
    if (signal.aborted) throw error;
    source.destroy();
    if (!timeout.aborted)
      return `no transcript is named, and standard input cannot be read (${systemCode(error) ?? 'no reason'})`;
    return `no transcript is named, and nothing arrived on standard input within ${IMPLIED_WAIT_MS / 1000} seconds: name one, or - to wait for it`;
  }
  if (source.readableLength > 0) return null;
  return 'no transcript is named, and standard input is empty';
}

async function makeTemporaryFolder(): Promise<Result<string, FileFailure>> {
  try {
    return ok(await mkdtemp(join(tmpdir(), 'compact-stdin-')));
  } catch (error) {
    return err(toFileFailure(error, { path: tmpdir(), what: 'write' }));
  }
}
