import type { CompactReport } from '../../app/contract/reports.ts';
import { countOf, formatCount } from './quantities.ts';
import { INDENT_COLUMNS, reportRow } from './report-row.ts';
import { safeText } from './safe-text.ts';
import { clipText, textWidth } from './width.ts';

type Kept = { readonly kept: number; readonly total: number; readonly lost: readonly string[] };

/** Batches of a long transcript would fill the screen. */
const MAX_BATCHES = 8;
const MAX_FACT_COLUMNS = 28;
const MIN_FACT_COLUMNS = 8;
const MAX_SHOWN = 3;

/** The salient facts that summaries keep and lose: a line, or of several batches one for each that lost any. */
export function factRows({ retention }: CompactReport, widthColumns: number): readonly string[] {
  if (retention === undefined || retention.total === 0) return [];
  const [first, ...others] = retention.batches;
  if (first === undefined) return [];
  if (others.length === 0) return [reportRow('facts', factsText(first, { prefix: '', widthColumns }))];
  const losing = retention.batches.flatMap((batch, index) =>
    batch.kept < batch.total ? [reportRow('', factsText(batch, { prefix: `${index + 1}: `, widthColumns }))] : [],
  );
  const untold = losing.length - MAX_BATCHES;
  return [
    reportRow('facts', `${countKept(retention)} in ${countOf(retention.batches.length, 'batch', 'batches')}`),
    ...losing.slice(0, MAX_BATCHES),
    ...(untold > 0 ? [reportRow('', `… and ${countOf(untold, 'more', 'more')}; --json has them all`)] : []),
  ];
}

/** 'a, b and 8 more': as many as there is room for, and one at least, if need be its beginning. */
export function listLost(
  lost: readonly string[],
  { count, columns }: { readonly count: number; readonly columns: number },
): string {
  const texts = lost.slice(0, MAX_SHOWN).map((text) => clipText(safeText(text), MAX_FACT_COLUMNS));
  for (let shown = texts.length; ; shown -= 1) {
    const rest = count - shown;
    const more = rest > 0 ? ` and ${formatCount(rest)} more` : '';
    const text = texts.slice(0, shown).join(', ');
    const room = columns - textWidth(more);
    if (textWidth(text) <= room) return text + more;
    if (shown <= 1) return clipText(text, Math.max(room, MIN_FACT_COLUMNS)) + more;
  }
}

function factsText(
  batch: Kept,
  { prefix, widthColumns }: { readonly prefix: string; readonly widthColumns: number },
): string {
  const text = `${prefix}${countKept(batch)}`;
  if (batch.lost.length === 0) return text;
  const start = `${text}; lost: `;
  const columns = widthColumns - INDENT_COLUMNS - textWidth(start);
  return start + listLost(batch.lost, { count: batch.total - batch.kept, columns });
}

/** '41 of 52 kept'. */
export function countKept({ kept, total }: Pick<Kept, 'kept' | 'total'>): string {
  return `${formatCount(kept)} of ${formatCount(total)} kept`;
}
