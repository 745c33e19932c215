import type { RestoreReport, UndoneFile, VerifyReport } from '../../app/contract/reports.ts';
import { describeErasure } from '../../core/result.ts';
import type { StoredRun, StoredRunFile } from '../../ports/archive.ts';
import { countOf, formatBytes, formatCount, reasonsOf, sumOf, tally } from '../../messages/quantities.ts';
import { clipStart, clipText, formatMinute, nameOutput, reportRow, safeText, titleLines } from '../../messages/text.ts';
import type { Rendering, Theme } from './theme.ts';

export function renderRestoreReport(report: RestoreReport, theme: Theme): readonly string[] {
  const { appendedBytes, original, erased } = report;
  const first = `${original.sha256}, the first ${formatBytes(original.bytes)}`;
  return [
    restoredHead(report, theme),
    reportRow('sha256', report.sha256),
    ...(appendedBytes > 0 ? [reportRow('original', first)] : []),
    ...(erased === undefined ? [] : [reportRow('missing', theme.warning(describeErased(erased)))]),
    ...notesOf(report).map((note) => reportRow('note', theme.warning(note))),
  ];
}

function restoredHead({ file, output, bytes, cycles, appendedBytes }: RestoreReport, theme: Theme): string {
  const appended = appendedBytes === 0 ? '' : `, ${formatBytes(appendedBytes)} appended since then at its end`;
  const what = `${formatBytes(bytes)}, ${countOf(cycles, 'compaction')} undone${appended}`;
  const where = output === file ? `: ${theme.good('restored in place')}, ` : ` → ${theme.good(nameOutput(output))}: `;
  return theme.strong(safeText(file)) + where + what;
}

function notesOf({ notes = [], isStillCompacted }: RestoreReport): readonly string[] {
  const still = 'it begins with a summary of another program or archive, or one that somebody pasted.';
  return [...notes.map(safeText), ...(isStillCompacted === true ? [still] : [])];
}

/** '12 lines, erased by policy on …'. */
export function describeErased({ lines, receipt, at }: NonNullable<RestoreReport['erased']>): string {
  const what = lines === 0 ? 'a summary' : countOf(lines, 'line');
  return `${what}, ${describeErasure({ receipt, at: new Date(at) })}`;
}

/** One line for one file of several. */
export function renderRestoredLine(report: RestoreReport, theme: Theme): readonly string[] {
  const missing = report.erased === undefined ? [] : [`missing: ${safeText(describeErased(report.erased))}`];
  const notes = [...missing, ...notesOf(report)].map((note) => `  ${theme.warning(`note: ${note}`)}`);
  return [restoredHead(report, theme), ...notes];
}

/**
 * The last line of a run over several files: "5 files: 3 restored, 1 skipped (not compacted), 1 failed". `skipped`: by reason, in a few words;
 * `left`: unchanged because the run was interrupted.
 */
export function renderFileCounts(
  {
    done,
    skipped,
    failed,
    left,
  }: Record<'done' | 'failed' | 'left', number> & {
    readonly skipped: ReadonlyMap<string, number>;
  },
  theme: Theme,
): string {
  const skippedCount = sumOf(skipped.values(), Number);
  const isDone = done > 0 || skippedCount + failed === 0;
  const parts = [
    ...(isDone ? [theme.good(`${formatCount(done)} restored`)] : []),
    ...tally([
      [skippedCount, `skipped (${reasonsOf(skipped)})`],
      [failed, 'failed', theme.bad],
    ]),
  ];
  const all = `${countOf(done + skippedCount + failed + left, 'file')}: ${parts.join(', ')}`;
  return left === 0 ? all : `${all}; ${theme.warning(`interrupted: ${countOf(left, 'file')} left as before`)}`;
}

/** What is said instead of a report if nobody read standard output to its end. */
export const CUT_SHORT = 'Standard output was closed before all of the original was written.';

const IN_NEW_FORM = ', in the form in which its program has written the file since';
const CHANGED_MESSAGE = "  'compact restore --partial' restores the rest, with the changed messages as they are now.";

/** The result for one file, then each problem as `file:line: what`. */
export function renderVerifyReport(report: VerifyReport, theme: Theme): readonly string[] {
  const file = safeText(report.file);
  if (report.result === 'failed') {
    const { problems } = report;
    return [
      `${theme.strong(file)}: ${theme.bad('failed')}, ${countOf(problems.length, 'problem')}`,
      ...problems.map(({ line, message }) => `  ${file}${line === undefined ? '' : `:${line}`}: ${safeText(message)}`),
      ...(problems.some(({ kind }) => kind === 'changed-message') ? [CHANGED_MESSAGE] : []),
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
  if (report.result === 'verified')
    return [`${theme.strong(file)}: ${theme.good('verified')}: ${lines}${since}, ${batches}; ${original}`];
  const missing = (report.erased ?? []).map((one) => `  ${theme.warning(`missing: ${describeErased(one)}`)}`);
  const rest = `proven but for what was erased, ${lines}${since}, ${batches}; 'compact restore --partial' restores the rest`;
  return [`${theme.strong(file)}: ${theme.warning('reduced')}: ${rest}`, ...missing];
}

export function nameOfRun({ id, begunAt }: StoredRun): string {
  return `Run ${id} of ${formatMinute(begunAt.toISOString())}`;
}

const INDENT = '     ';

/** Lines for each run: number, time and figures; who began it, and how; its files; whether it was undone. */
export function renderRuns(runs: readonly StoredRun[], { theme, widthColumns }: Rendering): readonly string[] {
  return runs.flatMap(({ id, begunAt, by, command, undoneAt, files }) => {
    const others = files.length > 1 ? ` and ${countOf(files.length - 1, 'more', 'more')}` : '';
    const columns = Math.max(20, widthColumns - INDENT.length - others.length);
    const path = clipStart(safeText(files[0]?.sourcePath ?? ''), columns);
    const who = `${by.user}@${by.host}, compact ${by.version}${command === null ? '' : `: ${command}`}`;
    const undone = files.filter((file) => file.undoneAt !== null).length;
    const when = undoneAt === null ? '' : ` ${formatMinute(undoneAt.toISOString())}`;
    const state = undone === files.length || undoneAt !== null ? `undone${when}` : 'partly undone';
    const rest = undone < files.length ? ` (${formatCount(undone)} of ${countOf(files.length, 'file')})` : '';
    return [
      `${String(id).padStart(INDENT.length - 2)}  ${theme.strong(formatMinute(begunAt.toISOString()))}  ${whatItDid(files)}`,
      `${INDENT}${theme.faint(clipText(safeText(who), widthColumns - INDENT.length))}`,
      ...titleLines(files[0]?.title ?? null, widthColumns, INDENT),
      `${INDENT}${theme.faint(path + others)}`,
      ...(undone > 0 || undoneAt !== null ? [`${INDENT}${theme.warning(state + rest)}`] : []),
    ];
  });
}

/** "3 files in place, 1 beside, 4.1 MB → 50 kB". */
function whatItDid(files: readonly StoredRunFile[]): string {
  const inPlace = files.filter(({ sourcePath, outputPath }) => sourcePath === outputPath).length;
  const piped = files.filter(({ outputPath }) => outputPath === null).length;
  const kinds = tally([
    [inPlace, 'in place'],
    [files.length - inPlace - piped, 'to another file'],
    [piped, 'to standard output'],
  ]);
  const sizes = (['before', 'after'] as const).map((when) => formatBytes(sumOf(files, (file) => file.sizeBytes[when])));
  return `${kinds.join(', ')}, ${sizes.join(' → ')}`;
}

type UndoRendering = { readonly theme: Theme; readonly isDryRun: boolean };

export function renderUndone(
  { sourcePath, outputPath }: StoredRunFile,
  undone: UndoneFile,
  { theme, isDryRun }: UndoRendering,
): string {
  const name = `  ${theme.strong(safeText(outputPath ?? sourcePath))}: `;
  if (undone.result === 'unchanged') return name + NOTHING_TO_DO[undone.reason];
  const done = name + theme.good(`${isDryRun ? 'would be ' : ''}${undone.result}`);
  if (undone.result === 'removed') return `${done}; the original was never changed`;
  const { bytes, appendedBytes } = undone;
  const appended = appendedBytes === 0 ? '' : `, with ${formatBytes(appendedBytes)} that were appended since`;
  return `${done}, ${formatBytes(bytes)}${appended}`;
}

const NOTHING_TO_DO: { readonly [reason in Extract<UndoneFile, { reason: unknown }>['reason']]: string } = {
  'as-before': 'already as it was before',
  gone: 'already gone',
  'standard-output': 'went to standard output, which cannot be undone; the file itself was never changed',
};

/** `left`: not touched, for a reason that was printed. `notBegun`: not touched because of an interruption. */
export type UndoCounts = Record<'restored' | 'removed' | 'unchanged' | 'left' | 'notBegun', number>;

/** The last lines: "5 files: 3 restored, 1 removed, 1 left alone", and what to do about the rest. */
export function renderUndoCounts(
  { id }: StoredRun,
  { restored, removed, unchanged, left, notBegun }: Readonly<UndoCounts>,
  { theme, isDryRun }: UndoRendering,
): readonly string[] {
  const would = isDryRun ? 'to be ' : '';
  const total = restored + removed + unchanged + left + notBegun;
  const parts = tally([
    [restored, `${would}restored`, theme.good],
    [removed, `${would}removed`, theme.good],
    [unchanged, 'with nothing to do'],
    [left, 'left alone', theme.bad],
    [notBegun, 'not begun', theme.warning],
  ]);
  const what = unchanged > 0 && unchanged === total ? 'nothing to do' : parts.join(', ');
  const again = notBegun > 0 ? 'finishes the rest, which is as it was' : 'tries the files again that were left alone';
  return [
    `${countOf(total, 'file')}: ${what}`,
    ...(left + notBegun > 0 && !isDryRun ? [`'compact undo ${id}' ${again}.`] : []),
  ];
}

/** What to do after an undo. `isOver`: nothing more is to be done about the run that was undone. */
export function renderNextRun({ id, begunAt, files }: StoredRun, { isOver }: { readonly isOver: boolean }): string {
  const time = formatMinute(begunAt.toISOString());
  return isOver
    ? `The next 'compact undo' undoes run ${id} of ${time} (${whatItDid(files)}).`
    : `To undo the run before it instead, use 'compact undo ${id}' (${time}; ${whatItDid(files)}).`;
}
