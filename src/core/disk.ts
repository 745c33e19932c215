/** What almost every file system gives a file at a time. */
const BLOCK_BYTES = 4096;

/** By how many bytes a disk becomes emptier if a file changes its size and an archive grows; negative: fuller. */
export function netBytesFreed({ before, after, archive }: { before: number; after: number; archive: number }): number {
  return onDisk(before) - onDisk(after) - archive;
}

function onDisk(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
}
