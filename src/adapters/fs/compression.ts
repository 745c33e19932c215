import type { Compression } from '../../ports/files.ts';

const GZIP_MAGIC = [0x1f, 0x8b];
const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
/** RFC 8878: the first byte of a skippable frame's magic number may be any from 0x50 to 0x5f. */
const SKIPPABLE_MAGIC = [0x2a, 0x4d, 0x18];

const ZIP_MAGIC = [0x50, 0x4b, 3, 4];
/** A log of Inspect AI begins with an entry of its journal, or with a sample. The name of the entry is at byte 30. */
const INSPECT_ENTRY = /^(?:_journal\/|samples\/|header\.json)/;

/** Bytes needed to detect the compression of a member or frame. */
export const MAGIC_BYTES = 4;
/** Bytes needed to detect the compression of a file. */
export const HEAD_BYTES = 48;

/** The compression of a file, from its first bytes. */
export function detectCompression(head: Uint8Array): Compression {
  if (startsWith(head, GZIP_MAGIC)) return 'gzip';
  if (startsWith(head, ZIP_MAGIC) && INSPECT_ENTRY.test(Buffer.from(head).toString('latin1', 30))) return 'eval';
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
  if (/\.eval$/i.test(path)) return 'eval';
  return /\.zst$/i.test(path) ? 'zstd' : 'none';
}

function startsWith(bytes: Uint8Array, start: readonly number[]): boolean {
  return bytes.length >= start.length && start.every((byte, at) => bytes[at] === byte);
}
