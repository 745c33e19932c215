import type { VerifyReport } from '../../app/contract/reports.ts';
import { countOf, formatBytes, formatCount } from './quantities.ts';
import { safeText } from './safe-text.ts';
import type { Theme } from './theme.ts';

/** The verdict on one file, then each problem as `file:line: what`. */
export function renderVerifyReport(report: VerifyReport, theme: Theme): readonly string[] {
  const file = safeText(report.file);
  if (report.result === 'failed') {
    const problems = report.problems.map(
      ({ line, message }) => `  ${file}${line === undefined ? '' : `:${line}`}: ${safeText(message)}`,
    );
    return [
      `${theme.strong(file)}: ${theme.bad('failed')}, ${countOf(report.problems.length, 'problem')}`,
      ...problems,
    ];
  }
  const { kept, archived, appended } = report.lines;
  const lines = `${countOf(kept, 'line')} kept, ${formatCount(archived)} archived`;
  const since = appended === 0 ? '' : `, ${formatCount(appended)} appended since`;
  const batches = `${countOf(report.batches, 'batch', 'batches')} of ${countOf(report.cycles, 'compaction')}`;
  const size = formatBytes(report.original.bytes);
  const original =
    report.isStillCompacted === true
      ? `what it was before the last of them, ${size}, can be restored; that was compacted before and written anew by its producer since`
      : `the original of ${size} can be restored`;
  return [`${theme.strong(file)}: ${theme.good('verified')}: ${lines}${since}, ${batches}; ${original}`];
}
