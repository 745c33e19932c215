import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkProgram } from './check-program.ts';
import { checkCase } from './check.ts';
import { type Finding, runRound } from './round.ts';
import { loadCase, saveCase } from './store.ts';

/** `npm run fuzz [-- --seconds N] [--seed S] [--case FILE] [--large]`: random and damaged transcripts under random settings, for a while. */
const RUNS_A_ROUND = 40;
const RUNS_A_PROGRAM_ROUND = 3;
/** Every so many rounds one goes through the program itself: it takes ten times as long. */
const PROGRAM_EVERY = 5;
/** A round that finds something shrinks it for as long as this. */
const MAX_ROUND_MS = 60_000;
/** Beyond these a bug most likely shows itself again and again. */
const MAX_FINDINGS = 20;

type Tally = { readonly counts: Map<string, number>; readonly note: (outcome: string) => void };

function createTally(): Tally {
  const counts = new Map<string, number>();
  return { counts, note: (outcome) => void counts.set(outcome, (counts.get(outcome) ?? 0) + 1) };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function fuzz(options: {
  readonly seconds: number;
  readonly seed: number;
  readonly hasLargeLines: boolean;
}): Promise<boolean> {
  const { seconds, seed, hasLargeLines } = options;
  print(`seed ${seed}, ${seconds} seconds${hasLargeLines ? ', lines of up to 64 MB' : ''}`);
  const tally = createTally();
  const findings = new Map<string, Finding>();
  const end = performance.now() + seconds * 1000;
  let round = 0;
  for (; performance.now() < end && findings.size < MAX_FINDINGS; round += 1) {
    const asProgram = round % PROGRAM_EVERY === PROGRAM_EVERY - 1;
    const runs = asProgram ? RUNS_A_PROGRAM_ROUND : RUNS_A_ROUND;
    const timeLimitMs = Math.min(MAX_ROUND_MS, Math.max(1000, end - performance.now()));
    const found = await runRound({ seed: seed + round, runs, timeLimitMs, hasLargeLines, asProgram, note: tally.note });
    if (found === null || findings.has(found.problem)) continue;
    findings.set(found.problem, found);
    report(found, asProgram);
  }
  print(`${round} rounds, seeds ${seed} to ${seed + round - 1}; compactions by outcome:`);
  for (const [outcome, count] of [...tally.counts].sort(([, a], [, b]) => b - a))
    print(`  ${String(count).padStart(6)} ${outcome}`);
  print(findings.size === 0 ? 'nothing found' : `${findings.size} found, see above`);
  return findings.size === 0;
}

function report({ example, seed, path, problem, details }: Finding, asProgram: boolean): void {
  const saved = saveCase(join(mkdtempSync(join(tmpdir(), 'compact-fuzz-case-')), 'case'), example, {
    seed,
    path,
    problem,
  });
  print(`\nFOUND with seed ${seed}, path ${path}:\n${details}`);
  print(`run it again: npm run fuzz -- ${asProgram ? '--program ' : ''}--case ${saved}\n`);
}

async function runCase(path: string, asProgram: boolean): Promise<boolean> {
  const tally = createTally();
  try {
    const one = loadCase(path);
    if (asProgram) checkProgram(one, tally.note);
    else await checkCase(one, tally.note);
  } catch (error) {
    print(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return false;
  } finally {
    print([...tally.counts.keys()].join(', '));
  }
  return true;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
      case: { type: 'string' },
      program: { type: 'boolean', default: false },
      large: { type: 'boolean', default: false },
    },
  });
  const isFine =
    values.case === undefined
      ? await fuzz({ seconds: Number(values.seconds), seed: Number(values.seed), hasLargeLines: values.large })
      : await runCase(values.case, values.program);
  process.exitCode = isFine ? 0 : 1;
}

await main();
