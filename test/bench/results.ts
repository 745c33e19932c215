import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { z } from 'zod';
import { type Figure, VERDICTS } from './figures.ts';
import { ROWS, type RowId } from './rows.ts';

const machineSchema = z
  .object({
    cpu: z.string(),
    cores: z.number(),
    memoryBytes: z.number(),
    node: z.string(),
    platform: z.string(),
    /** How many programs wanted a core in the last minute, when the benchmark started and while it ran. */
    loadAtStart: z.number(),
    loadAtEnd: z.number(),
  })
  .readonly();

const figureSchema = z
  .object({
    row: z.custom<RowId>((value) => typeof value === 'string' && Object.hasOwn(ROWS, value), 'no such row'),
    group: z.string(),
    name: z.string(),
    measured: z.number().nullable(),
    byCpu: z.number().nullable(),
    unit: z.string(),
    goal: z
      .object({ kind: z.enum(['at-most', 'at-least']), limit: z.number() })
      .readonly()
      .nullable(),
    verdict: z.enum(VERDICTS),
    wallMs: z.number().nullable(),
    cpuMs: z.number().nullable(),
    note: z.string(),
  })
  .readonly();

/** What `--json` prints. */
export const resultsSchema = z
  .object({
    schema: z.literal('compact/bench@1'),
    startedAt: z.iso.datetime(),
    seconds: z.number(),
    arguments: z.array(z.string()).readonly(),
    isQuick: z.boolean(),
    machine: machineSchema,
    figures: z.array(figureSchema).readonly(),
  })
  .readonly();

export type Results = z.infer<typeof resultsSchema>;
export type Machine = z.infer<typeof machineSchema>;

export function describeMachine(loadAtStart: number): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    loadAtStart,
    loadAtEnd: loadavg()[0] ?? 0,
  };
}

/** Figures in the order in which they were measured, by the heading they are shown under. */
export function groupFigures(figures: readonly Figure[]): readonly (readonly Figure[])[] {
  return [...Map.groupBy(figures, ({ group }) => group).values()];
}

export function countVerdicts(figures: readonly Figure[]): string {
  const count = (verdict: Figure['verdict']): number => figures.filter((figure) => figure.verdict === verdict).length;
  return `${count('met')} of ${count('met') + count('missed')} goals met`;
}
