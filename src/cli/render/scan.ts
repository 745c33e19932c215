import type { ScanReport } from '../../app/survey/scan-file.ts';
import { MAX_UNPACKED_FLAG, OUTPUT_FLAGS, SELECTION_FLAGS, SETTINGS_FLAGS } from '../line/flags.ts';
import { countOf, formatBytes, formatCount, sumOf } from '../../messages/quantities.ts';
import { type Column, layTable } from './table.ts';
import { clipMiddle, clipStart, partFlags, quoteForShell, safeText, shellWord } from '../../messages/text.ts';
import type { Rendering } from './theme.ts';

export type ScanRendering = Rendering & {
  readonly nowMs: number;
  /** Shown as `~`. */
  readonly homeFolder: string;
  /** The transcripts were looked for in a folder, so only their paths name them. */
  readonly namesFiles: boolean;
};

const MIN_PATH_COLUMNS = 26; // with less, two sessions could look the same
const MIN_PROJECT_COLUMNS = 12;
const MIN_TITLE_COLUMNS = 14;
/** With less, a path needs the room of the project, which a folder's transcripts often share. */
const MIN_WIDTH_WITH_BOTH = 120;
/** As many digits of an id as `compact` needs to find its session. */
const ID_DIGITS = 8;

/** One row per transcript, in the given order, then the totals. Where every row has an id to type, paths come last. */
export function renderScan(rows: readonly ScanReport[], rendering: ScanRendering): readonly string[] {
  const { theme, widthColumns, nowMs, homeFolder, namesFiles } = rendering;
  const text = (title: string, cell: (row: ScanReport) => string | null): Column<ScanReport> => ({
    title,
    cell: (row) => safeText(cell(row) ?? ''),
  });
  const project: Column<ScanReport> = {
    ...text('project', (row) => tilde(row.project ?? '', homeFolder)),
    isOptional: true,
    minColumns: MIN_PROJECT_COLUMNS,
    clip: clipStart,
  };
  const right = 'right' as const;
  const columns: readonly Column<ScanReport>[] = [
    { title: 'saves', align: right, cell: ({ saving }) => formatCount(saving), paint: theme.good },
    { title: 'tokens', align: right, cell: ({ tokens }) => formatCount(tokens.before), isOptional: true },
    { title: 'size', align: right, cell: ({ bytes }) => formatBytes(bytes) },
    { title: 'age', align: right, cell: ({ at, modified }) => formatAge(nowMs - Date.parse(at ?? modified)) },
    { ...text('id', ({ id }) => (id ?? '').slice(0, ID_DIGITS)), isOptional: namesFiles },
    ...(namesFiles && widthColumns < MIN_WIDTH_WITH_BOTH ? [] : [project]),
    {
      ...text('transcript', ({ file }) => tilde(file, homeFolder)),
      isOptional: !namesFiles,
      minColumns: MIN_PATH_COLUMNS,
      clip: clipMiddle,
    },
    { ...text('title or first request', ({ title }) => title), isOptional: namesFiles, minColumns: MIN_TITLE_COLUMNS },
  ];
  return [...layTable(rows, columns, { widthColumns, paintHead: theme.faint }), ...renderTotal(rows).map(theme.strong)];
}

/** Every summary is assumed to be as long as it may be, so at least this many tokens are saved. */
function renderTotal(rows: readonly ScanReport[]): readonly string[] {
  const before = sumOf(rows, ({ tokens }) => tokens.before);
  const saving = sumOf(rows, (row) => row.saving);
  const share = before === 0 ? 0 : Math.trunc((100 * saving) / before);
  const all = `${countOf(rows.length, 'transcript')}, ${formatBytes(sumOf(rows, ({ bytes }) => bytes))}, ${countOf(before, 'token')}`;
  if (saving === 0) return [all, 'compaction would save nothing'];
  const gained = sumOf(rows, (row) => row.bytes - row.bytesAfter - row.archiveBytes);
  return [
    all,
    `compaction saves at least ${countOf(saving, 'token')} (${share} %)`,
    ...(gained > 0 ? [`and in place about ${formatBytes(gained)} of disk, net of the archive`] : []),
  ];
}

/** What to type next, if there is something to save. */
export function renderNextStep(
  rows: readonly ScanReport[],
  { program, argv }: { readonly program: string; readonly argv: readonly string[] },
): readonly string[] {
  const first = rows.find(({ saving }) => saving > 0);
  if (first === undefined) return [];
  const parted = partFlags(argv, POLICY_FLAGS);
  const compact = [program, quoteForShell(parted.flags)].filter((part) => part !== '').join(' ');
  return [
    'Next, plan one, or compact all of them in place:',
    `  ${compact} -n ${shellWord(first.file)}`,
    `  ${program} ${quoteForShell(partFlags(argv, OUTPUT_FLAGS).rest)} -0 | ${compact} -i --files-from -`,
  ];
}

const HOUR_MS = 3_600_000;
/** The largest age in hours for each unit, and its hours: the units of `--older-than`. */
const UNITS = [
  { name: 'h', below: 48, hours: 1 },
  { name: 'd', below: 24 * 90, hours: 24 },
  { name: 'mo', below: 24 * 365 * 2, hours: 24 * 30 },
  { name: 'y', below: Number.POSITIVE_INFINITY, hours: 24 * 365 },
] as const;

/** '5h', '34d', '14mo', rounded down. */
export function formatAge(ms: number): string {
  const hours = ms / HOUR_MS;
  if (hours < 1) return '<1h';
  const unit = UNITS.find(({ below }) => hours < below) ?? UNITS[UNITS.length - 1];
  return unit === undefined ? '' : `${formatCount(Math.floor(hours / unit.hours))}${unit.name}`;
}

function tilde(path: string, homeFolder: string): string {
  return path.startsWith(`${homeFolder}/`) ? `~${path.slice(homeFolder.length)}` : path;
}

/** They decide what a compaction does, so that the next command does what this one announced. */
const POLICY_FLAGS = [...SELECTION_FLAGS, MAX_UNPACKED_FLAG, ...SETTINGS_FLAGS];
