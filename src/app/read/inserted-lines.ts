import type { InsertedLine, StoredCompaction } from '../../ports/archive.ts';
import type { Runtime } from '../../ports/runtime.ts';

/** The line ending that was added to the output's last line; null: none. */
export function closingOf({ inserted }: StoredCompaction): Uint8Array | null {
  const last = inserted.at(-1);
  return last !== undefined && isLineEnd(last) ? last.bytes : null;
}

/** Whether an insertion is only a line ending for a kept line. */
export function isLineEnd({ bytes }: InsertedLine): boolean {
  return bytes.at(-1) === LF && (bytes.length === 1 || (bytes.length === 2 && bytes.at(0) === CR));
}

/** The hashes of our own lines, by the source line that they stand before. */
export function hashesByLine(
  { inserted }: StoredCompaction,
  { sha256 }: Pick<Runtime, 'sha256'>,
): ReadonlyMap<number, readonly string[]> {
  const lines = new Map<number, readonly string[]>();
  for (const one of inserted) {
    if (isLineEnd(one)) continue;
    const { beforeLine, bytes, erasedSha256 } = one;
    const own = erasedSha256 ?? sha256(bytes);
    lines.set(beforeLine, [...(lines.get(beforeLine) ?? []), own]);
  }
  return lines;
}

const LF = 0x0a;
const CR = 0x0d;
