import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Run = {
  readonly ms: number;
  readonly peakBytes: number;
  readonly exitCode: number;
  readonly stdout: string;
};

export type Runner = (args: readonly string[]) => Run;

/** Read by the child as it ends. `resourceUsage().maxRSS` would count what the parent had in memory when it forked. */
const REPORT_PEAK = `process.on('exit', () => {
  const fs = process.getBuiltinModule('node:fs');
  let peak = process.resourceUsage().maxRSS * 1024;
  try { peak = Number(/VmHWM:\\s+(\\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]) * 1024; } catch {}
  fs.writeFileSync(process.env.BENCH_PEAK, String(peak));
})`;

/** Runs Node with arguments and waits for it; a failure ends the benchmark with what the child said. */
export function createRunner(folder: string, { hasPeak }: { readonly hasPeak: boolean }): Runner {
  const peakFile = join(folder, 'peak');
  const preload = hasPeak ? ['--import', `data:text/javascript,${encodeURIComponent(REPORT_PEAK)}`] : [];
  const env = { ...process.env, BENCH_PEAK: peakFile, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, NO_COLOR: '1' };
  return (args) => {
    const before = performance.now();
    const child = spawnSync(process.execPath, [...preload, ...args], { env, cwd: folder, maxBuffer: Infinity });
    const ms = performance.now() - before;
    if (child.status !== 0) throw new Error(`${args.join(' ')} ended with ${child.status}: ${child.stderr.toString()}`);
    const peakBytes = hasPeak ? Number(readFileSync(peakFile, 'utf8')) : 0;
    return { ms, peakBytes, exitCode: child.status, stdout: child.stdout.toString() };
  };
}

/** The fastest of several runs: what else the machine did only ever adds. */
export function fastestMs(run: () => Run, times: number): number {
  return Math.min(...Array.from({ length: times }, () => run().ms));
}
