import { ARCHIVE_GROUPINGS } from '../../../app/archive/measure-groups.ts';
import type { ArchiveGroup } from '../../../app/contract/archive-reports.ts';
import { formatBytes, formatCount } from '../../../messages/quantities.ts';
import { clipStart, safeText } from '../../../messages/text.ts';
import { defineAction, type Flag, type Session } from '../../line/command.ts';
import { renderArchiveStats } from '../../render/archive.ts';
import { type Column, layTable } from '../../render/table.ts';
import type { Rendering } from '../../render/theme.ts';
import { answerFound } from './shared.ts';

export const GROUP_FLAG = {
  flags: '--by <group>',
  description: 'what each project, format or month takes',
  choices: ARCHIVE_GROUPINGS,
} as const satisfies Flag;

export const statsAction = defineAction({
  summary: 'counts and sizes',
  flags: [GROUP_FLAG],
  run: async (session: Session, { options: { by = null } }) =>
    answerFound(session, await session.useCases.measureArchive({ by }), (report, rendering) =>
      report.groups === undefined
        ? renderArchiveStats(report, rendering)
        : renderGroups(report.groups, by ?? '', rendering),
    ),
});

function renderGroups(groups: readonly ArchiveGroup[], by: string, { theme, widthColumns }: Rendering) {
  const size = (title: string, of: keyof ArchiveGroup['bytes']): Column<ArchiveGroup> => ({
    title,
    align: 'right',
    cell: ({ bytes }) => formatBytes(bytes[of]),
  });
  return layTable(
    groups,
    [
      { title: by, cell: ({ name }) => safeText(name), minColumns: 10, clip: clipStart },
      { title: 'compactions', align: 'right', cell: ({ compactions }) => formatCount(compactions), isOptional: true },
      size('originals', 'original'),
      size('lines', 'lines'),
      size('index', 'index'),
      size('captures', 'captures'),
      size('catalog', 'catalog'),
    ],
    { widthColumns, paintHead: theme.faint },
  );
}
