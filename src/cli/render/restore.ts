import type { RestoreReport, VerifyReport } from '../../app/contract/reports.ts';
import { countOf, formatBytes, formatCount } from './quantities.ts';
import { safeText } from './text.ts';
import type { Theme } from './theme.ts';

export function renderRestoreReport(report: RestoreReport, theme: Theme): readonly string[] {
  const appended =
    report.appendedBytes === 0 ? '' : `, ${formatBytes(report.appendedBytes)} appended since then at its end`;
  const what = `${formatBytes(report.bytes)}, ${countOf(report.cycles, 'compaction')} undone${appended}`;
  return [
    `${theme.strong(safeText(report.file))}${whereTo(report, theme)}${what}`,
    `  sha256    ${report.sha256}`,
    ...(report.notes ?? []).map((note) => `  note      ${theme.warning(safeText(note))}`),
    ...(report.isStillCompacted === true ? [`  note      ${theme.warning(STILL_COMPACTED)}`] : []),
  ];
}

const STILL_COMPACTED = 'it begins with a summary that another program wrote.';

function whereTo({ file, output }: RestoreReport, theme: Theme): string {
  if (output === file) return `: ${theme.good('restored in place')}, `;
  return ` → ${theme.good(output === '-' ? 'standard output' : safeText(output))}: `;
}

/** The result for one file, then each problem as `file:line: what`. */
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
      ? `the state before the last of them, ${size}, can be restored; it had been compacted before, and its producer has rewritten it since`
      : `the original of ${size} can be restored`;
  return [`${theme.strong(file)}: ${theme.good('verified')}: ${lines}${since}, ${batches}; ${original}`];
}
