import type { ArchiveStatsReport } from '../../app/contract/archive-reports.ts';
import { clipPath } from './clip-path.ts';
import { countOf, formatBytes, formatCount } from './quantities.ts';
import { safeText } from './safe-text.ts';
import type { Theme } from './theme.ts';
import { formatMinute } from './time.ts';

type StatsRendering = { readonly theme: Theme; readonly widthColumns: number };

const MIN_PATH_COLUMNS = 20;

/** The archive's name, then counts, sizes and formats, a line each. */
export function renderArchiveStats(
  report: ArchiveStatsReport,
  { theme, widthColumns }: StatsRendering,
): readonly string[] {
  const { bytes, oldest, newest, prepared } = report;
  const times = oldest === null || newest === null ? '' : `, ${formatMinute(oldest)} to ${formatMinute(newest)}`;
  const path = clipPath(safeText(report.archive ?? ''), Math.max(MIN_PATH_COLUMNS, widthColumns));
  return [
    theme.strong(path),
    row('compactions', `${formatCount(report.compactions)}${times}`),
    row('holds', `${countOf(report.messages, 'message')}, ${countOf(report.lines, 'line')}`),
    row('of', countOf(report.conversations, 'conversation')),
    row('batches', formatCount(report.batches)),
    row('originals', formatBytes(bytes.original)),
    row('packed', formatBytes(bytes.packed)),
    row('on disk', `${formatBytes(bytes.file)}${bytes.share === null ? '' : ` (${formatShare(bytes.share)})`}`),
    ...(report.vectors === null ? [] : [row('vectors', vectorsText(report.vectors))]),
    ...report.formats.map(({ format, compactions, lines, bytes: size }) =>
      row(safeText(format), `${countOf(compactions, 'compaction')}, ${countOf(lines, 'line')}, ${formatBytes(size)}`),
    ),
    ...(prepared === 0
      ? []
      : [theme.warning(row('unsettled', `${formatCount(prepared)}; the next compaction settles it`))]),
  ];
}

function vectorsText({ done, total, model, dimensions }: NonNullable<ArchiveStatsReport['vectors']>): string {
  return `${formatCount(done)} of ${formatCount(total)}, by ${safeText(model)}, ${formatCount(dimensions)} numbers each`;
}

const LABEL_COLUMNS = 12;

function row(label: string, text: string): string {
  return `  ${label.padEnd(LABEL_COLUMNS)} ${text}`;
}

function formatShare(share: number): string {
  return `${Math.round(100 * share)} % of the originals`;
}
