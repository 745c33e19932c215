import { fitText, textWidth } from './text.ts';

export type Column = {
  readonly title: string;
  readonly align: 'left' | 'right';
  readonly cells: readonly string[];
  /** The minimum width if the table is too wide. Undefined: the column never shrinks. */
  readonly minColumns?: number;
  /** How a cell is shortened; by default its end is cut. */
  readonly clip?: (cell: string, columns: number) => string;
  /** Left out if the table is still too wide after shrinking; the last such column goes first. */
  readonly isOptional?: boolean;
  /** Applied after the cell has its width. */
  readonly paint?: (cell: string, row: number) => string;
};

/** Columns of text in lines of at most `widthColumns`; the widest column that may shrink does so first. */
export function layTable(
  wanted: readonly Column[],
  place: { readonly widthColumns: number; readonly paintHead: (line: string) => string },
): readonly string[] {
  const columns = leaveOut(wanted, place.widthColumns);
  const widths = squeeze(columns, place.widthColumns - (columns.length - 1));
  const line = (cells: readonly string[]): string => cells.join(' ').trimEnd();
  const head = line(columns.map(({ title, align }, index) => fitText(title, widths[index] ?? 0, align)));
  const rowCount = Math.max(0, ...columns.map(({ cells }) => cells.length));
  const rows = Array.from({ length: rowCount }, (_, row) =>
    line(
      columns.map(({ cells, align, clip, paint }, index) => {
        const columns = widths[index] ?? 0;
        const text = cells[row] ?? '';
        const cell = fitText(clip === undefined ? text : clip(text, columns), columns, align);
        return paint === undefined ? cell : paint(cell, row);
      }),
    ),
  );
  return [place.paintHead(head), ...rows];
}

function leaveOut(columns: readonly Column[], widthColumns: number): readonly Column[] {
  const least = columns.reduce(
    (total, column) => total + Math.min(naturalWidth(column), column.minColumns ?? Number.POSITIVE_INFINITY),
    columns.length - 1,
  );
  const last = columns.findLastIndex(({ isOptional }) => isOptional === true);
  return least <= widthColumns || last < 0 ? columns : leaveOut(columns.toSpliced(last, 1), widthColumns);
}

function naturalWidth({ title, cells }: Column): number {
  return cells.reduce((widest, cell) => Math.max(widest, textWidth(cell)), textWidth(title));
}

function squeeze(columns: readonly Column[], availableColumns: number): readonly number[] {
  const widths = columns.map(naturalWidth);
  let excess = widths.reduce((total, width) => total + width, 0) - availableColumns;
  while (excess > 0) {
    const widest = findWidest(columns, widths);
    if (widest === null) break;
    // Shrink to the width of the next one, or as far as needed: one by one would be slow for a megabyte-wide cell.
    const others = columns.flatMap((_, index) => (index === widest ? [] : [slack(columns, { widths, index })]));
    const step = Math.max(1, Math.min(excess, slack(columns, { widths, index: widest }) - Math.max(0, ...others)));
    widths[widest] = (widths[widest] ?? 0) - step;
    excess -= step;
  }
  return widths;
}

function findWidest(columns: readonly Column[], widths: readonly number[]): number | null {
  let widest: number | null = null;
  let most = 0;
  for (const index of columns.keys()) {
    const own = slack(columns, { widths, index });
    if (own > most) {
      widest = index;
      most = own;
    }
  }
  return widest;
}

/** How much narrower a column may become. */
function slack(columns: readonly Column[], of: { readonly widths: readonly number[]; readonly index: number }): number {
  const min = columns[of.index]?.minColumns;
  return min === undefined ? 0 : Math.max(0, (of.widths[of.index] ?? 0) - min);
}
