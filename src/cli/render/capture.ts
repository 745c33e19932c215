import type { CapturedFileReport, CaptureReport, RestoreCapturedReport } from '../../app/contract/reports.ts';
import { countOf, formatBytes, reasonsOf, sumOf, tally } from '../../messages/quantities.ts';
import { formatNet } from './compact.ts';
import { formatMinute, nameOutput, reportRow, safeText } from '../../messages/text.ts';
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

const REASONS: Readonly<Record<NonNullable<CaptureReport['reason']>, string>> = {
  'too-recent': 'too recent',
  'in-use': 'open, or changed minutes ago',
  held: 'under a hold',
  changed: 'it changed meanwhile',
};

export function renderCapture(
  { file, result, reason, change, version, bytes, netBytes }: CaptureReport,
  { theme, isRemoving = false }: { readonly theme: Theme; readonly isRemoving?: boolean },
): string {
  const size = formatBytes(bytes.size);
  const why = change === null ? '' : CHANGES[change];
  const told = {
    unchanged: `unchanged, version ${version}`,
    planned: isRemoving
      ? `would be captured and removed, ${formatNet(netBytes)}`
      : `would be captured, ${why}, ${size}`,
    removed: `${theme.good('removed')}, version ${version} of ${size} can be restored; ${formatNet(netBytes)}`,
    left: `${theme.warning('left')}: ${reason === undefined ? '' : REASONS[reason]}`,
    gone: `${theme.warning('gone')}, version ${version} of ${size} can be restored`,
    captured: `${theme.good('captured')}, ${why}: version ${version}, ${size}, ${describeNew(bytes.new ?? 0, bytes.stored ?? 0)}`,
  };
  return `${theme.strong(safeText(file))}: ${told[result]}`;
}

function describeNew(newBytes: number, storedBytes: number): string {
  return `${formatBytes(newBytes)} new, archive + ${formatBytes(Math.max(0, storedBytes))}`;
}

/** What a run over several files did, by result and by why files were skipped. */
type CaptureCounts = Record<'results' | 'skipped' | 'left', Map<string, number>> &
  Record<'failed' | 'newBytes' | 'storedBytes' | 'netBytes', number>;

export function countCapture(counts: Omit<CaptureCounts, 'skipped' | 'failed'>, report: CaptureReport): void {
  const { result, reason, bytes, netBytes } = report;
  counts.results.set(result, (counts.results.get(result) ?? 0) + 1);
  if (reason !== undefined) counts.left.set(REASONS[reason], (counts.left.get(REASONS[reason]) ?? 0) + 1);
  counts.newBytes += bytes.new ?? 0;
  counts.storedBytes += bytes.stored ?? 0;
  counts.netBytes += netBytes;
}

/** "1,003 files: 12 captured (4.1 MB new, archive + 0.8 MB), 985 unchanged, 4 skipped (no transcript), 2 failed". */
export function renderCaptureCounts(
  { results, skipped, failed, left: leftWhy, newBytes, storedBytes, netBytes }: CaptureCounts,
  { left, theme, isRemoving }: { readonly left: number; readonly theme: Theme; readonly isRemoving: boolean },
): string {
  const count = (result: string): number => results.get(result) ?? 0;
  const freed = formatNet(netBytes);
  const skippedCount = sumOf(skipped.values(), Number);
  const parts = tally([
    [count('captured'), `captured (${describeNew(newBytes, storedBytes)})`, theme.good],
    [count('removed'), `removed (${freed})`, theme.good],
    [count('planned'), isRemoving ? `would be captured and removed (${freed})` : 'would be captured', theme.good],
    [count('left'), `left (${reasonsOf(leftWhy)})`],
    [count('unchanged'), 'unchanged'],
    [count('gone'), 'gone', theme.warning],
    [skippedCount, `skipped (${reasonsOf(skipped)})`],
    [failed, 'failed', theme.bad],
    [left, 'not looked at', theme.warning],
  ]);
  const all = countOf(sumOf(results.values(), Number) + skippedCount + failed + left, 'file');
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
  const where = output === file ? ': restored in place' : ` → ${nameOutput(output)}`;
  return [
    `${theme.strong(safeText(file))}${theme.good(where)}: version ${version}, captured ${formatMinute(captured ?? '')}, ${formatBytes(bytes)}`,
    reportRow('sha256', sha256),
  ];
}
