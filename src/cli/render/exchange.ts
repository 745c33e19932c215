import type {
  ArchiveExportReport,
  ArchiveMergeReport,
  MergeCount,
  MergedArchive,
} from '../../app/contract/retention-reports.ts';
import { countOf } from './quantities.ts';
import { safeText } from './text.ts';
import type { Theme } from './theme.ts';

/** What came from each archive; what there was nothing of is left out. */
export function renderMerge({ result, merged }: ArchiveMergeReport, theme: Theme): readonly string[] {
  return [theme.strong(result === 'merged' ? 'merged' : 'nothing new'), ...merged.flatMap(renderMerged)];
}

/** A warning for each archive whose batches must be collected before it is merged. */
export function renderUncollected({ merged }: ArchiveMergeReport): readonly string[] {
  return merged.flatMap(({ archive, uncollectedBatches: count }) => {
    if (count === 0) return [];
    const rest = count === 1 ? 'is still at the provider and is' : 'are still at the provider and are';
    const what = `${countOf(count, 'batch', 'batches')} ${rest} not merged`;
    return [`warning: ${safeText(archive)}: ${what}: run 'compact batch collect --archive ${safeText(archive)}' first`];
  });
}

/** One line. */
export function renderExport({ folder, isComplete, compactions, lines, capturedFiles }: ArchiveExportReport): string {
  const what = `${countOf(compactions, 'compaction')}, ${countOf(lines, 'line')}, ${countOf(capturedFiles, 'captured file')}`;
  if (!isComplete && compactions + lines + capturedFiles === 0)
    return `nothing matches, so the export in ${safeText(folder)} is empty`;
  return `exported ${isComplete ? 'everything' : 'what matches'} to ${safeText(folder)}: ${what}`;
}

function renderMerged({ archive, ...of }: MergedArchive): readonly string[] {
  const rows: readonly (readonly [MergeCount, string, string?])[] = [
    [of.compactions, 'compaction'],
    [of.lines, 'line'],
    [of.captured, 'captured file'],
    [of.holds, 'hold'],
    [of.droppedRules, 'dropped rule'],
    [of.receipts, 'receipt of an erasure', 'receipts of erasures'],
    [of.summaries, 'stored model answer'],
    [of.vectors, 'vector'],
  ];
  const parts = rows.flatMap(([count, one, many]) => renderCount(count, one, many));
  return [`  ${safeText(archive)}`, ...(parts.length === 0 ? ['    empty'] : parts)];
}

function renderCount({ new: added, known, refused }: MergeCount, one: string, many?: string): readonly string[] {
  const rest = [...(known > 0 ? [`${known} already there`] : []), ...(refused > 0 ? [`${refused} left out`] : [])];
  const names = many ?? `${one}s`;
  if (added > 0) return [`    ${[countOf(added, `new ${one}`, `new ${names}`), ...rest].join(', ')}`];
  if (rest.length === 0) return [];
  const what = countOf(known + refused, one, names);
  if (rest.length > 1) return [`    ${what}: ${rest.join(', ')}`];
  return [`    ${what}, ${known > 0 ? 'already there' : 'left out'}`];
}
