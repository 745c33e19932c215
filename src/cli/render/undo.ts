import type { Failure } from '../../app/contract/failure.ts';
import type { UndoneFile } from '../../app/contract/undo-reports.ts';
import { assertNever } from '../../core/result.ts';
import type { StoredRun, StoredRunFile } from '../../ports/archive.ts';
import { countOf, formatBytes, formatCount } from './quantities.ts';
import { clipPath, formatMinute, safeText, shellWord } from './text.ts';
import type { Theme } from './theme.ts';

export function nameOfRun({ id, begunAt }: StoredRun): string {
  return `Run ${id} of ${formatMinute(begunAt.toISOString())}`;
}

const INDENT = '     ';

/** Two or three lines for each run: number, time and figures; its files; whether it was undone. */
export function renderRuns(
  runs: readonly StoredRun[],
  { theme, widthColumns }: { readonly theme: Theme; readonly widthColumns: number },
): readonly string[] {
  return runs.flatMap((run) => {
    const { id, begunAt, undoneAt, files } = run;
    const [first] = files;
    const others = files.length > 1 ? ` and ${countOf(files.length - 1, 'more', 'more')}` : '';
    const path = clipPath(
      safeText(first?.sourcePath ?? ''),
      Math.max(20, widthColumns - INDENT.length - others.length),
    );
    const undone = files.filter((file) => file.undoneAt !== null).length;
    const state =
      undone === files.length || undoneAt !== null
        ? `undone${undoneAt === null ? '' : ` ${formatMinute(undoneAt.toISOString())}`}`
        : 'partly undone';
    const rest = undone < files.length ? ` (${formatCount(undone)} of ${countOf(files.length, 'file')})` : '';
    return [
      `${String(id).padStart(INDENT.length - 2)}  ${theme.strong(formatMinute(begunAt.toISOString()))}  ${whatItDid(files)}`,
      `${INDENT}${theme.faint(path + others)}`,
      ...(undone > 0 || undoneAt !== null ? [`${INDENT}${theme.warning(state + rest)}`] : []),
    ];
  });
}

/** "3 files in place, 1 beside, 4.1 MB → 50 kB". */
function whatItDid(files: readonly StoredRunFile[]): string {
  const inPlace = files.filter(({ sourcePath, outputPath }) => sourcePath === outputPath).length;
  const piped = files.filter(({ outputPath }) => outputPath === null).length;
  const beside = files.length - inPlace - piped;
  const kinds = [
    ...(inPlace > 0 ? [`${formatCount(inPlace)} in place`] : []),
    ...(beside > 0 ? [`${formatCount(beside)} to another file`] : []),
    ...(piped > 0 ? [`${formatCount(piped)} to standard output`] : []),
  ];
  const sum = (pick: (file: StoredRunFile) => number): number => files.reduce((total, file) => total + pick(file), 0);
  const sizes = `${formatBytes(sum((file) => file.sizeBytes.before))} → ${formatBytes(sum((file) => file.sizeBytes.after))}`;
  return `${kinds.join(', ')}, ${sizes}`;
}

type UndoRendering = { readonly theme: Theme; readonly isDryRun: boolean };

export function renderUndone(
  { sourcePath, outputPath }: StoredRunFile,
  undone: UndoneFile,
  { theme, isDryRun }: UndoRendering,
): readonly string[] {
  const name = `  ${theme.strong(safeText(outputPath ?? sourcePath))}: `;
  switch (undone.result) {
    case 'restored': {
      const { bytes, appendedBytes } = undone;
      const appended = appendedBytes === 0 ? '' : `, with ${formatBytes(appendedBytes)} that were appended since`;
      return [`${name}${theme.good(isDryRun ? 'would be restored' : 'restored')}, ${formatBytes(bytes)}${appended}`];
    }
    case 'removed':
      return [`${name}${theme.good(isDryRun ? 'would be removed' : 'removed')}; the original was never changed`];
    case 'unchanged':
      return [`${name}${NOTHING_TO_DO[undone.reason]}`];
    default:
      return assertNever(undone);
  }
}

const NOTHING_TO_DO: { readonly [reason in Extract<UndoneFile, { reason: unknown }>['reason']]: string } = {
  'as-before': 'already as it was before',
  gone: 'already gone',
  'standard-output': 'went to standard output, which cannot be undone; the file itself was never changed',
};

const IF_MOVED = "If it was moved, 'compact restore -i' restores it where it is now.";

/** Why a file is left alone, and what to try. */
export function renderCannotUndo({
  file,
  why,
  problem,
  original,
}: Extract<Failure, { readonly kind: 'cannot-undo' }>): string {
  const left = `${safeText(file)}: left alone:`;
  switch (why) {
    case 'no-folder':
      return `${left} its folder does not exist. If it is on an unmounted disk, mount the disk. ${IF_MOVED}`;
    case 'gone':
      return file === original
        ? `${left} it was moved or deleted since. ${IF_MOVED}`
        : `${left} it and its original, ${safeText(original)}, were moved or deleted. If they are on an unmounted disk, mount the disk.`;
    case 'edited': {
      const where = problem === undefined ? '' : ` (${safeText(problem)})`;
      return `${left} it was edited since${where}. 'compact verify' says what is still intact; 'compact search' finds the lines that left it.`;
    }
    case 'compacted-again':
      return `${left} a later run compacted it again. Undo that run first: 'compact undo --list' shows the runs.`;
    case 'other-output':
      return `${left} it is no longer what was written there. Remove it yourself if you do not need it.`;
    case 'only-copy': {
      const command = `compact restore ${shellWord(file)} -o ${shellWord(original)}`;
      return `${left} its original is gone or was changed, so this may be the only copy. '${command}' brings the original back.`;
    }
    default:
      return assertNever(why);
  }
}

/** `left`: not touched, for a reason that was printed. `notBegun`: not touched because of an interruption. */
export type UndoCounts = {
  restored: number;
  removed: number;
  unchanged: number;
  left: number;
  notBegun: number;
};

/** The last lines: "5 files: 3 restored, 1 removed, 1 left alone", and what to do about the rest. */
export function renderUndoCounts(
  { id }: StoredRun,
  { restored, removed, unchanged, left, notBegun }: Readonly<UndoCounts>,
  { theme, isDryRun }: UndoRendering,
): readonly string[] {
  const would = isDryRun ? ' to be' : '';
  const total = restored + removed + unchanged + left + notBegun;
  const parts = [
    ...(restored > 0 ? [theme.good(`${formatCount(restored)}${would} restored`)] : []),
    ...(removed > 0 ? [theme.good(`${formatCount(removed)}${would} removed`)] : []),
    ...(unchanged > 0 ? [total === unchanged ? 'nothing to do' : `${formatCount(unchanged)} with nothing to do`] : []),
    ...(left > 0 ? [theme.bad(`${formatCount(left)} left alone`)] : []),
    ...(notBegun > 0 ? [theme.warning(`${formatCount(notBegun)} not begun`)] : []),
  ];
  const again = notBegun > 0 ? 'finishes the rest, which is as it was' : 'tries the files again that were left alone';
  return [
    `${countOf(total, 'file')}: ${parts.join(', ')}`,
    ...(left + notBegun > 0 && !isDryRun ? [`'compact undo ${id}' ${again}.`] : []),
  ];
}

/** What to do after an undo. `isOver`: nothing more is to be done about the run that was undone. */
export function renderNextRun(next: StoredRun, { isOver }: { readonly isOver: boolean }): string {
  const { id, begunAt, files } = next;
  const time = formatMinute(begunAt.toISOString());
  const work = whatItDid(files);
  return isOver
    ? `The next 'compact undo' undoes run ${id} of ${time} (${work}).`
    : `To undo the run before it instead, use 'compact undo ${id}' (${time}; ${work}).`;
}
