import { packBlock, tryUnpack } from './blocks.ts';
import { DamageError } from './failure.ts';
import { readBytes, readOptionalInteger, type Row } from './rows.ts';

/** A line that a compaction put into its output, as it is stored: packed where that is shorter, and then with its size. */
export type PackedLine = { readonly bytes: Uint8Array; readonly rawSizeBytes: number | null };

export function packOwnLine(line: Uint8Array): PackedLine {
  const packed = packBlock(line);
  return packed.length < line.length
    ? { bytes: packed, rawSizeBytes: line.length }
    : { bytes: line, rawSizeBytes: null };
}

/** From the columns `bytes` and `raw_size`. Throws a `DamageError`. */
export function readOwnLine(row: Row): Uint8Array {
  const bytes = readBytes(row, 'bytes');
  const rawSizeBytes = readOptionalInteger(row, 'raw_size');
  if (rawSizeBytes === null) return bytes;
  const line = tryUnpack(bytes, rawSizeBytes);
  if (line?.length === rawSizeBytes) return line;
  throw new DamageError('a line that a compaction put into its output cannot be unpacked');
}
