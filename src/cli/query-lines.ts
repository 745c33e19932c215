import { addAbortSignal, type Readable } from 'node:stream';

const LF = 0x0a;
/** What a line says beyond this is not kept: nobody asks in a megabyte. */
const MAX_LINE_BYTES = 1024 * 1024;

/** More lines than this are not kept waiting for each other. */
const MAX_GROUP = 64;

/**
 * Lines as soon as they are there, those together that are there together, without their LF or CRLF; a last one without an end counts. Ends
 * quietly when it is interrupted.
 */
export async function* readQueryGroups(
  source: Readable,
  signal: AbortSignal,
  maxLineBytes = MAX_LINE_BYTES,
): AsyncGenerator<readonly string[]> {
  let pieces: Buffer[] = [];
  let keptBytes = 0;
  const keep = (piece: Buffer): void => {
    const kept = piece.subarray(0, maxLineBytes - keptBytes);
    if (kept.length > 0) pieces.push(kept);
    keptBytes += kept.length;
  };
  const take = (): string => {
    const line = Buffer.concat(pieces).toString();
    pieces = [];
    keptBytes = 0;
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  };
  try {
    for await (const data of addAbortSignal(signal, source)) {
      const chunk: Buffer = Buffer.isBuffer(data) ? data : Buffer.from(String(data));
      let start = 0;
      let group: string[] = [];
      for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
        keep(chunk.subarray(start, end));
        start = end + 1;
        group.push(take());
        if (group.length < MAX_GROUP) continue;
        yield group;
        group = [];
      }
      if (group.length > 0) yield group;
      keep(chunk.subarray(start));
    }
    if (keptBytes > 0) yield [take()];
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
