import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Of the process and those that it starts: `cpuMs` is the processor time of all threads, `peakBytes` the sum of their peaks. */
export type Run = {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakBytes: number;
  readonly stdout: string;
};

export type Runner = {
  /** Runs Node with these arguments, and nothing else in its process; only the wall time is known. */
  readonly time: (args: readonly string[]) => Pick<Run, 'wallMs' | 'stdout'>;
  /** Runs Node with these arguments, which reports its processor time and memory as it ends. */
  readonly measure: (args: readonly string[]) => Run;
};

/** VmHWM is this process alone: `resourceUsage().maxRSS` would count what the parent had in memory when it forked. */
const REPORT = `const { isMainThread } = require('node:worker_threads');
if (isMainThread) process.on('exit', () => {
  const fs = require('node:fs');
  const { user, system } = process.cpuUsage();
  let peakBytes = process.resourceUsage().maxRSS * 1024;
  try { peakBytes = Number(/VmHWM:\\s+(\\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]) * 1024; } catch {}
  fs.appendFileSync(process.env.BENCH_USAGE, JSON.stringify({ cpuMs: (user + system) / 1000, peakBytes }) + '\\n');
});
`;

/** A child failed or was interrupted. */
export class ChildError extends Error {}

/** Runs children that keep their archive, settings and caches in the folder; a failure ends the benchmark with what the child said. */
export function createRunner(folder: string): Runner {
  const usageFile = join(folder, 'usage.json');
  const reporter = join(folder, 'report-usage.cjs');
  writeFileSync(reporter, REPORT);
  const env = {
    ...process.env,
    BENCH_USAGE: usageFile,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
    XDG_CACHE_HOME: folder,
    NO_COLOR: '1',
  };
  const time: Runner['time'] = (args) => {
    const before = performance.now();
    const child = spawnSync(process.execPath, args, { env, cwd: folder, maxBuffer: Infinity });
    const wallMs = performance.now() - before;
    if (child.status !== 0) {
      const end = `node ${args.join(' ')} ended with ${child.status ?? child.signal}`;
      throw new ChildError(`${end}: ${child.stderr.toString()}`);
    }
    return { wallMs, stdout: child.stdout.toString() };
  };
  const measure: Runner['measure'] = (args) => {
    rmSync(usageFile, { force: true });
    const run = time(['--require', reporter, ...args]);
    const usages = readFileSync(usageFile, 'utf8').trimEnd().split('\n');
    const all = usages.map((line) => JSON.parse(line) as Pick<Run, 'cpuMs' | 'peakBytes'>);
    return { ...run, cpuMs: sum(all.map(({ cpuMs }) => cpuMs)), peakBytes: sum(all.map((one) => one.peakBytes)) };
  };
  return { time, measure };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Repeats until either is used up: this many runs, or this much time. */
export type Patience = { readonly times: number; readonly totalMs: number };

export function fastestOf(run: () => Run, patience: Patience): Run {
  return fastestOfEach({ run }, patience).run;
}

/**
 * Of several runs the fastest, because what else the machine does only adds, with the highest peak. They take turns, so that a busy
 * moment hits all of them; each runs at least once.
 */
export function fastestOfEach<Name extends string>(
  runs: { readonly [name in Name]: () => Run },
  { times, totalMs }: Patience,
): { readonly [name in Name]: Run } {
  const best: { [name: string]: Run } = {};
  let spentMs = 0;
  for (let round = 0; round === 0 || (round < times && spentMs < totalMs); round += 1) {
    for (const [name, run] of Object.entries<() => Run>(runs)) {
      const next = run();
      const before = best[name] ?? next;
      spentMs += next.wallMs;
      best[name] = {
        ...(next.wallMs < before.wallMs ? next : before),
        peakBytes: Math.max(before.peakBytes, next.peakBytes),
      };
    }
  }
  return best as { readonly [name in Name]: Run };
}
