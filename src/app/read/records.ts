import type { Codec } from '../../ports/codec.ts';
import type { SourceFile } from '../../ports/files.ts';
import type { FormatRegistry } from '../../ports/formats.ts';
import type { LineParse } from '../../ports/json.ts';
import type { RawRecord } from '../../ports/records.ts';
import { readPieces } from './file-pieces.ts';

type Parts = Pick<Codec, 'records'>;

/** Every record of a file, in order. */
export function readRecords(source: SourceFile, { records }: Parts): IterableIterator<RawRecord> {
  if (records === undefined) return source.lines();
  const { bomLength, sizeBytes } = source;
  return records.split(readPieces(source, { from: bomLength, to: sizeBytes }), bomLength);
}

/** What a message calls a part of a file. */
export function unitOf({ records }: Parts): 'line' | 'record' {
  return records === undefined ? 'line' : 'record';
}

/** A record without its LF or CRLF, or what else parts it from the next. */
export function trimRecord({ records }: Parts, bytes: Uint8Array): Uint8Array {
  return records === undefined ? trimEol(bytes) : records.trim(bytes);
}

/** The value of a record whose ending was cut off. */
export function parseRecord(
  formats: Pick<FormatRegistry, 'parseLine'>,
  { records }: Parts,
  bytes: Uint8Array,
): LineParse {
  return records === undefined ? formats.parseLine(bytes) : records.parse(bytes);
}

function trimEol(bytes: Uint8Array): Uint8Array {
  if (bytes.at(-1) !== 0x0a) return bytes;
  return bytes.subarray(0, bytes.at(-2) === 0x0d ? -2 : -1);
}
