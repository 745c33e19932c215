import { safeCut } from '../../core/extract/character.ts';
import type { ListedFile, ListedRecord } from '../../ports/codec.ts';
import { isRecord, type JsonRecord } from './json.ts';

/** In characters. No list shows more of a title: Copilot CLI shows the most, 500. */
const MAX_TITLE = 600;

/** As much of a title as we write and compare; null: nothing of it can be seen. */
export function asTitle(text: string | null | undefined): string | null {
  const start = (text ?? '').trim();
  const shown = start.slice(0, safeCut(start, MAX_TITLE)).trim();
  return shown === '' ? null : shown;
}

type Wanted = {
  /** Only complete lines within this many bytes of the end from which the file is read. */
  readonly withinBytes?: number;
  /** Only this many lines, those that are not JSON included. */
  readonly maxLines?: number;
  /** Which lines are worth reading; undefined: all. */
  readonly isWanted?: (record: ListedRecord) => boolean;
};

/** The records of a file that are objects, from its first or its last line on. */
export function* listedRecords(file: ListedFile, from: 'start' | 'end', wanted: Wanted = {}): Generator<JsonRecord> {
  const { withinBytes = Number.POSITIVE_INFINITY, maxLines = Number.POSITIVE_INFINITY, isWanted = () => true } = wanted;
  let lines = 0;
  for (const record of file.records(from)) {
    lines += 1;
    const reach = from === 'start' ? record.end - 1 : file.sizeBytes - record.start;
    if (reach > withinBytes || lines > maxLines) return;
    const value = isWanted(record) ? record.read() : null;
    if (value !== null && isRecord(value)) yield value;
  }
}
