import type { RestoreReport } from '../../app/contract/reports.ts';
import { countOf, formatBytes } from './quantities.ts';
import { safeText } from './safe-text.ts';
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
