import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ChildError, createRunner } from './child.ts';
import { createFigure, type Figure, renderGroup } from './figures.ts';
import { createInput } from './input.ts';
import type { Bench } from './measure/bench.ts';
import { measureFile, measureFixed } from './measure/file.ts';
import { measureFolder } from './measure/folder.ts';
import { measureFileCounts, measureSizeGrowth, type Sized } from './measure/growth.ts';
import { measureLineage } from './measure/lineage.ts';
import { measurePeers } from './measure/peers.ts';
import { measureSearch } from './measure/search.ts';
import { measureStart } from './measure/start.ts';
import { type BenchOptions, parseOptions, type Section, USAGE } from './options.ts';
import { countVerdicts, describeMachine, groupFigures, type Results, resultsSchema } from './results.ts';

/** Speed and memory of `compact` beside their goals. Times are compared with a bare loop, or a bare start of Node, of the same run. */

const SEED = 1;
const PATIENCE = { times: 3, totalMs: 10_000 } as const;
const QUICK_PATIENCE = { times: 2, totalMs: 1500 } as const;

/** What is to be measured, in this order; a step gives the figures of one or more groups. */
async function* measureAll(bench: Bench, options: BenchOptions): AsyncGenerator<readonly Figure[]> {
  const { isQuick } = options;
  const has = (section: Section): boolean => options.only.includes(section);
  if (has('start')) yield measureStart(bench, { isQuick });
  if (has('files') || has('growth')) {
    const fixed = measureFixed(bench);
    for (const [kind, sizes] of [
      ['claude-code', options.claudeCodeMb],
      ['chat', options.chatMb],
    ] as const) {
      const measured: Sized[] = [];
      for (const megabytes of sizes) {
        const sized = { megabytes, measured: measureFile(bench, { kind, megabytes, fixed }) };
        measured.push(sized);
        yield sized.measured.figures;
      }
      if (has('growth')) yield measureSizeGrowth(kind, measured, fixed);
    }
  }
  if (has('growth')) yield measureFileCounts(bench, options.files);
  if (has('lineage')) yield measureLineage(bench, { isQuick });
  if (has('folder')) yield measureFolder(bench, { isQuick });
  if (has('summarizer')) yield measureSummarizer(bench);
  if (has('search')) for (const count of options.messages) yield await measureSearch(bench, count);
  if (has('peers')) yield measurePeers(bench, { megabytes: isQuick ? 10 : 100, installed: options.peers });
}

function measureSummarizer({ runner, patience }: Bench): readonly Figure[] {
  const script = join(import.meta.dirname, 'summarizer.ts');
  const runs = Array.from(
    { length: patience.times },
    () => JSON.parse(runner.time([script]).stdout) as { readonly seconds: number; readonly cpuSeconds: number },
  );
  const measured = Math.min(...runs.map(({ seconds }) => seconds));
  const byCpu = Math.min(...runs.map(({ cpuSeconds }) => cpuSeconds));
  return [createFigure('summarizer', { group: 'Offline summarizer', measured, byCpu })];
}

async function runBench(options: BenchOptions, folder: string): Promise<Results> {
  const startedAt = new Date();
  const loadAtStart = loadavg()[0] ?? 0;
  const print = (text: string): void => void (options.isJson ? process.stderr : process.stdout).write(`${text}\n\n`);
  const machine = describeMachine(loadAtStart);
  print(`${machine.cores} cores (${machine.cpu}), Node ${machine.node}, load ${loadAtStart.toFixed(2)}`);
  const bench: Bench = {
    folder,
    runner: createRunner(folder),
    input: createInput(SEED),
    patience: options.isQuick ? QUICK_PATIENCE : PATIENCE,
  };
  const figures: Figure[] = [];
  for await (const measured of measureAll(bench, options)) {
    figures.push(...measured);
    for (const group of groupFigures(measured)) print(renderGroup(group));
    await setImmediate(); // Ctrl-C is noticed here
  }
  print(countVerdicts(figures));
  return {
    schema: 'compact/bench@1',
    startedAt: startedAt.toISOString(),
    seconds: (Date.now() - startedAt.getTime()) / 1000,
    arguments: process.argv.slice(2),
    isQuick: options.isQuick,
    machine: describeMachine(loadAtStart),
    figures,
  };
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (!options.ok) {
    process.stderr.write(`${options.error}\n\n${USAGE}\n`);
    process.exitCode = 2;
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'compact-speed-'));
  const clean = (): void => rmSync(folder, { recursive: true, force: true });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      clean();
      process.exit(130);
    });
  }
  try {
    const results = await runBench(options.value, folder);
    if (options.value.isJson) process.stdout.write(`${JSON.stringify(resultsSchema.parse(results), null, 2)}\n`);
  } catch (error) {
    if (!(error instanceof ChildError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  } finally {
    clean();
  }
}

await main();
