import type { ArchivedCompactionReport, ArchiveListReport } from '../../app/contract/archive-reports.ts';
import { clipPath } from './clip-path.ts';
import { countOf, formatBytes } from './quantities.ts';
import { safeText } from './safe-text.ts';
import type { Theme } from './theme.ts';
import { formatMinute } from './time.ts';
import { textWidth } from './width.ts';

type ListRendering = { readonly theme: Theme; readonly widthColumns: number };

const TIME_COLUMNS = 16;
const MIN_PATH_COLUMNS = 20;

/** Each compaction's time and file, then what it archived. */
export function renderArchiveList(report: ArchiveListReport, rendering: ListRendering): readonly string[] {
  return report.compactions.flatMap((one) => renderCompaction(one, rendering));
}

function renderCompaction(one: ArchivedCompactionReport, { theme, widthColumns }: ListRendering): readonly string[] {
  const { lines, bytes, conversations } = one;
  const file = clipPath(safeText(one.file), Math.max(MIN_PATH_COLUMNS, widthColumns - TIME_COLUMNS - 2));
  const [first] = conversations;
  const whose =
    first === undefined || conversations.length > 1 ? countOf(conversations.length, 'conversation') : first.id;
  const facts = [
    safeText(one.format),
    `cycle ${Math.max(0, ...conversations.map(({ cycle }) => cycle))}`,
    `${countOf(lines.archived, 'line')} archived`,
    `${formatBytes(bytes.before)} → ${formatBytes(bytes.after)}`,
    safeText(whose),
  ];
  return [
    `${formatMinute(one.at)}  ${theme.strong(file)}`,
    ...wrapFacts(facts, Math.max(MIN_PATH_COLUMNS, widthColumns - 2)).map((line) => `  ${theme.faint(line)}`),
  ];
}

/** Broken between facts only: a number stays with its unit. */
function wrapFacts(facts: readonly string[], columns: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const fact of facts) {
    const longer = line === '' ? fact : `${line}, ${fact}`;
    // One column less: a comma follows where the line is broken behind it.
    if (line === '' || textWidth(longer) < columns) line = longer;
    else {
      lines.push(`${line},`);
      line = fact;
    }
  }
  return [...lines, line];
}
