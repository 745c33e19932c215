import { cpSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fastestOfEach, type Run } from '../child.ts';
import { createFigure, formatNumber, type Figure } from '../figures.ts';
import { ROWS, scaleGoal } from '../rows.ts';
import { type Bench, COMPACT, MB, timeBareLoop } from './bench.ts';

const SESSIONS = { count: 40, megabytes: 86 } as const;
const QUICK_SESSIONS = { count: 10, megabytes: 6 } as const;

/** A folder of sessions of very different sizes, compacted in place with different numbers of jobs. */
export function measureFolder(bench: Bench, { isQuick }: { readonly isQuick: boolean }): readonly Figure[] {
  const { folder, runner, patience } = bench;
  const { count, megabytes } = isQuick ? QUICK_SESSIONS : SESSIONS;
  const originals = join(folder, 'originals');
  const sessions = join(folder, 'sessions');
  const archive = join(folder, 'archive.db');
  mkdirSync(originals);
  for (const [at, share] of sizeShares(count).entries()) {
    bench.input.writeClaudeCode(join(originals, `${at}.jsonl`), share * megabytes * MB);
  }
  const paths = readdirSync(originals).map((name) => join(originals, name));
  const actualMb = sizeOfAll(originals) / MB;
  const bareLoop = timeBareLoop(bench, paths);
  const compact = (...jobs: readonly string[]): Run => {
    for (const path of [sessions, archive]) rmSync(path, { recursive: true, force: true });
    cpSync(originals, sessions, { recursive: true });
    return runner.measure([COMPACT, '-q', '-i', ...jobs, sessions, '--archive', archive]);
  };
  const { usual, one, two, four } = fastestOfEach(
    {
      usual: () => compact(),
      one: () => compact('-j', '1'),
      two: () => compact('-j', '2'),
      four: () => compact('-j', '4'),
    },
    patience,
  );
  const group = `A folder of ${count} Claude Code sessions, ${formatNumber(actualMb)} MB`;
  const storedMb = actualMb - sizeOfAll(sessions) / MB;
  const exchanged = measureExchange(bench, { group, archive, storedMb });
  for (const path of [originals, sessions, archive]) rmSync(path, { recursive: true, force: true });
  const seconds = (run: Run): string =>
    `${formatNumber(run.wallMs / 1000)} s (CPU ${formatNumber(run.cpuMs / 1000)} s)`;
  const goal = scaleGoal(ROWS['folder.compact'].goal, megabytes / SESSIONS.megabytes);
  const speedup = one.wallMs / two.wallMs;
  return [
    createFigure('folder.compact', {
      group,
      measured: usual.wallMs / 1000,
      byCpu: usual.cpuMs / 1000,
      goal,
      wallMs: usual.wallMs,
      cpuMs: usual.cpuMs,
      note: `${formatNumber(usual.wallMs / bareLoop.wallMs)} × bare loop`,
    }),
    createFigure('folder.jobs', {
      group,
      measured: speedup,
      ...(availableParallelism() < 2 ? { goal: null } : {}),
      wallMs: two.wallMs,
      cpuMs: two.cpuMs,
      note: `-j 1: ${seconds(one)}; -j 2: ${seconds(two)}`,
    }),
    createFigure('folder.peak', { group, measured: four.peakBytes / MB, note: `-j 4: ${seconds(four)}` }),
    ...exchanged,
  ];
}

/** The archive of the folder is added to another one, which is new, from itself and from an export. */
function measureExchange(
  { folder, runner, patience }: Bench,
  { group, archive, storedMb }: { readonly group: string; readonly archive: string; readonly storedMb: number },
): readonly Figure[] {
  const target = join(folder, 'target.db');
  const exported = join(folder, 'exported');
  runner.time([COMPACT, 'archive', 'export', '-q', '--jsonl', exported, '--archive', archive]);
  const add =
    (from: string, ...action: readonly string[]) =>
    (): Run => {
      rmSync(target, { force: true });
      return runner.measure([COMPACT, 'archive', ...action, '-q', from, '--archive', target]);
    };
  const runs = fastestOfEach({ merge: add(archive, 'merge'), import: add(exported, 'import') }, patience);
  for (const path of [target, exported]) rmSync(path, { recursive: true, force: true });
  return (['merge', 'import'] as const).map((action) => {
    const { wallMs, cpuMs, peakBytes } = runs[action];
    const speeds = { measured: (storedMb / wallMs) * 1000, byCpu: (storedMb / cpuMs) * 1000 };
    const note = `${formatNumber(storedMb)} MB; memory ${formatNumber(peakBytes / MB)} MB`;
    return createFigure(`exchange.${action}`, { group, ...speeds, wallMs, cpuMs, note });
  });
}

export function sizeOfAll(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

/** Shares of the whole that grow with the square: the largest of forty is some thousand times the smallest. In a mixed order. */
function sizeShares(count: number): readonly number[] {
  const weights = Array.from({ length: count }, (_, at) => (((at * 7) % count) + 1) ** 2);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}
