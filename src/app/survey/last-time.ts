import type { FormatRegistry } from '../../ports/formats.ts';
import type { OpenTranscript } from '../read/open-transcript.ts';
import type { Prepared } from '../read/prepare.ts';

/** Where none of so many messages at the end has a time, the others have none either: reading all of them again would be for nothing. */
const MAX_MESSAGES = 100;

/** When the last message was said that has a time; null: the last ones have none. */
export function findLastTime({ scan, readMessage }: Pick<Prepared, 'scan' | 'readMessage'>): Date | null {
  let looked = 0;
  for (let index = scan.entries.length - 1; index >= 0 && looked < MAX_MESSAGES; index -= 1) {
    const entry = scan.entries[index];
    if (entry?.kind !== 'message') continue;
    looked += 1;
    const time = readMessage(entry)?.created_at ?? null;
    if (time !== null) return time;
  }
  return null;
}

const TAIL_BYTES = 64 * 1024; // a dozen records of most sessions
const LF = 0x0a;

/** The same from a file's last bytes, without reading what stands before them; null: they do not tell. */
export function findTailTime({ source, codec }: OpenTranscript, formats: FormatRegistry): Date | null {
  if (codec.records !== undefined) return null; // a tail cannot be taken apart
  const { sizeBytes } = source;
  const start = Math.max(source.bomLength, sizeBytes - TAIL_BYTES);
  const bytes = source.read(start, sizeBytes - start);
  const session = codec.open();
  let time: Date | null = null;
  // The first line of the tail is most often the end of one, and then no JSON.
  for (let from = 0; from < bytes.length;) {
    const found = bytes.indexOf(LF, from);
    const end = found < 0 ? bytes.length : found;
    const parsed = formats.parseLine(bytes.subarray(from, end));
    const decoded = parsed.ok ? session.decode(parsed.value, 1) : null;
    if (decoded !== null && 'kind' in decoded && decoded.kind === 'message') {
      time = decoded.message?.created_at ?? time;
    }
    from = end + 1;
  }
  return time;
}
