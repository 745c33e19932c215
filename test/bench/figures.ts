import { type Goal, ROWS, type RowId } from './rows.ts';

export const VERDICTS = ['met', 'missed', 'no goal', 'not measured'] as const;
export type Verdict = (typeof VERDICTS)[number];

/**
 * One measured value beside its goal. `byCpu` is the same value by processor time, of all threads together, where the value is by wall
 * time: other programs on the machine change it little. `wallMs` and `cpuMs` are of the run behind it, where there was one.
 */
export type Figure = {
  readonly row: RowId;
  readonly group: string;
  readonly name: string;
  readonly measured: number | null;
  readonly byCpu: number | null;
  readonly unit: string;
  readonly goal: Goal | null;
  readonly verdict: Verdict;
  readonly wallMs: number | null;
  readonly cpuMs: number | null;
  readonly note: string;
};

export type Measurement = {
  /** The heading under which the figure is shown; figures of one group are made one after the other. */
  readonly group: string;
  readonly measured: number;
  readonly byCpu?: number;
  /** Replaces the row's goal, for input of another size. */
  readonly goal?: Goal | null;
  readonly wallMs?: number;
  readonly cpuMs?: number;
  readonly note?: string;
};

export function createFigure(row: RowId, { group, measured, ...rest }: Measurement): Figure {
  const { name, unit } = ROWS[row];
  const goal = rest.goal === undefined ? ROWS[row].goal : rest.goal;
  return {
    row,
    group,
    name,
    measured,
    byCpu: rest.byCpu ?? null,
    unit,
    goal,
    verdict: judge(measured, goal),
    wallMs: rest.wallMs ?? null,
    cpuMs: rest.cpuMs ?? null,
    note: rest.note ?? '',
  };
}

/** A row that could not be measured here, and why. */
export function createMissingFigure(row: RowId, group: string, reason: string): Figure {
  const { name, unit, goal } = ROWS[row];
  return {
    row,
    group,
    name,
    measured: null,
    byCpu: null,
    unit,
    goal,
    verdict: 'not measured',
    wallMs: null,
    cpuMs: null,
    note: reason,
  };
}

export function judge(measured: number, goal: Goal | null): Verdict {
  if (!Number.isFinite(measured)) return 'not measured';
  if (goal === null) return 'no goal';
  const isMet = goal.kind === 'at-most' ? measured <= goal.limit : measured >= goal.limit;
  return isMet ? 'met' : 'missed';
}

export function formatGoal(goal: Goal | null): string {
  return goal === null ? '' : `${goal.kind === 'at-most' ? '≤' : '≥'} ${formatNumber(goal.limit)}`;
}

/** Three digits, as far as they say something: 0.352, 2.4, 17.3, 421. */
export function formatNumber(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

const HEADERS = ['', 'measured', 'by CPU', '', 'goal', '', ''] as const;
const SHOWN = { met: 'met', missed: 'MISSED', 'no goal': '', 'not measured': 'not measured' } as const;
const NUMBERS = new Set([1, 2]);

/** The figures as aligned lines below the heading of their group. */
export function renderGroup(figures: readonly Figure[]): string {
  const rows = figures.map(({ name, measured, byCpu, unit, goal, verdict, note }) => [
    name,
    measured === null ? '–' : formatNumber(measured),
    byCpu === null ? '' : formatNumber(byCpu),
    unit,
    formatGoal(goal),
    SHOWN[verdict],
    note,
  ]);
  const widths = HEADERS.map((header, column) =>
    Math.max(header.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = [HEADERS, ...rows].map((row) =>
    row
      .map((cell, column) =>
        NUMBERS.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  return [figures[0]?.group ?? '', ...lines.map((line) => `  ${line}`)].join('\n');
}
