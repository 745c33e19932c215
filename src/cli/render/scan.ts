import type { ScanReport } from '../../app/survey/scan-file.ts';
import type { Flag } from '../commands/command.ts';
import { MAX_UNPACKED_FLAG, OUTPUT_FLAGS, SELECTION_FLAGS, SETTINGS_FLAGS } from '../commands/options.ts';
import { countOf, formatBytes, formatCount } from './quantities.ts';
import { type Column, layTable } from './table.ts';
import { clipMiddle, clipStart, safeText, shellWord } from './text.ts';
import type { Theme } from './theme.ts';

export type ScanRendering = {
  readonly theme: Theme;
  readonly widthColumns: number;
  readonly nowMs: number;
  /** Shown as `~`. */
  readonly homeFolder: string;
};

const MIN_PATH_COLUMNS = 26; // with less, two sessions could look the same
const MIN_PROJECT_COLUMNS = 12;

/** One row per transcript, in the given order, then the totals. */
export function renderScan(rows: readonly ScanReport[], rendering: ScanRendering): readonly string[] {
  const { theme, widthColumns, nowMs, homeFolder } = rendering;
  const number = (title: string, cell: (row: ScanReport) => string): Column => ({
    title,
    align: 'right',
    cells: rows.map(cell),
  });
  const text = (title: string, cell: (row: ScanReport) => string): Column => ({
    title,
    align: 'left',
    cells: rows.map((row) => safeText(cell(row))),
  });
  const columns: readonly Column[] = [
    { ...number('saves', ({ saving }) => formatCount(saving)), paint: theme.good },
    number('tokens', ({ tokens }) => formatCount(tokens.before)),
    number('size', ({ bytes }) => formatBytes(bytes)),
    number('age', ({ at, modified }) => formatAge(nowMs - Date.parse(at ?? modified))),
    { ...number('messages', ({ messages }) => formatCount(messages)), isOptional: true },
    { ...text('format', ({ format }) => format), isOptional: true },
    {
      ...text('project', ({ project }) => tilde(project ?? '', homeFolder)),
      isOptional: true,
      minColumns: MIN_PROJECT_COLUMNS,
      clip: clipStart,
    },
    {
      ...text('transcript', ({ file }) => tilde(file, homeFolder)),
      minColumns: MIN_PATH_COLUMNS,
      clip: clipMiddle,
    },
  ];
  return [...layTable(columns, { widthColumns, paintHead: theme.faint }), ...renderTotal(rows).map(theme.strong)];
}

function renderTotal(rows: readonly ScanReport[]): readonly string[] {
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  const before = rows.reduce((sum, { tokens }) => sum + tokens.before, 0);
  const saving = rows.reduce((sum, row) => sum + row.saving, 0);
  const share = before === 0 ? 0 : Math.trunc((100 * saving) / before);
  return [
    `${countOf(rows.length, 'transcript')}, ${formatBytes(bytes)}, ${countOf(before, 'token')}`,
    saving === 0 ? 'compaction would save nothing' : `compaction saves about ${countOf(saving, 'token')} (${share} %)`,
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
  const compact = [program, typedAgain(parted.flags)].filter((part) => part !== '').join(' ');
  return [
    'Next, plan one, or compact all of them in place:',
    `  ${compact} -n ${shellWord(first.file)}`,
    `  ${program} ${typedAgain(partFlags(argv, OUTPUT_FLAGS).rest)} -0 | ${compact} -i --files-from -`,
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

/** A command line that can be typed again; `./` keeps a leading dash from being a flag. */
function typedAgain(argv: readonly string[]): string {
  return argv.map((word) => (word.startsWith('-') ? shellWord(word).replace('./-', '-') : shellWord(word))).join(' ');
}

/** They decide what a compaction does, so that the next command does what this one announced. */
const POLICY_FLAGS = [...SELECTION_FLAGS, MAX_UNPACKED_FLAG, ...SETTINGS_FLAGS];

/** The words of these flags with their values, and all other words. */
function partFlags(
  argv: readonly string[],
  known: readonly Flag[],
): { readonly flags: readonly string[]; readonly rest: readonly string[] } {
  const flags: string[] = [];
  const rest: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    const [name = ''] = word.split('=');
    const flag = known.find((one) => one.flags.split(/,? /).includes(name));
    if (flag === undefined) rest.push(word);
    else flags.push(word);
    if (flag?.flags.includes('<') === true && name === word && index + 1 < argv.length) {
      index += 1;
      flags.push(argv[index] ?? '');
    }
  }
  return { flags, rest };
}
