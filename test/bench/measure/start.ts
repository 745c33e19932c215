import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Runner } from '../child.ts';
import { createFigure, type Figure } from '../figures.ts';
import type { RowId } from '../rows.ts';
import { type Bench, COMPACT, compareTimes, minimum, type Times } from './bench.ts';

type Command = { readonly row: RowId; readonly args: readonly string[]; readonly prepare?: () => void };

const ROUNDS = 15;
const QUICK_ROUNDS = 5;

/** Whole processes, next to `node -e 0`. The commands take turns, so that a busy moment hits all of them. */
export function measureStart(bench: Bench, { isQuick }: { readonly isQuick: boolean }): readonly Figure[] {
  const { folder, runner, input } = bench;
  const small = join(folder, 'small.jsonl');
  const other = join(folder, 'other.jsonl');
  const output = join(folder, 'output.jsonl');
  const used = join(folder, 'used.db');
  const archive = join(folder, 'archive.db');
  input.writeMessages(small, 100);
  input.writeMessages(other, 100);
  // The archive has something in it, as it usually has; but not this file.
  runner.time([COMPACT, '-q', other, '-o', output, '--archive', used]);
  const startAfresh = (): void => {
    rmSync(output);
    copyFileSync(used, archive);
  };
  const commands: readonly Command[] = [
    { row: 'version', args: ['--version'] },
    { row: 'help', args: ['--help'] },
    { row: 'small.score', args: ['score', small] },
    { row: 'small.dry-run', args: ['-n', small] },
    { row: 'small.compact', args: [small, '-o', output, '--archive', archive], prepare: startAfresh },
  ];
  const bare: Times[] = [];
  const times = new Map<RowId, Times[]>(commands.map(({ row }) => [row, []]));
  for (let round = 0; round < (isQuick ? QUICK_ROUNDS : ROUNDS); round += 1) {
    bare.push(timeBoth(runner, ['-e', '0']));
    for (const { row, args, prepare } of commands) {
      times.get(row)?.push(timeBoth(runner, [COMPACT, ...args], prepare));
    }
  }
  for (const path of [small, other, output, used, archive]) rmSync(path);
  const group = 'Start-up and a file of 100 messages, whole processes';
  const bareStart = minimum(...bare);
  return [...times].map(([row, all]) => {
    const fastest = minimum(...all);
    return createFigure(row, { group, ...compareTimes(fastest, bareStart), note: `${fastest.wallMs.toFixed(0)} ms` });
  });
}

/** Two runs: one with nothing else in its process for the wall time, one that reports its processor time. */
function timeBoth(runner: Runner, args: readonly string[], prepare?: () => void): Times {
  prepare?.();
  const { wallMs } = runner.time(args);
  prepare?.();
  return { wallMs, cpuMs: runner.measure(args).cpuMs };
}
