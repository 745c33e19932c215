import { closeSync, copyFileSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { fastestOf, type Run } from '../child.ts';
import { createFigure, formatNumber, type Figure } from '../figures.ts';
import {
  addTimes,
  type Bench,
  COMPACT,
  compareTimes,
  MB,
  minimum,
  subtractTimes,
  timeBareLoop,
  timeFloor,
  type Times,
} from './bench.ts';

export type FileKind = 'claude-code' | 'chat';
export const STEPS = ['score', 'compact', 'index', 'verify', 'restore'] as const;
export type Step = (typeof STEPS)[number];

/** The steps of one file. */
type FileRuns = { readonly [step in Step]: Run } & {
  readonly bytesThatLeft: number;
  readonly archiveBytes: number;
  readonly indexedBytes: number;
};

export type FileMeasured = { readonly figures: readonly Figure[]; readonly runs: { readonly [step in Step]: Run } };

export const KIND_NAMES = { 'claude-code': 'Claude Code session', chat: 'file of chat lines' } as const;

/** What each step takes for a file with next to nothing in it. */
export type FixedTimes = { readonly [step in Step]: Times };

/** The goals were set for 100 MB. Well below that the start of the program would be most of what is measured. */
const WITH_START_FROM_MB = 50;

/** Scores, compacts, indexes, verifies and restores one file, each next to the bare loop over the same file, and what stores it next to the floor. */
export function measureFile(
  bench: Bench,
  { kind, megabytes, fixed }: { readonly kind: FileKind; readonly megabytes: number; readonly fixed: FixedTimes },
): FileMeasured {
  const path = join(bench.folder, 'input.jsonl');
  if (kind === 'chat') bench.input.writeChat(path, megabytes * MB);
  else bench.input.writeClaudeCode(path, megabytes * MB);
  const sizeBytes = statSync(path).size;
  const nodePeak = fastestOf(() => bench.runner.measure(['-e', '0']), bench.patience).peakBytes;
  const before = timeBareLoop(bench, [path]);
  const runs = runSteps(bench, path);
  const bareLoop = minimum(before, timeBareLoop(bench, [path]));
  const floors = { plain: timeFloor(bench, path), indexed: timeFloor(bench, path, '--index') };
  rmSync(path);
  const hasStart = megabytes >= WITH_START_FROM_MB;
  const group = `A ${KIND_NAMES[kind]} of ${formatNumber(megabytes)} MB${hasStart ? '' : ', without start-up'}`;
  const timesOf = (step: Step): Times => (hasStart ? runs[step] : subtractTimes(runs[step], fixed[step]));
  const speeds = STEPS.map((step) => {
    const note = `${formatNumber(sizeBytes / 1000 / runs[step].wallMs)} MB/s`;
    return createFigure(`${kind}.${step}`, { group, ...compareTimes(timesOf(step), bareLoop), note });
  });
  const both = addTimes(timesOf('compact'), timesOf('index'));
  const ratios = [
    createFigure(`${kind}.indexed`, { group, ...compareTimes(both, bareLoop) }),
    createFigure(`${kind}.floor`, { group, ...compareTimes(timesOf('compact'), floors.plain) }),
    createFigure(`${kind}.indexed-floor`, { group, ...compareTimes(both, floors.indexed) }),
    createFigure(`${kind}.archive`, { group, measured: runs.archiveBytes / runs.bytesThatLeft }),
    createFigure(`${kind}.indexed-archive`, { group, measured: runs.indexedBytes / runs.bytesThatLeft }),
  ];
  const peaks = STEPS.map((step) => {
    const peak = runs[step].peakBytes;
    const over = (peak - nodePeak) / MB;
    const measured = step === 'compact' ? peak / MB : over;
    const note = step === 'compact' ? `${formatNumber(over)} MB over Node` : '';
    return createFigure(`peak.${step}`, { group, measured, note });
  });
  return { figures: [...speeds, ...ratios, ...peaks], runs };
}

/** The steps; what is restored must be what was compacted. */
function runSteps({ folder, runner, patience }: Bench, path: string): FileRuns {
  const output = join(folder, 'output.jsonl');
  const back = join(folder, 'back.jsonl');
  const archive = join(folder, 'archive.db');
  const clean = (...paths: readonly string[]): void => paths.forEach((one) => rmSync(one, { force: true }));
  const run = (args: readonly string[], removed: readonly string[]): Run =>
    fastestOf(() => {
      clean(...removed);
      return runner.measure([COMPACT, ...args, '--archive', archive]);
    }, patience);
  const score = run(['score', path, '--limit', '10'], []);
  const compact = run([path, '-o', output, '--json'], [output, archive]);
  const bytesThatLeft = statSync(path).size - bytesAfter(compact);
  const archiveBytes = statSync(archive).size;
  const fresh = join(folder, 'fresh.db');
  copyFileSync(archive, fresh);
  const index = fastestOf(() => {
    copyFileSync(fresh, archive);
    return runner.measure([COMPACT, 'archive', 'index', '-q', '--archive', archive]);
  }, patience);
  const indexedBytes = statSync(archive).size;
  const verify = run(['verify', output], []);
  const restore = run(['restore', output, '-o', back], [back]);
  if (!haveSameBytes(path, back)) throw new Error('restore gave other bytes than the input');
  clean(output, back, archive, fresh);
  return { score, compact, index, verify, restore, bytesThatLeft, archiveBytes, indexedBytes };
}

export function measureFixed(bench: Bench): FixedTimes {
  const path = join(bench.folder, 'small.jsonl');
  bench.input.writeMessages(path, 100);
  const runs = runSteps(bench, path);
  rmSync(path);
  return runs;
}

function bytesAfter({ stdout }: Run): number {
  return z.object({ bytes: z.object({ after: z.number() }) }).parse(JSON.parse(stdout)).bytes.after;
}

function haveSameBytes(one: string, other: string): boolean {
  const first = openSync(one, 'r');
  const second = openSync(other, 'r');
  const [a, b] = [Buffer.allocUnsafe(MB), Buffer.allocUnsafe(MB)] as const;
  try {
    for (;;) {
      const count = readSync(first, a);
      if (readSync(second, b) !== count || !a.subarray(0, count).equals(b.subarray(0, count))) return false;
      if (count === 0) return true;
    }
  } finally {
    closeSync(first);
    closeSync(second);
  }
}
