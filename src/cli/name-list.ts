import { readFile } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { err, ok, type Result } from '../core/result.ts';
import type { FileFailure } from '../ports/files.ts';
import { toFileFailure } from './system-failure.ts';
import type { Terminal } from './terminal.ts';

/** The names that a file lists; `-` is standard input, which rejects when it is interrupted. */
export async function readNameList(
  path: string,
  { stdin, signal }: Pick<Terminal, 'stdin' | 'signal'>,
): Promise<Result<readonly string[], FileFailure>> {
  try {
    if (path !== '-') return ok(parseNames(await readFile(path, { signal })));
    const pieces: Buffer[] = [];
    for await (const piece of addAbortSignal(signal, stdin.open())) {
      pieces.push(Buffer.isBuffer(piece) ? piece : Buffer.from(String(piece)));
    }
    return ok(parseNames(Buffer.concat(pieces)));
  } catch (error) {
    if (signal.aborted) throw error;
    return err(toFileFailure(error, { path: path === '-' ? 'standard input' : path, what: 'read' }));
  }
}

const NUL = 0x00;
const BOM = '\ufeff';

/** Names that a NUL ends where there is any, so that they may hold anything; else one a line, blank lines left out. */
export function parseNames(list: Buffer): readonly string[] {
  const text = list.toString();
  if (list.includes(NUL)) return text.split('\0').filter((name) => name !== '');
  const lines = text.startsWith(BOM) ? text.slice(BOM.length) : text;
  return lines.split(/\r?\n/).filter((name) => name.trim() !== '');
}
