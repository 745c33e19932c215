/** One thing measured. `goal`: the most that it may be; null or NaN: none was set. */
export type Figure = {
  readonly name: string;
  readonly measured: number;
  readonly unit: string;
  readonly goal: number | null;
  readonly note: string;
};

export function renderTable(title: string, figures: readonly Figure[]): string {
  const rows = figures.map(({ name, measured, unit, goal, note }) => {
    const limit = goal === null || Number.isNaN(goal) ? null : goal;
    const verdict = limit === null ? '' : measured <= limit ? 'ok' : 'MISSED';
    return [name, number(measured), unit, limit === null ? '' : `≤ ${limit}`, verdict, note];
  });
  const widths = [0, 1, 2, 3, 4, 5].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (column === 1 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  return [title, ...lines.map((line) => `  ${line}`)].join('\n');
}

function number(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
