import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Patience, Runner } from '../child.ts';
import type { Input } from '../input.ts';

/** What every measurement works with. */
export type Bench = {
  /** Input, output and archives; removed at the end. */
  readonly folder: string;
  readonly runner: Runner;
  readonly input: Input;
  readonly patience: Patience;
};

export const MB = 1_000_000;
export const COMPACT = join(import.meta.dirname, '../../../bin/compact.js');

export type Times = { readonly wallMs: number; readonly cpuMs: number };

/** The bare loop alone, without the start of its process; the fastest of three. */
export function timeBareLoop({ runner }: Bench, paths: readonly string[]): Times {
  const script = join(import.meta.dirname, '../bare-loop.ts');
  const runs = Array.from({ length: 3 }, () => JSON.parse(runner.time([script, ...paths]).stdout) as Times);
  return minimum(...runs);
}

/** The floor alone, without the start of its process; the fastest of three. */
export function timeFloor({ runner, folder }: Bench, path: string, ...options: readonly '--index'[]): Times {
  const script = join(import.meta.dirname, '../floor.ts');
  const archive = join(folder, 'floor.db');
  const run = (): Times => JSON.parse(runner.time([script, path, archive, ...options]).stdout) as Times;
  const fastest = minimum(run(), run(), run());
  rmSync(archive);
  return fastest;
}

export function addTimes(a: Times, b: Times): Times {
  return { wallMs: a.wallMs + b.wallMs, cpuMs: a.cpuMs + b.cpuMs };
}

export function minimum(...times: readonly Times[]): Times {
  return {
    wallMs: Math.min(...times.map(({ wallMs }) => wallMs)),
    cpuMs: Math.min(...times.map(({ cpuMs }) => cpuMs)),
  };
}

export function subtractTimes(times: Times, fixed: Times): Times {
  return { wallMs: times.wallMs - fixed.wallMs, cpuMs: times.cpuMs - fixed.cpuMs };
}

/** How many times as long as `base` a run took, as the fields of a figure. */
export function compareTimes({ wallMs, cpuMs }: Times, base: Times) {
  return { measured: wallMs / base.wallMs, byCpu: cpuMs / base.cpuMs, wallMs, cpuMs } as const;
}
