import type { SourceFile } from '../../ports/files.ts';

const PIECE_BYTES = 1024 * 1024;

/** The bytes from one offset to another, a mebibyte at a time. */
export function* readPieces(
  { read }: Pick<SourceFile, 'read'>,
  { from, to }: { readonly from: number; readonly to: number },
): Generator<Uint8Array> {
  for (let start = from; start < to; start += PIECE_BYTES) yield read(start, Math.min(PIECE_BYTES, to - start));
}
