import { ARCHIVE_GROUPINGS } from '../../../app/archive/measure-groups.ts';
import type { ArchiveGroup } from '../../../app/contract/archive-reports.ts';
import { reportRun } from '../../../app/contract/reports.ts';
import { isArchiveUrl } from '../../../core/paths.ts';
import { formatBytes, formatCount } from '../../../messages/quantities.ts';
import { clipStart, safeText } from '../../../messages/text.ts';
import type { ArchiveRole, StoredRun } from '../../../ports/archive.ts';
import { defineAction, type Flag, type Session, EXIT_CODES, type ExitCode } from '../../line/command.ts';
import { renderArchiveList, renderArchiveLog, renderArchiveStats } from '../../render/archive.ts';
import { renderRuns } from '../../render/restore.ts';
import { type Column, layTable } from '../../render/table.ts';
import type { Rendering } from '../../render/theme.ts';
import { answerFound, reportMissing } from './shared.ts';

// Actions that only read.

export const listAction = defineAction({
  summary: 'its compactions',
  run: async (session: Session) => answerFound(session, await session.useCases.listArchive(), renderArchiveList),
});

export const runsAction = defineAction({
  summary: 'the runs: who compacted what, and when',
  run: async (session: Session) => {
    const stored = await session.useCases.listRuns();
    if (!stored.ok) return session.fail(stored.error);
    if (stored.value.archive !== null) return answerRuns(session, stored.value.runs);
    reportMissing(session, stored.value);
    return EXIT_CODES.done;
  },
});

/** Also for `undo --list`. */
export function answerRuns({ reporter, asked }: Session, runs: readonly StoredRun[]): ExitCode {
  const { answerTheme: theme, answerWidthColumns: widthColumns } = reporter;
  if (asked.outputOptions.json) for (const one of runs) reporter.answerJson(reportRun(one));
  else reporter.answer(renderRuns(runs, { theme, widthColumns }));
  if (runs.length === 0) reporter.report(['No run is recorded yet.']);
  return EXIT_CODES.done;
}

export const logAction = defineAction({
  summary: 'who pruned, erased, held, merged, imported, removed or trusted what',
  run: async (session: Session) => answerFound(session, await session.useCases.readLog(), renderArchiveLog),
});

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

const ROLES: readonly ArchiveRole[] = ['owner', 'writer', 'reader'];
const toRole = ([name, ...more]: readonly string[]): ArchiveRole | undefined =>
  more.length > 0 ? undefined : ROLES.find((role) => role === name);

export const grantsAction = defineAction({
  summary: 'print the SQL for a role in Postgres',
  takes: [{ syntax: '<role>', description: 'owner, writer or reader' }],
  refuseOperands: (operands) =>
    toRole(operands) === undefined ? 'archive grants takes a role: owner, writer or reader' : null,
  run: async (session: Session, { operands }) => {
    const role = toRole(operands);
    if (role === undefined || !isArchiveUrl(session.settings.archive.path))
      return session.refuse('roles are for an archive in Postgres: --archive postgres://user@host/database');
    const described = await session.useCases.describeGrants(role);
    if (!described.ok) return session.fail({ kind: 'archive', failure: described.error });
    const { database, name, sql } = described.value;
    const note = `-- Run this as an administrator of the server, in the database ${database}. In psql, \\password ${name} gives it a password.`;
    session.answer(described.value, () => [note, ...sql]);
    return EXIT_CODES.done;
  },
});
