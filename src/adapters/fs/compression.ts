import type { Compression } from '../../ports/files.ts';

const GZIP_MAGIC = [0x1f, 0x8b];
const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
/** RFC 8878: the first byte of a skippable frame's magic number may be any from 0x50 to 0x5f. */
const SKIPPABLE_MAGIC = [0x2a, 0x4d, 0x18];

/** Bytes needed to detect the compression. */
export const MAGIC_BYTES = 4;

/** The compression of a file, from its first bytes. */
export function detectCompression(head: Uint8Array): Compression {
  if (startsWith(head, GZIP_MAGIC)) return 'gzip';
  return startsWith(head, ZSTD_MAGIC) || isSkippable(head) ? 'zstd' : 'none';
}

/** Whether bytes start a zstd frame without content. */
export function isSkippable(head: Uint8Array): boolean {
  const [first = 0] = head;
  return first >= 0x50 && first <= 0x5f && startsWith(head.subarray(1), SKIPPABLE_MAGIC);
}

/** The compression that a file name asks for. */
export function compressionOf(path: string): Compression {
  if (/\.gz$/i.test(path)) return 'gzip';
  return /\.zst$/i.test(path) ? 'zstd' : 'none';
}

function startsWith(bytes: Uint8Array, start: readonly number[]): boolean {
  return bytes.length >= start.length && start.every((byte, at) => bytes[at] === byte);
}
