import type { CompactReport, SkippedRestoreReport, SkipReason } from '../../app/contract/reports.ts';
import { sizesOf, sumTokens } from './compact.ts';
import { formatBytes, formatChange, formatCount, formatSaving } from '../../messages/quantities.ts';
import { clipStart, fitText, safeText, textWidth, titleLines } from '../../messages/text.ts';
import type { Theme } from './theme.ts';

/** The columns of a run over several transcripts. */
type ListLayout = {
  readonly widthColumns: number;
  readonly nameColumns: number;
  /** 0: the list has no column for sizes. */
  readonly sizeColumns: number;
  /** Figures after the compaction are estimates. */
  readonly isPlan: boolean;
};

/** A terminal counts as at least this wide; beyond the maximum, the eye no longer connects names and numbers. */
const MIN_WIDTH_COLUMNS = 60;
const MAX_WIDTH_COLUMNS = 120;
const CHANGE_COLUMNS = textWidth('1,000,000 → 1,000,000');
const OUTCOME_COLUMNS = textWidth('no legal cut');
const SIZE_COLUMNS = textWidth('999 MB → 999 MB');
/** With less, sizes would take the room of names. */
const MIN_WIDTH_WITH_SIZES = 100;

/** As wide as the names need (null: they are not known) and the terminal allows. `terminalColumns` null: it is no terminal, so no name is cut. */
export function layList(
  names: Iterable<string> | null,
  { terminalColumns, isPlan }: { readonly terminalColumns: number | null; readonly isPlan: boolean },
): ListLayout {
  const widthColumns =
    terminalColumns === null
      ? Number.POSITIVE_INFINITY
      : Math.min(MAX_WIDTH_COLUMNS, Math.max(MIN_WIDTH_COLUMNS, terminalColumns));
  const sizeColumns = widthColumns < MIN_WIDTH_WITH_SIZES ? 0 : SIZE_COLUMNS;
  let widest = names === null ? Number.POSITIVE_INFINITY : textWidth(TITLES.name);
  for (const name of names ?? []) widest = Math.max(widest, textWidth(safeText(name)));
  const otherColumns = CHANGE_COLUMNS + OUTCOME_COLUMNS + 2 + (sizeColumns === 0 ? 0 : sizeColumns + 1);
  return { widthColumns, nameColumns: Math.min(widest, widthColumns - otherColumns), sizeColumns, isPlan };
}

const TITLES = { name: 'transcript', size: 'size', outcome: 'result' };

export function renderListHead(layout: ListLayout, theme: Theme): string {
  const change = layout.isPlan ? 'tokens → at most' : 'tokens';
  return theme.faint(layRow(layout, { ...TITLES, change, paint: theme.faint }));
}

/**
 * One transcript of several: what was done, or why nothing was, and on a terminal its title under it. A log of a run should not quote what
 * people typed.
 */
export function renderListRow(
  report: CompactReport,
  layout: ListLayout,
  theme: Theme,
): readonly [line: string, ...title: string[]] {
  const { widthColumns } = layout;
  const title = Number.isFinite(widthColumns) ? titleLines(report.title ?? null, widthColumns, '  ') : [];
  return [renderListLine(report, layout, theme), ...title.map(theme.faint)];
}

function renderListLine(report: CompactReport, layout: ListLayout, theme: Theme): string {
  const tokens = sumTokens(report);
  const name = safeText(report.file);
  const sizes = sizesOf(report);
  if (report.result !== 'skipped') {
    const size = sizes === null ? '' : `${formatBytes(sizes.before)} → ${formatBytes(sizes.after)}`;
    const row = { name, size, change: formatChange(tokens), outcome: formatSaving(tokens), paint: theme.good };
    return layRow(layout, row);
  }
  const why = skipWords(report.reason);
  const outcome = report.output === null ? why : `${why}, copied`;
  const size = formatBytes(report.bytes.before);
  return layRow(layout, { name, size, change: formatCount(tokens.before), outcome, paint: theme.warning });
}

type Row = Record<'name' | 'size' | 'change' | 'outcome', string> & { readonly paint: (text: string) => string };

/** Unusually wide numbers and words take their room from the name. */
function layRow({ widthColumns, nameColumns, sizeColumns }: ListLayout, { name, size, change, outcome, paint }: Row) {
  const sizeCell = sizeColumns === 0 ? '' : `${fitText(size, Math.max(sizeColumns, textWidth(size)), 'right')} `;
  const changeCell = fitText(change, Math.max(CHANGE_COLUMNS, textWidth(change)), 'right');
  const room = Math.min(nameColumns, widthColumns - textWidth(sizeCell + changeCell) - textWidth(outcome) - 2);
  const cell = Number.isFinite(room) ? fitText(clipStart(name, room), room) : name;
  return `${cell} ${sizeCell}${changeCell} ${paint(outcome)}`;
}

const SKIP_WORDS: { readonly [reason in SkipReason | SkippedRestoreReport['reason']]: string } = {
  'too-short': 'too short',
  'under-limit': 'under limit',
  'nothing-gained': 'no gain',
  'nothing-new': 'nothing new',
  'no-legal-cut': 'no legal cut',
  'little-gained': 'little gain',
  'archive-missing': 'other archive',
  'in-use': 'in use',
  'not-compacted': 'not compacted',
  'too-recent': 'too recent',
  'no-messages': 'no messages',
  'no-text': 'no text',
  'not-a-transcript': 'no transcript',
  'unknown-format': 'unknown format',
  'mixed-formats': 'mixed formats',
  'bad-line': 'damaged',
};

/** Why a transcript was skipped, in a word or two. */
export function skipWords(reason: keyof typeof SKIP_WORDS | undefined): string {
  return reason === undefined ? 'nothing to do' : SKIP_WORDS[reason];
}
