import type { Runtime } from '../../ports/runtime.ts';
import { readPieces } from './file-pieces.ts';

/** sha256 of the first bytes of a file's content; null where it has fewer. */
export function hashPrefix(
  runtime: Pick<Runtime, 'createHash'>,
  source: {
    readonly sizeBytes: number;
    readonly read: (start: number, length: number) => Uint8Array;
  },
  sizeBytes: number,
): string | null {
  if (source.sizeBytes < sizeBytes) return null;
  const hash = runtime.createHash();
  for (const piece of readPieces(source, { from: 0, to: sizeBytes })) hash.update(piece);
  return hash.digest();
}
