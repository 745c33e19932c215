import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRunner, fastestMs, type Run, type Runner } from './child.ts';
import { writeChat, writeClaudeCode, writeShortChat } from './input.ts';
import { measureSearches } from './search.ts';
import { type Figure, renderTable } from './table.ts';

/** `npm run bench -- [--mb 100,1000] [--chat-mb 30] [--messages 20000,1000000]`: speed and memory beside their goals, each measured against the same run's bare loop. */
const MB = 1_000_000;
const STARTS = 15;
const COMPACT = join(import.meta.dirname, '../../bin/compact.js');
const script = (name: string): string => join(import.meta.dirname, name);

function measureStart(folder: string, run: Runner): readonly Figure[] {
  const small = join(folder, 'small.jsonl');
  writeShortChat(small, 100);
  const bare = fastestMs(() => run(['-e', '0']), STARTS);
  const ratio = (name: string, args: readonly string[], goal: number): Figure => {
    const ms = fastestMs(() => run([COMPACT, ...args]), STARTS);
    return { name, measured: ms / bare, unit: '× node -e 0', goal, note: `${ms.toFixed(0)} ms` };
  };
  return [
    ratio('compact --version', ['--version'], 1.3),
    ratio('compact --help', ['--help'], 4),
    ratio('compact score, 100 messages', ['score', small], 2),
  ];
}

/** What left the transcript: the input, less the part of it that still stands in the output. */
function bytesThatLeft(run: Run, input: string): number {
  const report: unknown = JSON.parse(run.stdout);
  const bytes: unknown = typeof report === 'object' && report !== null ? Reflect.get(report, 'bytes') : null;
  const after = typeof bytes === 'object' && bytes !== null ? Number(Reflect.get(bytes, 'after')) : Number.NaN;
  return statSync(input).size - after;
}

/** The loop alone, without the start of its process. */
function fastestBareMs(run: Runner, input: string): number {
  return Math.min(...[1, 2].map(() => Number(run([script('bare-loop.ts'), input]).stdout)));
}

function measureFile(folder: string, run: Runner, input: string): readonly Figure[] {
  const output = join(folder, 'output.jsonl');
  const back = join(folder, 'back.jsonl');
  const archive = join(folder, 'archive.db');
  const nodePeak = run(['-e', '0']).peakBytes;
  const bareMs = fastestBareMs(run, input);
  const figures: Figure[] = [];
  const step = (
    name: string,
    args: readonly string[],
    goals: { times: number; overNode?: number; peak?: number },
  ): Run => {
    const done = run([COMPACT, ...args, '--archive', archive]);
    const note = `${(statSync(input).size / MB / (done.ms / 1000)).toFixed(0)} MB/s`;
    figures.push({ name, measured: done.ms / bareMs, unit: '× bare loop', goal: goals.times, note });
    const isOver = goals.overNode !== undefined;
    const measured = (done.peakBytes - (isOver ? nodePeak : 0)) / MB;
    const unit = isOver ? 'MB over node' : 'MB';
    figures.push({
      name: `${name}, peak memory`,
      measured,
      unit,
      goal: goals.overNode ?? goals.peak ?? null,
      note: '',
    });
    return done;
  };
  step('score', ['score', input, '--limit', '10'], { times: 1, overNode: 150 });
  const compacted = step('compact', [input, '-o', output, '--json'], { times: 8, peak: 350 });
  const left = bytesThatLeft(compacted, input);
  const share = statSync(archive).size / left;
  figures.push({ name: 'archive with index', measured: share, unit: '× bytes that left', goal: 0.4, note: '' });
  step('verify', ['verify', output], { times: Number.NaN, overNode: 150 });
  step('restore', ['restore', output, '-o', back], { times: 3, overNode: 150 });
  if (!readFileSync(back).equals(readFileSync(input))) throw new Error('restore gave other bytes than the input');
  for (const path of [output, back, archive]) rmSync(path);
  return figures;
}

/** Goals, in ms, by the number of messages from which they hold. */
const SEARCH_GOALS = [
  { messages: 20_000, ms: 50 },
  { messages: 1_000_000, ms: 500 },
] as const;

async function measureSearch(folder: string, run: Runner, count: number): Promise<readonly Figure[]> {
  const input = join(folder, 'input.jsonl');
  const output = join(folder, 'output.jsonl');
  const archive = join(folder, 'archive.db');
  writeShortChat(input, count);
  run([COMPACT, '-q', input, '-o', output, '--archive', archive]);
  const { wordsMs, meaningMs, vectorBytes } = await measureSearches(archive);
  for (const path of [input, output, archive]) rmSync(path);
  const goal = SEARCH_GOALS.find(({ messages }) => count <= messages)?.ms ?? null;
  const name = `p95 at ${count.toLocaleString('en')} messages`;
  const note = `${vectorBytes.toFixed(0)} bytes a vector`;
  return [
    { name, measured: wordsMs, unit: 'ms', goal, note: '' },
    { name: `${name}, by meaning too`, measured: meaningMs, unit: 'ms', goal, note },
  ];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      mb: { type: 'string', default: '100' },
      'chat-mb': { type: 'string', default: '10' },
      messages: { type: 'string', default: '20000' },
    },
  });
  const folder = mkdtempSync(join(tmpdir(), 'compact-speed-'));
  const print = (title: string, figures: readonly Figure[]): void => {
    process.stdout.write(`${renderTable(title, figures)}\n\n`);
  };
  try {
    const plain = createRunner(folder, { hasPeak: false });
    const measured = createRunner(folder, { hasPeak: true });
    print('start', measureStart(folder, plain));
    const perMillion = Number(plain([script('summarizer.ts')]).stdout);
    const unit = 's per million tokens';
    print('summarizer', [{ name: 'extractive', measured: perMillion, unit, goal: 0.5, note: '' }]);
    for (const count of values.messages.split(',').map(Number))
      if (count > 0) print('search', await measureSearch(folder, plain, count));
    const input = join(folder, 'input.jsonl');
    for (const [kind, sizes, write] of [
      ['Claude Code', values.mb, writeClaudeCode],
      ['chat lines', values['chat-mb'], writeChat],
    ] as const) {
      for (const size of sizes.split(',').filter((one) => Number(one) > 0)) {
        write(input, Number(size) * MB);
        print(`${kind}, ${size} MB`, measureFile(folder, measured, input));
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
