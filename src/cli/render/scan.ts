import { KEEP_FLAGS, MAX_UNPACKED_FLAG, OUTPUT_FLAGS, SETTINGS_FLAGS } from '../line/flags.ts';
import { countOf, formatBytes, formatCost, formatCount, namePrices, sumOf } from '../../messages/quantities.ts';
import { ID_DIGITS } from '../../core/paths.ts';
import type { ScanGroup, ScanRow } from '../reports.ts';
import { type Column, layTable } from './table.ts';
import { clipMiddle, clipStart, partFlags, quoteForShell, safeText, shellWord } from '../../messages/text.ts';
import type { Rendering } from './theme.ts';

export type ScanRendering = Rendering & {
  readonly nowMs: number;
  /** Shown as `~`. */
  readonly homeFolder: string;
  /** The transcripts were looked for in a folder, so only their paths name them. */
  readonly namesFiles: boolean;
  /** How many rows are shown. */
  readonly limit: number;
};

const MIN_PATH_COLUMNS = 26; // with less, two sessions could look the same
const MIN_PROJECT_COLUMNS = 12;
const MIN_TITLE_COLUMNS = 14;
/** With less, a path needs the room of the project, which a folder's transcripts often share. */
const MIN_WIDTH_WITH_BOTH = 120;

/** One row per transcript, in the given order, then the totals. Where every row has an id to type, paths come last. */
export function renderScan(rows: readonly ScanRow[], rendering: ScanRendering): readonly string[] {
  const { widthColumns, nowMs, homeFolder, namesFiles } = rendering;
  const project: Column<ScanRow> = {
    ...text('project', (row: ScanRow) => tilde(row.project ?? '', homeFolder)),
    isOptional: true,
    minColumns: MIN_PROJECT_COLUMNS,
    clip: clipStart,
  };
  return layRows(rows, rows, rendering, [
    { title: 'age', align: 'right', cell: ({ at, modified }) => formatAge(nowMs - Date.parse(at ?? modified)) },
    ...(rows.some(({ id }) => id !== null)
      ? [{ ...text('id', ({ id }: ScanRow) => (id ?? '').slice(0, ID_DIGITS)), isOptional: namesFiles }]
      : []),
    ...(namesFiles && widthColumns < MIN_WIDTH_WITH_BOTH ? [] : [project]),
    {
      ...text('transcript', ({ file }) => tilde(file, homeFolder)),
      isOptional: !namesFiles,
      minColumns: MIN_PATH_COLUMNS,
      clip: clipMiddle,
    },
    { ...text('title', ({ title }) => title), isOptional: namesFiles, minColumns: MIN_TITLE_COLUMNS },
  ]);
}

/** One row per group of `rows`, then their totals. */
export function renderScanGroups(groups: readonly ScanGroup[], rows: readonly ScanRow[], rendering: ScanRendering) {
  const { nowMs, homeFolder } = rendering;
  return layRows(groups, rows, rendering, [
    { title: 'age', align: 'right', cell: ({ at }) => formatAge(nowMs - Date.parse(at)) },
    { title: 'transcripts', align: 'right', cell: ({ transcripts }) => formatCount(transcripts) },
    {
      ...text('group', ({ name }) => tilde(name ?? '(unknown)', homeFolder)),
      minColumns: MIN_PROJECT_COLUMNS,
      clip: clipStart,
    },
  ]);
}

function text<Row>(title: string, cell: (row: Row) => string | null): Column<Row> {
  return { title, cell: (row) => safeText(cell(row) ?? '') };
}

/** The columns of figures and then these, how many rows were left out, and the totals of all transcripts. */
function layRows<Row extends Pick<ScanGroup, 'saving' | 'tokens' | 'netBytes' | 'bytes' | 'cost'>>(
  shown: readonly Row[],
  all: readonly ScanRow[],
  { theme, widthColumns, limit }: ScanRendering,
  columns: readonly Column<Row>[],
): readonly string[] {
  const total = sumRows(all);
  const right = { align: 'right', isOptional: true } as const;
  const figures: readonly Column<Row>[] = [
    { title: 'saves', align: 'right', cell: ({ saving }) => formatCount(saving), paint: theme.good },
    { title: 'tokens', ...right, cell: ({ tokens }) => formatCount(tokens.before) },
    ...(total.cost === null
      ? []
      : [
          {
            title: total.cost.listedOn === undefined ? 'cost' : 'cost $',
            ...right,
            cell: ({ cost }: Row) => cost?.before.toFixed(2) ?? '',
          },
        ]),
    { title: 'frees', align: 'right', cell: ({ netBytes: net }) => (net < 0 ? '-' : '') + formatBytes(Math.abs(net)) },
    { title: 'size', align: 'right', cell: ({ bytes }) => formatBytes(bytes) },
  ];
  const left = shown.length - limit;
  return [
    ...layTable(shown.slice(0, limit), [...figures, ...columns], { widthColumns, paintHead: theme.faint }),
    ...(left > 0 ? [theme.faint(`and ${formatCount(left)} more (--limit)`)] : []),
    ...renderTotal(total).map(theme.strong),
  ];
}

/** The figures of transcripts together. A cost is that of the transcripts of which it is known. */
export function sumRows(rows: readonly ScanRow[]): Omit<ScanGroup, 'schema' | 'name' | 'at'> {
  const costs = rows.flatMap(({ cost }) => cost ?? []);
  const listedOn = costs.find((cost) => cost.listedOn !== undefined)?.listedOn;
  return {
    transcripts: rows.length,
    tokens: { before: sumOf(rows, ({ tokens }) => tokens.before), after: sumOf(rows, ({ tokens }) => tokens.after) },
    saving: sumOf(rows, ({ saving }) => saving),
    bytes: sumOf(rows, ({ bytes }) => bytes),
    netBytes: sumOf(rows, ({ netBytes }) => netBytes),
    cost:
      costs.length === 0
        ? null
        : {
            before: sumOf(costs, ({ before }) => before),
            after: sumOf(costs, ({ after }) => after),
            ...(listedOn !== undefined && { listedOn }),
          },
  };
}

/** Every summary is assumed to be as long as it may be, so at least this many tokens are saved. */
function renderTotal(total: ReturnType<typeof sumRows>): readonly string[] {
  const { transcripts, tokens, saving, bytes, netBytes, cost } = total;
  const share = tokens.before === 0 ? 0 : Math.trunc((100 * saving) / tokens.before);
  const all = `${countOf(transcripts, 'transcript')}, ${formatBytes(bytes)}, ${countOf(tokens.before, 'token')}`;
  if (saving === 0) return [all, 'compaction would save nothing'];
  const { currency, prices } = namePrices(cost?.listedOn);
  const disk =
    netBytes < 0
      ? `makes the disk about ${formatBytes(-netBytes)} fuller`
      : `frees about ${formatBytes(netBytes)} of disk`;
  return [
    all,
    `compaction saves at least ${countOf(saving, 'token')} (${share} %)`,
    `and in place ${disk}, net of the archive`,
    ...(cost === null
      ? []
      : [
          `reading each once: ${formatCost(cost.before)}${currency}, compacted at most ${formatCost(cost.after)},`,
          `at ${prices}`,
        ]),
  ];
}

/** What to type next, if there is something to save. */
export function renderNextStep(
  rows: readonly ScanRow[],
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
const POLICY_FLAGS = [...KEEP_FLAGS, MAX_UNPACKED_FLAG, ...SETTINGS_FLAGS];
