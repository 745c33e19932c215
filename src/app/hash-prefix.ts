import type { Runtime } from '../ports/runtime.ts';

const READ_BYTES = 1024 * 1024;

/** sha256 of a file's first bytes; null where it has fewer. */
export function hashPrefix(
  runtime: Pick<Runtime, 'createHash'>,
  source: {
    readonly stamp: { readonly sizeBytes: number };
    readonly read: (start: number, length: number) => Uint8Array;
  },
  sizeBytes: number,
): string | null {
  if (source.stamp.sizeBytes < sizeBytes) return null;
  const hash = runtime.createHash();
  for (let start = 0; start < sizeBytes; start += READ_BYTES) {
    hash.update(source.read(start, Math.min(READ_BYTES, sizeBytes - start)));
  }
  return hash.digest();
}
