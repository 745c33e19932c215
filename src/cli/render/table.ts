import { fitText, textWidth } from '../../messages/text.ts';

export type Column<Row> = {
  readonly title: string;
  readonly cell: (row: Row, index: number) => string;
  /** By default left. */
  readonly align?: 'left' | 'right';
  /** The minimum width if the table is too wide. Undefined: the column never shrinks. */
  readonly minColumns?: number;
  /** How a cell is shortened; by default its end is cut. */
  readonly clip?: (cell: string, columns: number) => string;
  /** Left out if the table is still too wide after shrinking; the last such column goes first. */
  readonly isOptional?: boolean;
  /** Applied after the cell has its width. */
  readonly paint?: (cell: string, row: Row) => string;
};

/** A column, its texts, and how wide it is and may become. */
type Laid<Row> = Column<Row> & { readonly cells: readonly string[]; readonly natural: number; width: number };

/** Columns of text in lines of at most `widthColumns`; the widest column that may shrink does so first. */
export function layTable<Row>(
  rows: readonly Row[],
  wanted: readonly Column<Row>[],
  place: { readonly widthColumns: number; readonly paintHead: (line: string) => string },
): readonly string[] {
  const all = wanted.map((column): Laid<Row> => {
    const cells = rows.map(column.cell);
    const natural = cells.reduce((widest, cell) => Math.max(widest, textWidth(cell)), textWidth(column.title));
    return { ...column, cells, natural, width: natural };
  });
  const columns = leaveOut(all, place.widthColumns);
  squeeze(columns, place.widthColumns - (columns.length - 1));
  const line = (cells: readonly string[]): string => cells.join(' ').trimEnd();
  const head = line(columns.map(({ title, align, width }) => fitText(title, width, align)));
  return [
    place.paintHead(head),
    ...rows.map((row, at) =>
      line(
        columns.map(({ cells, align, clip = String, paint = String, width }) =>
          paint(fitText(clip(cells[at] ?? '', width), width, align), row),
        ),
      ),
    ),
  ];
}

function leaveOut<Row>(columns: readonly Laid<Row>[], widthColumns: number): readonly Laid<Row>[] {
  const least = columns.reduce(
    (total, { natural, minColumns }) => total + Math.min(natural, minColumns ?? natural),
    columns.length - 1,
  );
  const last = columns.findLastIndex(({ isOptional }) => isOptional === true);
  return least <= widthColumns || last < 0 ? columns : leaveOut(columns.toSpliced(last, 1), widthColumns);
}

function squeeze<Row>(columns: readonly Laid<Row>[], availableColumns: number): void {
  let excess = columns.reduce((total, { width }) => total + width, 0) - availableColumns;
  while (excess > 0) {
    const [widest, next] = columns.toSorted((a, b) => slackOf(b) - slackOf(a));
    if (widest === undefined || slackOf(widest) === 0) return;
    // Shrink to the width of the next one, or as far as needed: one by one would be slow for a megabyte-wide cell.
    const step = Math.max(1, Math.min(excess, slackOf(widest) - (next === undefined ? 0 : slackOf(next))));
    widest.width -= step;
    excess -= step;
  }
}

/** How much narrower a column may become. */
function slackOf<Row>({ width, minColumns = width }: Laid<Row>): number {
  return Math.max(0, width - minColumns);
}
