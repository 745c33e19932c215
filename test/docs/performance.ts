import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Figure, formatGoal, formatNumber, judge } from '../bench/figures.ts';
import { countVerdicts, groupFigures, type Results, resultsSchema } from '../bench/results.ts';
import { ROOT } from './shell.ts';

/** `npm run dev -- docs:performance RESULTS.json` writes docs/performance.md from what `npm run bench -- --json` printed, and keeps the results. */
export const PERFORMANCE_PAGE = join(ROOT, 'docs/performance.md');
export const PERFORMANCE_RESULTS = join(ROOT, 'test/bench/results.json');

export function readResults(path: string): Results {
  return resultsSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
}

export function writePerformancePage(measured: Results): string {
  const results = isBusy(measured.machine) ? judgeByCpu(measured) : measured;
  return [
    '# Speed and memory',
    '',
    '<!-- Made by `npm run dev -- docs:performance` from the results of `npm run bench`. Do not edit. -->',
    '',
    'All input is made up by the benchmark.',
    '',
    ...describeRun(results),
    '',
    '## How to read the tables',
    '- **× node -e 0**: compared with Node that does nothing. **× bare loop**: compared with a loop that reads the same file, finds the line ends and calls `JSON.parse` on every line. Times include the start, unless the heading says otherwise.',
    '- **× floor**: compared with a script that does the same work without safety, summary and report: it parses each line once, compresses blocks of 100 lines with zstd 3, and stores a row for each line in one transaction, and with index in a full-text index.',
    '- **measured** is by the clock, the fastest of up to three runs (15 for start-up). Goals, set for 100 MB, are judged by it, or by processor time of all threads (**by CPU**) where other programs ran.',
    '',
    '## Figures',
    ...groupFigures(results.figures).flatMap((figures) => ['', ...tableOf(figures)]),
    '',
    '## Measure it yourself',
    '```text',
    'npm run bench -- --quick                            smaller input, about a minute',
    'npm run --silent bench -- --json > results.json     everything on this page',
    'npm run dev -- docs:performance results.json        writes this page',
    '```',
    'It needs about three times the size of the largest file in the temp folder. `jq`, `sqlite-utils`, `zstd`, `ccusage` and LangChain (--peers FOLDER) are compared if they are installed.',
    '',
  ].join('\n');
}

function describeRun({ machine, startedAt, seconds, arguments: given, isQuick, figures }: Results): readonly string[] {
  const { node, cores, cpu, platform, memoryBytes, loadAtStart } = machine;
  const computer = `${cores} cores (${cpu}) with ${formatNumber(memoryBytes / 1e9)} GB of memory, ${platform}`;
  return [
    `Measured on ${startedAt.slice(0, 10)} with Node ${node.slice(1)} on ${computer}, in ${formatNumber(seconds / 60)} minutes. ${countVerdicts(figures)}. The command was:`,
    '```text',
    ['npm run bench', ...(given.length > 0 ? ['--', ...given] : [])].join(' '),
    '```',
    ...(isQuick ? ['This was a quick run: small input, few repeats.', ''] : []),
    ...(isBusy(machine)
      ? [`**Other programs ran, too** (load ${formatNumber(loadAtStart)} at the start): "by CPU" is more reliable.`]
      : []),
  ];
}

function isBusy({ loadAtStart, cores }: Results['machine']): boolean {
  return loadAtStart > cores * QUIET_LOAD_PER_CORE;
}

function judgeByCpu(results: Results): Results {
  const figures = results.figures.map((figure) =>
    figure.byCpu === null ? figure : { ...figure, verdict: judge(figure.byCpu, figure.goal) },
  );
  return { ...results, figures };
}

/** Above this load average per core, the machine is busy with other work. */
const QUIET_LOAD_PER_CORE = 0.25;

function tableOf(figures: readonly Figure[]): readonly string[] {
  const rows = figures.map(({ name, measured, byCpu, unit, goal, verdict, note }) => {
    const shown = measured === null ? '' : `${formatNumber(measured)} ${unit}`;
    const cpu = byCpu === null ? '' : formatNumber(byCpu);
    const judged = verdict === 'missed' ? ' **missed**' : verdict === 'no goal' ? '' : ` ${verdict}`;
    return `| ${name} | ${shown} | ${cpu} | ${formatGoal(goal)}${judged} | ${note} |`;
  });
  return [
    `### ${figures[0]?.group ?? ''}`,
    '',
    '| what | measured | by CPU | goal | |',
    '|---|---|---|---|---|',
    ...rows,
  ];
}

if (import.meta.main) {
  const results = readResults(process.argv[2] ?? PERFORMANCE_RESULTS);
  writeFileSync(PERFORMANCE_RESULTS, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(PERFORMANCE_PAGE, writePerformancePage(results));
}
