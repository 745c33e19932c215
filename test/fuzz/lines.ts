import { splitPieces } from '../../src/app/read/records.ts';
import { findCodec } from '../support/codecs.ts';

const LF = 0x0a;

/** The lines of a file with their endings, as texts with a character for each byte. A BOM belongs to no line. */
export function linesOf(file: Buffer): readonly string[] {
  const lines: string[] = [];
  let start = file.subarray(0, 3).equals(Buffer.from('\ufeff')) ? 3 : 0;
  while (start < file.length) {
    const end = file.indexOf(LF, start);
    const next = end < 0 ? file.length : end + 1;
    lines.push(file.toString('latin1', start, next));
    start = next;
  }
  return lines;
}

export function endsOpen(file: Buffer): boolean {
  return file.length > 0 && file.at(-1) !== LF;
}

/** The records of a file, as its format takes it apart: lines, for most. */
export function recordsOf(file: Buffer, format: string): readonly string[] {
  const records = findCodec(format)?.records;
  if (records === undefined) return linesOf(file);
  const bomBytes = file.subarray(0, 3).equals(Buffer.from('\ufeff')) ? 3 : 0;
  return Array.from(splitPieces(records.open(bomBytes), [file.subarray(bomBytes)]), ({ bytes }) =>
    Buffer.from(bytes).toString('latin1'),
  );
}
