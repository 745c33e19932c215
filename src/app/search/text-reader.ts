import type { ArchivedLine, ArchiveLookup } from '../../ports/archive-lookup.ts';
import type { FormatRegistry } from '../../ports/formats.ts';
import { readArchivedText } from './archived-text.ts';

/** The text that search knows of a message stands in the first of its line; the rest of a longer one is not unpacked. */
const MAX_HEAD_BYTES = 1024 * 1024;

type LineOfText = Pick<ArchivedLine, 'lineId' | 'line' | 'format'>;

export type TextReader = {
  readonly load: (lines: readonly LineOfText[]) => readonly string[];
  readonly textOf: (line: LineOfText) => string;
};

/** What messages say, each read once; blocks that hold several of them are unpacked once. */
export function createTextReader(archive: Pick<ArchiveLookup, 'readHeads'>, formats: FormatRegistry): TextReader {
  const texts = new Map<number, string>();
  const load = (lines: readonly LineOfText[]): readonly string[] => {
    const missing = lines.filter(({ lineId }) => !texts.has(lineId));
    const heads = archive.readHeads(
      missing.map(({ lineId }) => lineId),
      MAX_HEAD_BYTES,
    );
    for (const { lineId, format, line } of missing) {
      const bytes = heads.get(lineId) ?? new Uint8Array();
      texts.set(lineId, readArchivedText(formats, { format, line, bytes }));
    }
    return lines.map(({ lineId }) => texts.get(lineId) ?? '');
  };
  return { load, textOf: (line) => load([line])[0] ?? '' };
}
