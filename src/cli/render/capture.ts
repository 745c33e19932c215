import type { CapturedFileReport, CaptureReport, RestoreCapturedReport } from '../../app/contract/capture-reports.ts';
import { countOf, formatBytes, formatCount } from './quantities.ts';
import { formatMinute, safeText } from './text.ts';
import type { Theme } from './theme.ts';

const CHANGES: Readonly<Record<NonNullable<CaptureReport['change']>, string>> = {
  new: 'for the first time',
  grown: 'it has grown',
  rewritten: 'it was rewritten',
  shortened: 'it became shorter',
  gone: 'it is gone',
  returned: 'it is back',
  damaged: 'its archived copy was damaged',
};

export function renderCapture(report: CaptureReport, theme: Theme): string {
  const { file, result, change, version, bytes } = report;
  const name = theme.strong(safeText(file));
  const why = change === null ? '' : CHANGES[change];
  switch (result) {
    case 'unchanged':
      return `${name}: unchanged, version ${version}`;
    case 'planned':
      return `${name}: would be captured, ${why}, ${formatBytes(bytes.size)}`;
    case 'gone':
      return `${name}: ${theme.warning('gone')}, version ${version} of ${formatBytes(bytes.size)} can be restored`;
    case 'captured':
      return `${name}: ${theme.good('captured')}, ${why}: version ${version}, ${formatBytes(bytes.size)}, ${describeNew(bytes.new ?? 0, bytes.stored ?? 0)}`;
    default:
      return result satisfies never;
  }
}

function describeNew(newBytes: number, storedBytes: number): string {
  return `${formatBytes(newBytes)} new, archive + ${formatBytes(Math.max(0, storedBytes))}`;
}

/** What a run over several files did, by result and by why files were skipped. */
export type CaptureCounts = {
  readonly results: Map<string, number>;
  readonly skipped: Map<string, number>;
  failed: number;
  newBytes: number;
  storedBytes: number;
};

/** "1,003 files: 12 captured (4.1 MB new, archive + 0.8 MB), 985 unchanged, 4 skipped (no transcript), 2 failed". */
export function renderCaptureCounts(
  { results, skipped, failed, newBytes, storedBytes }: CaptureCounts,
  { left, theme }: { readonly left: number; readonly theme: Theme },
): string {
  const countOfAll = (counts: Map<string, number>): number => counts.values().reduce((sum, count) => sum + count, 0);
  const told = (result: string, text: string, paint = theme.good): readonly string[] => {
    const count = results.get(result) ?? 0;
    return count === 0 ? [] : [paint(`${formatCount(count)} ${text}`)];
  };
  const plain = (text: string): string => text;
  const why = [...skipped].map(([words, count]) => (skipped.size === 1 ? words : `${count} ${words}`)).join(', ');
  const skippedCount = countOfAll(skipped);
  const parts = [
    ...told('captured', `captured (${describeNew(newBytes, storedBytes)})`),
    ...told('planned', 'would be captured'),
    ...told('unchanged', 'unchanged', plain),
    ...told('gone', 'gone', theme.warning),
    ...(skippedCount > 0 ? [`${formatCount(skippedCount)} skipped (${why})`] : []),
    ...(failed > 0 ? [theme.bad(`${formatCount(failed)} failed`)] : []),
    ...(left > 0 ? [theme.warning(`${formatCount(left)} not looked at`)] : []),
  ];
  const all = countOf(countOfAll(results) + skippedCount + failed + left, 'file');
  return parts.length === 0 ? `${all} found; nothing to capture` : `${all}: ${parts.join(', ')}`;
}

/** A captured file, then its versions, one per line. */
export function renderCaptured({ file, format, versions }: CapturedFileReport, theme: Theme): readonly string[] {
  return [
    `${theme.strong(safeText(file))} ${theme.faint(safeText(format))}`,
    ...versions.map(({ version, change, first, last, states, bytes, sha256 }) => {
      const from = formatMinute(first ?? '');
      const to = formatMinute(last ?? '');
      const time = from === to ? to : `${from} to ${to}`;
      if (change === 'gone') return `  ${version}  ${time}  gone`;
      const times = states === 1 ? '' : `, ${countOf(states, 'state')}`;
      return `  ${version}  ${time}  ${formatBytes(bytes)}  ${sha256.slice(0, 12)}  ${change}${times}`;
    }),
  ];
}

export function renderRestoredCapture(report: RestoreCapturedReport, theme: Theme): readonly string[] {
  const { file, output, version, captured, bytes, sha256 } = report;
  const where = output === file ? ': restored in place' : ` → ${output === '-' ? 'standard output' : safeText(output)}`;
  return [
    `${theme.strong(safeText(file))}${theme.good(where)}: version ${version}, captured ${formatMinute(captured ?? '')}, ${formatBytes(bytes)}`,
    `  sha256    ${sha256}`,
  ];
}

/** Why a capture of what a file holds now cannot be relied on. */
export function describeUncaptured({ isDamaged }: { readonly isDamaged: boolean }): string {
  return isDamaged
    ? 'its current content was captured, but that capture is damaged'
    : 'its current content was not captured';
}
