import type { ArchiveFigures } from '../../ports/archive-lookup.ts';
import type { Archive } from '../../ports/archive.ts';
import type { ArchiveGroup } from '../contract/archive-reports.ts';

export const ARCHIVE_GROUPINGS = ['project', 'format', 'month'] as const;
export type ArchiveGrouping = (typeof ARCHIVE_GROUPINGS)[number];

/** What a compaction, or a captured file, adds to its group. */
type Part = { readonly compactions: number; readonly lines: number; readonly original: number } & {
  /** Bytes of its archived lines, compressed; and of a captured file, as it is. */
  readonly stored: number;
  readonly captured: number;
};

type Origin = { readonly path: string; readonly format: string; readonly at: Date };

/**
 * Divides what an archive takes among the folders of transcripts, their formats, or the months in which they were archived. Nothing says whose
 * the words of the search index are, or the rows of the catalog, so each has its share by the size of what was said, and by the number of rows.
 */
export async function measureGroups(
  archive: Archive,
  by: ArchiveGrouping,
  figures: Pick<ArchiveFigures, 'bytes' | 'index' | 'captured'>,
): Promise<readonly ArchiveGroup[]> {
  const groups = new Map<string, Part[]>();
  const add = (origin: Origin, part: Part): void => {
    const name = nameOf(by, origin);
    groups.set(name, [...(groups.get(name) ?? []), part]);
  };
  for await (const page of archive.retention.listErasable())
    for (const { sourcePath: path, format, archivedAt: at, lines, bytes, storedBytes } of page)
      add({ path, format, at }, { compactions: 1, lines, original: bytes, stored: storedBytes, captured: 0 });
  for (const { id, path, format, last } of await archive.captures.list()) {
    const states = last.change === 'gone' ? await archive.captures.listStates(id) : [last];
    const captured = Math.max(...states.map(({ sizeBytes }) => sizeBytes));
    add({ path, format, at: last.capturedAt }, { compactions: 0, lines: 0, original: captured, stored: 0, captured });
  }
  const taken = {
    lines: figures.bytes.compressed,
    index: figures.index.bytes,
    captures: figures.captured.bytes.compressed,
  };
  const catalog = Math.max(0, (await archive.usedBytes()) - taken.lines - taken.index - taken.captures);
  const all = [...groups.values()].flat();
  return [...groups]
    .map(([name, parts]) => {
      const share = (weigh: (part: Part) => number): number => sumOf(parts, weigh) / Math.max(1, sumOf(all, weigh));
      const bytes = {
        original: sumOf(parts, ({ original }) => original),
        lines: Math.round(taken.lines * share(({ stored }) => stored)),
        index: Math.round(taken.index * share(({ original }) => original)),
        captures: Math.round(taken.captures * share(({ captured }) => captured)),
        catalog: Math.round(catalog * share(({ lines }) => lines + 1)),
      };
      return {
        name,
        compactions: sumOf(parts, (one) => one.compactions),
        lines: sumOf(parts, (one) => one.lines),
        bytes,
      };
    })
    .toSorted((a, b) => (by === 'month' ? (a.name < b.name ? -1 : 1) : b.bytes.original - a.bytes.original));
}

function nameOf(by: ArchiveGrouping, { path, format, at }: Origin): string {
  if (by === 'format') return format;
  return by === 'month' ? at.toISOString().slice(0, 7) : path.replace(/[\\/][^\\/]*$/, '');
}

function sumOf(parts: readonly Part[], weigh: (part: Part) => number): number {
  return parts.reduce((sum, part) => sum + weigh(part), 0);
}
