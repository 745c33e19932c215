import type { RestoreReport, VerifyReport } from '../../app/contract/reports.ts';
import { describeErasure } from '../../core/erasure.ts';
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
    ...(report.appendedBytes === 0
      ? []
      : [`  original  ${report.original.sha256}, the first ${formatBytes(report.original.bytes)}`]),
    ...(report.erased === undefined ? [] : [`  missing   ${theme.warning(missingText(report.erased))}`]),
    ...(report.notes ?? []).map((note) => `  note      ${theme.warning(safeText(note))}`),
    ...(report.isStillCompacted === true ? [`  note      ${theme.warning(STILL_COMPACTED)}`] : []),
  ];
}

function missingText({ lines, receipt, at }: NonNullable<RestoreReport['erased']>): string {
  return `${countOf(lines, 'line')}, ${describeErasure({ receipt, at: new Date(at) })}`;
}

/** One line for one file of several. */
export function renderRestoredLine(report: RestoreReport, theme: Theme): readonly string[] {
  const [head = ''] = renderRestoreReport(report, theme);
  const missing = report.erased === undefined ? [] : [`missing: ${missingText(report.erased)}`];
  const notes = [...missing, ...(report.notes ?? []), ...(report.isStillCompacted === true ? [STILL_COMPACTED] : [])];
  return [head, ...notes.map((note) => `  ${theme.warning(`note: ${safeText(note)}`)}`)];
}

/** What became of the files of a run. */
export type FileCounts = {
  readonly done: number;
  /** By reason, in a few words. */
  readonly skipped: ReadonlyMap<string, number>;
  readonly failed: number;
  /** Unchanged because the run was interrupted. */
  readonly left: number;
};

/** The last line of a run over several files: "5 files: 3 restored, 1 skipped (not compacted), 1 failed". */
export function renderFileCounts(
  { done, skipped, failed, left }: FileCounts,
  { verb, theme }: { readonly verb: string; readonly theme: Theme },
): string {
  const skippedCount = skipped.values().reduce((sum, count) => sum + count, 0);
  const reasons = [...skipped].toSorted(([, a], [, b]) => b - a);
  const why = reasons.length === 1 ? reasons[0]?.[0] : reasons.map(([words, count]) => `${count} ${words}`).join(', ');
  const parts = [
    ...(done > 0 || skippedCount + failed === 0 ? [theme.good(`${formatCount(done)} ${verb}`)] : []),
    ...(skippedCount > 0 ? [`${formatCount(skippedCount)} skipped (${why})`] : []),
    ...(failed > 0 ? [theme.bad(`${formatCount(failed)} failed`)] : []),
  ];
  const all = `${countOf(done + skippedCount + failed + left, 'file')}: ${parts.join(', ')}`;
  return left === 0 ? all : `${all}; ${theme.warning(`interrupted: ${countOf(left, 'file')} left as before`)}`;
}

/** What is said instead of a report if nobody read standard output to its end. */
export const CUT_SHORT = 'Standard output was closed before all of the original was written.';

const STILL_COMPACTED = 'it begins with a summary of another program or archive, or one that somebody pasted.';

function whereTo({ file, output }: RestoreReport, theme: Theme): string {
  if (output === file) return `: ${theme.good('restored in place')}, `;
  return ` → ${theme.good(output === '-' ? 'standard output' : safeText(output))}: `;
}

const IN_NEW_FORM = ', in the form in which its program has written the file since';
const CHANGED_MESSAGE = "  'compact restore --partial' restores the rest, with the changed messages as they are now.";

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
      ...(report.problems.some(({ kind }) => kind === 'changed-message') ? [CHANGED_MESSAGE] : []),
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
      : `the original of ${size} can be restored${report.isRewritten === true ? IN_NEW_FORM : ''}`;
  return [`${theme.strong(file)}: ${theme.good('verified')}: ${lines}${since}, ${batches}; ${original}`];
}
