import type { SourceFile } from '../../ports/files.ts';
import type { LineSource } from './line-reader.ts';

/** So much is read ahead: a system call takes as long as copying this. */
const WINDOW_BYTES = 64 * 1024;

/**
 * Reads ranges of a file of this size; each answer is the caller's own. One range after the other, as the lines of a conversation are asked
 * for, comes from one reading of the file.
 */
export function createRangeReader(fill: LineSource['fill'], sizeBytes: number): SourceFile['read'] {
  const window = { bytes: Buffer.alloc(0), start: 0, end: 0 };
  let expected = -1; // where the range before ended
  const readAhead = (start: number): void => {
    if (window.bytes.length === 0) window.bytes = Buffer.allocUnsafeSlow(WINDOW_BYTES);
    window.start = start;
    window.end = start; // nothing, should the reading throw
    window.end = start + fill(window.bytes, start);
  };
  return (start, length) => {
    const wanted = Math.min(length, Math.max(0, sizeBytes - start));
    const isNext = start === expected;
    expected = start + wanted;
    const isHeld = (): boolean => start >= window.start && start + wanted <= window.end;
    if (isNext && !isHeld() && wanted < WINDOW_BYTES) readAhead(start);
    const bytes = Buffer.allocUnsafe(wanted);
    if (!isHeld()) return bytes.subarray(0, fill(bytes, start));
    window.bytes.copy(bytes, 0, start - window.start, start - window.start + wanted);
    return bytes;
  };
}
