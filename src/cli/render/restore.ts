import type { RestoreReport } from '../../app/reports.ts';
import { countOf, formatBytes } from './quantities.ts';
import { safeText } from './safe-text.ts';
import type { Theme } from './theme.ts';

export function renderRestoreReport(report: RestoreReport, theme: Theme): readonly string[] {
  const target = report.output === '-' ? 'standard output' : safeText(report.output);
  const appended =
    report.appendedBytes === 0 ? '' : `, ${formatBytes(report.appendedBytes)} appended since then at its end`;
  const what = `${formatBytes(report.bytes)}, ${countOf(report.cycles, 'cycle')} undone${appended}`;
  return [`${theme.strong(safeText(report.file))} → ${theme.good(target)}: ${what}`, `  sha256    ${report.sha256}`];
}
