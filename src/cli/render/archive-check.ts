import type { ArchiveCheckReport } from '../../app/search/check-archive.ts';
import { countOf, formatBytes, formatCount } from './quantities.ts';
import { safeText } from './safe-text.ts';
import type { Theme } from './theme.ts';
import { wrapText } from './width.ts';

const WIDTH_COLUMNS = 60;

/** The verdict on the archive and what it stands on; then each problem with the transcripts that it touches, a path a line. */
export function renderArchiveCheck(report: ArchiveCheckReport, theme: Theme): readonly string[] {
  const isSound = report.result === 'sound';
  const problemCount = report.problems.length + report.moreProblems;
  const verdict = isSound ? theme.good('sound') : `${theme.bad('damaged')}, ${countOf(problemCount, 'problem')}`;
  return [
    `${theme.strong(safeText(report.archive))}: ${verdict}`,
    ...renderCounts(report),
    ...renderPrepared(report),
    ...report.problems.flatMap(({ message, files }) => [...bullet(safeText(message)), ...indent(files)]),
    ...(report.moreProblems === 0 ? [] : bullet(`and ${countOf(report.moreProblems, 'more problem')}`)),
    ...(isSound ? [] : wrapText(ADVICE, WIDTH_COLUMNS)),
  ];
}

const ADVICE =
  "Put a backup of the archive in its place. 'compact verify FILE' tells of each compacted file whether its original can still be had.";

function renderCounts({ compactions, batches, lines, blocks, bytes }: ArchiveCheckReport): readonly string[] {
  return [
    `  compactions  ${formatCount(compactions)}`,
    `  batches      ${formatCount(batches)}`,
    `  lines        ${formatCount(lines)} in ${countOf(blocks, 'block')}`,
    `  size         ${formatBytes(bytes.original)} packed to ${formatBytes(bytes.packed)}`,
    `  file         ${formatBytes(bytes.file)}`,
  ];
}

function renderPrepared({ prepared }: ArchiveCheckReport): readonly string[] {
  if (prepared.length === 0) return [];
  const what = `${countOf(prepared.length, 'compaction')} begun and not settled yet (the next run does that):`;
  return [...bullet(what), ...prepared.flatMap(({ files }) => indent(files))];
}

function bullet(text: string): readonly string[] {
  return wrapText(text, WIDTH_COLUMNS - 4).map((line, at) => (at === 0 ? `  - ${line}` : `    ${line}`));
}

function indent(files: readonly string[]): readonly string[] {
  return files.map((file) => `      ${safeText(file)}`);
}
