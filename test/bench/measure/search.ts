import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createFigure, formatNumber, type Figure } from '../figures.ts';
import { measureSearches } from '../search.ts';
import { type Bench, COMPACT } from './bench.ts';

/** Goals by the number of messages up to which they hold. */
const GOALS = [
  { messages: 20_000, limit: 40 },
  { messages: 1_000_000, limit: 300 },
] as const;

export async function measureSearch({ folder, runner, input }: Bench, count: number): Promise<readonly Figure[]> {
  const path = join(folder, 'input.jsonl');
  const output = join(folder, 'output.jsonl');
  const archive = join(folder, 'archive.db');
  input.writeMessages(path, count);
  runner.time([COMPACT, '-q', path, '-o', output, '--archive', archive]);
  const { words, meaning, vectorBytes } = await measureSearches(archive);
  for (const one of [path, output, archive]) rmSync(one);
  const limit = GOALS.find(({ messages }) => count <= messages)?.limit;
  const goal = limit === undefined ? null : ({ kind: 'at-most', limit } as const);
  const group = `Search of ${count.toLocaleString('en')} archived messages`;
  const note = `${formatNumber(vectorBytes)} bytes a vector`;
  return [
    createFigure('search.words', { group, measured: words.wallMs, byCpu: words.cpuMs, goal }),
    createFigure('search.meaning', { group, measured: meaning.wallMs, byCpu: meaning.cpuMs, goal, note }),
  ];
}
