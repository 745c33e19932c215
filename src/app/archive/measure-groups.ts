import type { ArchiveFigures } from '../../ports/archive-lookup.ts';
import type { Archive } from '../../ports/archive.ts';
import type { ArchiveGroup } from '../contract/archive-reports.ts';

export const ARCHIVE_GROUPINGS = ['project', 'format', 'month'] as const;
export type ArchiveGrouping = (typeof ARCHIVE_GROUPINGS)[number];

/** What a compaction, or a captured file, adds to its group: among others bytes of archived lines, compressed, and of a captured file, as it is. */
const NOTHING = { compactions: 0, lines: 0, rows: 0, original: 0, stored: 0, captured: 0 };
type Part = Readonly<typeof NOTHING>;

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
  const groups = new Map<string, Part>();
  const add = (origin: Origin, part: Partial<Part>): void => {
    const name = nameOf(by, origin);
    groups.set(name, sum(groups.get(name) ?? NOTHING, { ...NOTHING, rows: (part.lines ?? 0) + 1, ...part }));
  };
  for await (const page of archive.retention.listErasable())
    for (const { sourcePath: path, format, archivedAt: at, lines, bytes, storedBytes } of page)
      add({ path, format, at }, { compactions: 1, lines, original: bytes, stored: storedBytes });
  for (const { id, path, format, last } of await archive.captures.list()) {
    const states = last.change === 'gone' ? await archive.captures.listStates(id) : [last];
    const captured = Math.max(...states.map(({ sizeBytes }) => sizeBytes));
    add({ path, format, at: last.capturedAt }, { original: captured, captured });
  }
  const taken = {
    lines: figures.bytes.compressed,
    index: figures.index.bytes,
    captures: figures.captured.bytes.compressed,
  };
  const catalog = Math.max(0, (await archive.usedBytes()) - taken.lines - taken.index - taken.captures);
  const all = groups.values().reduce(sum, NOTHING);
  return [...groups]
    .map(([name, group]): ArchiveGroup => {
      const shareOf = (bytes: number, by: keyof Part): number => Math.round((bytes * group[by]) / Math.max(1, all[by]));
      const { compactions, lines, original } = group;
      const bytes = {
        original,
        lines: shareOf(taken.lines, 'stored'),
        index: shareOf(taken.index, 'original'),
        captures: shareOf(taken.captures, 'captured'),
        catalog: shareOf(catalog, 'rows'),
      };
      return { name, compactions, lines, bytes };
    })
    .toSorted((a, b) => (by === 'month' ? (a.name < b.name ? -1 : 1) : b.bytes.original - a.bytes.original));
}

function sum(a: Part, b: Part): Part {
  return {
    compactions: a.compactions + b.compactions,
    lines: a.lines + b.lines,
    rows: a.rows + b.rows,
    original: a.original + b.original,
    stored: a.stored + b.stored,
    captured: a.captured + b.captured,
  };
}

function nameOf(by: ArchiveGrouping, { path, format, at }: Origin): string {
  if (by === 'format') return format;
  return by === 'month' ? at.toISOString().slice(0, 7) : path.replace(/[\\/][^\\/]*$/, '');
}
