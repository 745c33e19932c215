import type { Entry } from '../../core/transcript.ts';
import type { ListedFile, ListedRecord } from '../../ports/codec.ts';
import type { Prepared } from './prepare.ts';

type Reading = Pick<Prepared, 'recordIndex' | 'readJson'>;

/** A transcript as the list of its producer finds it. */
export function listSource(transcript: Reading): ListedFile {
  return asListed(transcript.recordIndex.entries, (entry) => sourceLine(transcript, entry));
}

export function sourceLine({ readJson }: Reading, entry: Entry): LineOfFile {
  return { sizeBytes: entry.length, kind: entry.kind, read: () => readJson(entry) };
}

/** A line of a file, wherever it will be in it. */
export type LineOfFile = Pick<ListedRecord, 'kind' | 'read'> & { readonly sizeBytes: number };

export function asListed<T>(items: readonly T[], lineOf: (item: T) => LineOfFile): ListedFile {
  const sizeBytes = items.reduce((sum, item) => sum + lineOf(item).sizeBytes, 0);
  function* fromStart(): Generator<ListedRecord> {
    let start = 0;
    for (const item of items) {
      const line = lineOf(item);
      yield { ...line, start, end: start + line.sizeBytes };
      start += line.sizeBytes;
    }
  }
  function* fromEnd(): Generator<ListedRecord> {
    let end = sizeBytes;
    for (let at = items.length - 1; at >= 0; at -= 1) {
      const item = items[at];
      if (item === undefined) return;
      const line = lineOf(item);
      yield { ...line, start: end - line.sizeBytes, end };
      end -= line.sizeBytes;
    }
  }
  return { sizeBytes, records: (from) => (from === 'start' ? fromStart() : fromEnd()) };
}
